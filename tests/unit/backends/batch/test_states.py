"""What becomes of batches, and of what was answered meanwhile: each is told, what came is kept, the rest is open."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_fcall.backends.batch import batch_service
from pytest_fcall.backends.batch.progress import SETTLE_SECONDS, BatchProgress
from tests.servers import Answer, Server, broken, reset, throttled
from tests.servers.batch_apis import KEY, AnthropicBatchApi, Batch, OpenAIBatchApi
from tests.unit.backends.batch.support import Project, name

SUBMISSIONS = {"openai": "POST /v1/batches", "anthropic": "POST /v1/messages/batches", "gemini": ":batchGenerate"}


@pytest.fixture
def openai(tmp_path: Path) -> Iterator[Project]:
    with Server(OpenAIBatchApi()) as server:
        yield Project(tmp_path, server, "openai")


@pytest.fixture
def anthropic(tmp_path: Path) -> Iterator[Project]:
    with Server(AnthropicBatchApi()) as server:
        yield Project(tmp_path, server, "anthropic")


def failures(project: Project) -> Mapping[str, str]:
    """What one command tells of requests without a reply."""
    (taken,) = project.run().taken
    return taken[1].failed


def refuse_one(project: Project) -> None:
    def answer(body: Mapping[str, Any]) -> tuple[int, Any]:
        if "0001" in json.dumps(body):
            refusal = json.loads(project.api.refusal(400, "Schema is wrong").body)
            return 400, {**refusal["error"], "code": 3} if project.interface == "gemini" else refusal
        return project.api.echo(body)

    project.api.answer = answer


def test_one_refused_request_costs_no_other_its_answer(project: Project) -> None:
    refuse_one(project)
    assert failures(project) == {name(1): "HTTP 400"}
    assert project.answered == [name(0), name(2)]


def test_what_was_refused_can_be_asked_again_and_nothing_else_is(project: Project) -> None:
    refuse_one(project)
    project.run()
    project.api.answer = project.api.echo
    project.run()
    assert project.api.submitted == [name(0), name(1), name(2), name(1)]
    assert project.answered == [name(0), name(1), name(2)]


@pytest.mark.parametrize(
    ("interface", "end", "kept", "said"),
    [
        ("openai", "expired", 1, "batch_expired: This request could not be executed"),
        ("anthropic", "expired", 1, "expired"),
        ("gemini", "expired", 0, "the batch expired before this was answered"),
        ("openai", "cancelled", 1, "batch_cancelled: This request"),
        ("gemini", "cancelled", 0, "the batch was cancelled before this was answered"),
        ("openai", "completed", 1, "the results have no line for it"),
        ("gemini", "failed", 0, "the batch failed: The file has a line that is no request"),
    ],
)
def test_what_came_is_kept_and_the_rest_is_told(project: Project, end: str, kept: int, said: str) -> None:
    project.api.end, project.api.answered = end, 1
    told = failures(project)
    assert [*told] == [name(number) for number in range(kept, 3)]
    assert all(reason.startswith(said) for reason in told.values()), told
    assert project.answered == [name(number) for number in range(kept)]


def test_a_bad_line_fails_a_batch_and_is_named(openai: Project) -> None:
    openai.texts[name(1)] = "a bad line"
    told = failures(openai)
    assert told[name(1)] == "the batch failed for this request: This line is not parseable as valid JSON."
    assert told[name(0)] == "the batch failed: line 2: This line is not parseable as valid JSON."


def test_results_that_are_gone_are_told_of(project: Project) -> None:
    project.api.stages = {"gemini": ["PENDING"]}.get(project.interface, ["in_progress"])
    project.run()
    project.api.gone = True
    days = {"openai": 30, "anthropic": 29, "gemini": 2}[project.interface]
    assert {*failures(project).values()} == {f"the results are gone: the provider keeps them for {days} days"}
    project.api.gone, project.api.stages = False, ()
    project.run()
    assert project.answered == [name(0), name(1), name(2)]


def test_a_batch_that_somebody_deleted_is_told_of(project: Project) -> None:
    project.api.stages = ["PENDING" if project.interface == "gemini" else "in_progress"]
    project.run()
    project.api.batches.clear()
    (left,) = project.run().left
    assert "HTTP 404" in left[1]
    (state,) = project.folder.path.glob("*.json")
    assert f"if the batch was deleted, remove {state}, and its requests are open again" in left[1]
    assert project.api.batches == {}
    state.unlink()
    project.run()
    assert sorted(project.api.submitted) == [name(0), name(1), name(2)]


def test_too_many_requests_say_when_to_come_again(project: Project) -> None:
    project.api.instead = [(SUBMISSIONS[project.interface], throttled(37), False)]
    visit = project.run()
    assert visit.wait == 37
    assert "HTTP 429" in visit.under_way[0][1]
    assert "it asks to wait 37 s" in visit.under_way[0][1]
    project.run()
    assert len(project.api.batches) == 1
    assert len([name for name in project.api.files if "in" in name]) == (project.interface != "anthropic")
    assert project.answered == [name(0), name(1), name(2)]


@pytest.mark.parametrize("is_done", [True, False])
@pytest.mark.parametrize("answer", [broken(500), broken(504), reset(), Answer(b"<html>"), Answer(b'{"id": "../x"}')])
def test_a_submission_without_an_answer_is_looked_for(project: Project, answer: Answer, is_done: bool) -> None:
    project.api.instead = [(SUBMISSIONS[project.interface], answer, is_done)]
    assert len(project.run().left) == 1
    project.now += 1
    visit = project.run()
    if not is_done:
        assert visit.under_way[0][1] == "it is not known yet whether the server has it"
        assert visit.wait == SETTLE_SECONDS - 1
        project.now += SETTLE_SECONDS
        project.run()
    assert len(project.api.batches) == 1
    assert project.answered == [name(0), name(1), name(2)]


def test_a_refused_submission_is_told_and_repeated(project: Project) -> None:
    refusal = project.api.refusal(400, f"No batches for {KEY} today")
    project.api.instead = [(SUBMISSIONS[project.interface], refusal, False)]
    (left,) = project.run().left
    assert "submit a batch: HTTP 400: " in left[1]
    assert "No batches for … today" in left[1]
    assert project.run().left == []
    assert project.answered == [name(0), name(1), name(2)]


def test_a_wrong_key_is_told_with_its_variable(project: Project) -> None:
    project.extra = dict.fromkeys(("authorization", "x-api-key", "x-goog-api-key"), "sk-another-one")
    (left,) = project.run().left
    assert "the API key was not accepted; check the variable EXAM_KEY: HTTP 401" in left[1]
    assert project.api.batches == {}


STRANGE: Mapping[str, Any] = {
    "openai": lambda digest: {"custom_id": digest, "response": {"status_code": 200, "body": {"model": "other"}}},
    "anthropic": lambda digest: {"custom_id": digest, "result": {"type": "succeeded", "message": {"model": "other"}}},
    "gemini": lambda digest: {"key": digest, "response": {"model": "other"}},
}


def test_lines_that_do_not_count_are_told_of(project: Project) -> None:
    strange = STRANGE[project.interface]
    project.api.more_rows = [strange(name(7)), strange(name(1)), "{broken", "[]", {"custom_id": 5, "key": 5}, "", " "]
    (taken,) = project.run().taken
    assert taken[1].answered == 3
    notes = "\n".join(taken[1].notes)
    assert "line 6 of the results: JSON that is cut off or broken at character 2 of" in notes
    assert "line 7 of the results: the line is not a mapping" in notes
    assert "line 8 of the results: `" in notes
    assert "1 line of the results of requests that were not submitted" in notes
    assert "1 line of the results of requests that had a result before" in notes


def test_a_batch_of_the_same_length_of_somebody_else_is_left_to_him(anthropic: Project) -> None:
    """It came between what this process noted and its death."""
    api = anthropic.api
    his = Batch(
        "msgbatch_his", [(f"his-{number}", {"messages": [{"content": "x"}], "model": "m"}) for number in range(3)], 0
    )
    anthropic.api.instead = [(SUBMISSIONS["anthropic"], reset(), True)]
    anthropic.run()
    api.batches = {**api.batches, his.id: his}
    for _ in range(4):
        anthropic.run()
    assert len(api.batches) == 2
    assert anthropic.answered == [name(0), name(1), name(2)]
    assert anthropic.portions[0].not_ours == (his.id,)


def test_a_batch_of_somebody_else_that_he_deletes_is_not_waited_for(anthropic: Project) -> None:
    api = anthropic.api
    others = [(f"his-{number}", {"messages": [{"content": "x"}], "model": "m"}) for number in range(3)]
    his = Batch("msgbatch_his", others, 0, stages=["in_progress"])
    api.instead = [(SUBMISSIONS["anthropic"], reset(), True)]
    anthropic.run()
    api.batches = {**api.batches, his.id: his}
    anthropic.run()
    assert anthropic.portions[0].batch == his.id
    del api.batches[his.id]
    anthropic.run()
    assert len(api.batches) == 1
    assert anthropic.answered == [name(0), name(1), name(2)]


def test_a_second_process_does_not_work_beside_the_first(project: Project) -> None:
    with project.folder.alone(), pytest.raises(sqlite3.OperationalError):
        project.run()


def test_no_secret_is_in_any_file(project: Project) -> None:
    project.extra = {"x-team": "secret-of-the-team"}
    project.api.stages = ["PENDING" if project.interface == "gemini" else "in_progress"]
    project.run()
    for path in project.folder.path.iterdir():
        content = path.read_bytes()
        assert KEY.encode() not in content
        assert b"secret-of-the-team" not in content
        assert path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda text: text[:40], "not JSON"),
        (lambda text: text.replace('"submitted"', '"sent"'), "`stage` is not one of planned, uploading"),
        (
            lambda text: text.replace('"version": 1', '"version": 2'),
            "a later pytest-fcall wrote it in version 2 of its format",
        ),
        (lambda text: text.replace('"batch": "', '"batch": "../'), "`batch` is no id: '../batch_"),
        (lambda text: text.replace('"digests": [', '"digests": [5, '), "`digests` is not a list of strings"),
    ],
)
def test_a_damaged_state_is_named(openai: Project, damage: Any, said: str) -> None:
    openai.api.stages = ["in_progress"]
    openai.run()
    (path,) = openai.folder.path.glob("*.json")
    path.write_text(damage(path.read_text()))
    portions, faults = openai.folder.portions()
    assert portions == []
    assert len(faults) == 1
    assert said in faults[0]


def test_redirects_are_followed_at_the_same_server_alone(project: Project) -> None:
    submission = SUBMISSIONS[project.interface]
    away = Answer(b"", 307, headers={"location": "http://203.0.113.7/v1/batches"})
    project.api.instead = [(submission, away, False)]
    assert "which is another server, so nothing was sent there" in project.run().left[0][1]
    project.api.instead = [(submission, Answer(b"", 303, headers={"location": "/v1/x"}), False)]
    assert "redirects with HTTP 303" in project.run().left[0][1]


def test_the_answer_of_a_list_that_never_ends_is_not_read_for_ever(openai: Project) -> None:
    openai.api.instead = [("POST /v1/batches", reset(), False)]
    openai.run()
    page = {"data": [{"id": "batch_1"}], "has_more": True}
    openai.server.default = lambda _: Answer(json.dumps(page).encode())
    assert "there are more than 1000 pages" in openai.run().left[0][1]


def cancelled(project: Project) -> bool:
    """Cancel the one portion that is under way."""

    async def cancel() -> bool:
        service = batch_service(project.batch_server)
        try:
            progress = BatchProgress(project.folder, service, clock=lambda: project.now)
            return await progress.cancel(project.portions[0])
        finally:
            await service.client.close()

    return asyncio.run(cancel())


def test_what_no_server_has_is_forgotten_by_cancelling(project: Project) -> None:
    project.api.instead = [(SUBMISSIONS[project.interface], throttled(), False)]
    project.run()
    assert cancelled(project)
    assert project.portions == []
    assert [path.name for path in project.folder.path.iterdir()] == ["lock"]


@pytest.mark.parametrize("is_done", [True, False])
def test_nothing_is_cancelled_of_which_it_is_not_known_what_it_is(project: Project, is_done: bool) -> None:
    project.api.stages = ["PENDING" if project.interface == "gemini" else "in_progress"]
    project.api.instead = [(SUBMISSIONS[project.interface], reset(), is_done)]
    project.run()
    is_known = is_done and project.interface != "anthropic"
    assert cancelled(project) is is_known
    assert [batch.cancelled for batch in project.api.batches.values()] == ([is_known] if is_done else [])
    project.now += 2 * SETTLE_SECONDS
    if not is_done:
        assert cancelled(project)
        assert project.portions == []
