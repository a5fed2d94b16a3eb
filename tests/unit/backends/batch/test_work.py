from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations

import pytest

from pytest_fcall.backends.batch.portion import server_digest
from tests.unit.backends.batch.support import Project, name


def test_all_requests_are_submitted_in_one_batch_and_answered(project: Project) -> None:
    visit = project.run()
    assert len(project.api.batches) == 1
    assert project.answered == [name(0), name(1), name(2)]
    assert [(portion.stage, results.answered, results.notes) for portion, results in visit.taken] == [("taken", 3, [])]
    assert {path.name for path in project.folder.path.iterdir()} == {"lock", f"{project.portions[0].name}.json"}


def test_what_exceeds_a_batch_goes_into_the_next(project: Project) -> None:
    project.limit = 2
    project.run()
    assert [len(batch.requests) for batch in project.api.batches.values()] == [2, 1]
    assert project.answered == [name(0), name(1), name(2)]


def test_a_batch_is_left_alone_until_it_has_ended(project: Project) -> None:
    project.api.stages = {
        "openai": ["validating", "in_progress", "finalizing"],
        "anthropic": ["in_progress"] * 3,
        "gemini": ["PENDING", "RUNNING", "RUNNING"],
    }[project.interface]
    told = [project.run().under_way[0][1].split(",")[0] for _ in range(3)]
    assert told[2] in ("finalizing", "in progress", "running")
    assert project.answered == []
    project.run()
    assert len(project.api.batches) == 1
    assert project.answered == [name(0), name(1), name(2)]


@pytest.mark.parametrize(
    ("interface", "stage", "said"),
    [
        ("openai", "validating", "validating"),
        ("openai", "Validating", "validating"),  # as Azure writes it
        ("openai", "in_progress", "in progress"),
        ("openai", "finalizing", "finalizing, 3 of 3 answered"),
        ("openai", "cancelling", "cancelling"),
        ("anthropic", "in_progress", "in progress, 3 processing"),
        ("anthropic", "canceling", "canceling, 3 processing"),
        ("gemini", "PENDING", "pending, 0 of 3 answered"),
        ("gemini", "RUNNING", "running, 0 of 3 answered"),
        ("gemini", "QUEUED", "queued, 0 of 3 answered"),
        ("gemini", "UPDATING", "updating, 0 of 3 answered"),
        ("gemini", "PAUSED", "paused, 0 of 3 answered"),
        ("gemini", "CANCELLING", "cancelling, 0 of 3 answered"),
        ("gemini", "UNSPECIFIED", "unspecified, 0 of 3 answered"),
    ],
)
def test_a_stage_before_the_end_is_told_in_its_words_and_nothing_is_fetched(
    project: Project, stage: str, said: str
) -> None:
    project.api.stages = [stage, stage]
    for _ in range(2):
        visit = project.run()
        assert [(portion.stage, words) for portion, words in visit.under_way] == [("submitted", said)]
        assert (visit.taken, visit.left, project.answered) == ([], [], [])
    assert [portion.outcome for portion, _ in project.run().taken] == ["completed"]
    assert len(project.api.batches) == 1
    assert project.answered == [name(0), name(1), name(2)]


@pytest.mark.parametrize("order", [*permutations(range(3))])
def test_each_reply_is_that_of_its_request_in_whatever_order_results_come(
    project: Project, order: Sequence[int]
) -> None:
    project.api.order = lambda rows: [rows[number] for number in order]
    (taken,) = project.run().taken
    assert (taken[1].answered, taken[1].notes) == (3, [])
    for number in range(3):
        assert f"You said: {name(number)[-4:]}" in project.said[name(number)]


def test_what_the_address_of_the_model_brings_along_goes_with_each_request(project: Project) -> None:
    project.run()
    assert all("api-version=2026-01" in asked.path for asked in project.server.asked)


def test_a_replaced_key_is_no_other_server(project: Project) -> None:
    server = project.batch_server
    replaced = {
        name: "sk-the-next-one" if "key" in name or "auth" in name else value for name, value in server.headers.items()
    }
    assert replaced != server.headers
    assert server_digest(replace(server, headers=replaced)) == server_digest(server)
    assert server_digest(replace(server, headers={**replaced, "x-team": "2"})) != server_digest(server)
