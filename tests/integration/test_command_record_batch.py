"""`fcall record --engine=batch`, as people give it, by servers that are as strict as the providers'."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple
from unittest.mock import patch

import pytest

from pytest_fcall.cli import main
from tests.by_night import by_night
from tests.integration.command import fcall, plain, run_pytest
from tests.servers import Server, reset
from tests.servers.batch_apis import (
    KEY,
    AnthropicBatchApi,
    AzureBatchApi,
    BatchApi,
    GeminiBatchApi,
    OpenAIBatchApi,
)
from tests.suite_tools import WITHOUT_TOOLS

TOOLS = """
tools:
  - name: get_weather
    parameters: {type: object, properties: {city: {type: string}}, required: [city]}
"""
CASES = f"""{TOOLS}
cases:
  - id: oslo
    prompt: '[{{"name": "get_weather", "arguments": {{"city": "Oslo"}}}}]'
    expect: [get_weather: {{city: Oslo}}]
  - id: rome
    prompt: '[{{"name": "get_weather", "arguments": {{"city": "Rome"}}}}]'
    expect: [get_weather: {{city: Rome}}]
"""
CONVERSATION = f"""{TOOLS}
cases:
  - id: talk
    turns:
      - user: '[{{"name": "get_weather", "arguments": {{"city": "Oslo"}}}}]'
        expect: [get_weather: {{city: Oslo}}]
      - user: Thank you.
        expect: no_call
"""


class Said(NamedTuple):
    stdout: str
    stderr: str


class Team:
    """A checkout, and a provider's server."""

    def __init__(self, folder: Path, server: Server, model: str, variable: str) -> None:
        self.folder = folder
        self.server = server
        self.model = model
        self.key = {variable: KEY}
        (folder / "cases").mkdir()
        (folder / "cases" / "weather.fc.yaml").write_text(CASES, "utf-8")
        (folder / "pyproject.toml").write_text("", "utf-8")

    @property
    def api(self) -> BatchApi:
        assert isinstance(self.server.default, BatchApi)
        return self.server.default

    def record(self, *arguments: str, status: int = 0, says: str = "", **environment: str) -> Said:
        """What a command of this process says: it is quick, and leaves nothing behind but files."""
        out, err = io.StringIO(), io.StringIO()
        given = {**plain(), **self.key, "PYTEST_ADDOPTS": WITHOUT_TOOLS, **environment}
        with patch.dict(os.environ, given, clear=True), chdir(self.folder), redirect_stdout(out), redirect_stderr(err):
            ended = main(["record", *arguments])
        said = Said(out.getvalue(), err.getvalue())
        assert ended == status, said
        assert says in said.stdout + said.stderr, said
        assert KEY not in said.stdout + said.stderr
        return said

    def submit(self, *arguments: str, status: int = 0, says: str = "", **environment: str) -> Said:
        given = ["--engine=batch", "cases", f"--fc-model={self.model}", "--yes", *arguments]
        return self.record(*given, status=status, says=says, **environment)

    def replay(self) -> str:
        done = run_pytest(self.folder, "-q", "--fc-replay", f"--fc-model={self.model}", "cases")
        return done.stdout


@pytest.fixture
def team(tmp_path: Path) -> Iterator[Team]:
    with Server(OpenAIBatchApi()) as server:
        yield Team(tmp_path, server, f"openai:exam-1?base_url={server.url}", "OPENAI_API_KEY")


@pytest.fixture(params=["anthropic", by_night("gemini")])  # whose library takes a second to import
def other(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Team]:
    if request.param == "gemini" and not (find_spec("google") and find_spec("google.genai")):
        pytest.skip("the library of this provider is not installed")
    with Server({"anthropic": AnthropicBatchApi, "gemini": GeminiBatchApi}[request.param]()) as server:
        model = f"any:{request.param}/exam?base_url=http://{server.host}"
        yield Team(tmp_path, server, model, f"{request.param.upper()}_API_KEY")


AZURE_KEY = {"AZURE_OPENAI_API_KEY": KEY}
AZURE_HEADER = {**AZURE_KEY, "OPENAI_CUSTOM_HEADERS": f"api-key: {KEY}"}


AZURE = {
    "key": ("our-deployment", "/openai/v1", AZURE_KEY),
    "header": ("our-deployment", "/openai/v1?api-version=preview", AZURE_HEADER),
    "deployment": ("gpt-5.2", "/openai/deployments/our-deployment?api-version=2024-10-21", AZURE_HEADER),
}


@pytest.fixture
def azure(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Team]:
    """A resource of Azure, by each form of its address."""
    model, path, variables = AZURE[request.param]
    with Server(AzureBatchApi()) as server:
        address = f"openai:{model}?api_key_env=AZURE_OPENAI_API_KEY&base_url=http://{server.host}{path}"
        made = Team(tmp_path, server, address, "AZURE_OPENAI_API_KEY")
        made.key = variables
        yield made


def test_what_is_open_is_submitted_taken_and_judged(team: Team) -> None:
    done = fcall(team.folder, "record", "--engine=batch", "cases", f"--fc-model={team.model}", "--yes", **team.key)
    assert done.stdout.endswith("completed: 2 replies taken\nnothing is open\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert len(team.api.batches) == 1
    assert "2/2 right" in team.replay()


def test_it_goes_away_and_the_same_command_goes_on(team: Team) -> None:
    team.api.stages = ["validating", "in_progress"]
    team.submit(status=10, says="2 requests to openai:exam-1: validating\nbatches are under way; the same command")
    team.submit(status=10, says="2 requests to openai:exam-1: in progress")
    team.submit(says="completed: 2 replies taken")
    assert len(team.api.batches) == 1


def test_resume_goes_on_without_naming_anything(team: Team) -> None:
    team.api.stages = ["in_progress"]
    team.submit(status=10)
    team.record("--resume", says="completed: 2 replies taken")
    team.record("--resume", says="no batch is under way here")


def test_another_machine_goes_on_with_the_checkout_and_its_folder(team: Team, tmp_path: Path) -> None:
    team.api.stages = ["in_progress"]
    team.submit(status=10)
    elsewhere = shutil.copytree(tmp_path, tmp_path.parent / "elsewhere")
    done = fcall(elsewhere / "cases", "record", "--resume", **team.key)
    assert "completed: 2 replies taken" in done.stdout
    assert done.returncode == 0
    assert len(team.api.batches) == 1


def test_another_provider_gets_what_it_would_get_live(other: Team) -> None:
    other.submit(says="completed: 2 replies taken")
    (batch,) = other.api.batches.values()
    assert '"required": ["city"]' in json.dumps(batch.requests[0][1]["tools"])
    assert "2/2 right" in other.replay()


@pytest.mark.parametrize("azure", [*map(by_night, ("key", "header")), "deployment"], indirect=True)
def test_azure_has_batches_of_the_resource_whose_lines_name_the_deployment(azure: Team) -> None:
    azure.api.stages = ["in_progress", "finalizing"]
    for stage in ("in progress", "finalizing, 2 of 2 answered"):
        azure.submit(status=10, says=f": {stage}\n")
    azure.submit(says="completed: 2 replies taken")
    query = azure.model.partition("/openai/")[2].partition("?")[2]
    below = "/openai/v1/" if "/openai/v1" in azure.model else "/openai/"
    assert {asked.path.partition("?")[0].removeprefix(below).split("/")[0] for asked in azure.server.asked} == {
        "files",
        "batches",
    }
    assert all(query in asked.path for asked in azure.server.asked)
    (batch,) = azure.api.batches.values()
    assert [body["model"] for _, body in batch.requests] == ["our-deployment"] * 2
    assert "2/2 right" in azure.replay()


@pytest.mark.parametrize("azure", AZURE, indirect=True)
def test_a_lost_submission_is_found_at_azure(azure: Team) -> None:
    azure.api.instead = [("POST /openai", reset(), True), ("batches", reset(), True)]
    azure.submit(status=1)
    azure.submit(status=1)
    azure.submit(says="completed: 2 replies taken")
    assert len(azure.api.batches) == 1
    assert len([number for number in azure.api.files if number.startswith("file-in-")]) == 1


def test_conversations_go_on_batch_by_batch(team: Team) -> None:
    (team.folder / "cases" / "weather.fc.yaml").write_text(CONVERSATION, "utf-8")
    team.submit(says="nothing is open")
    assert len(team.api.batches) == 3
    lines = team.record("--rounds").stdout.splitlines()
    assert [line.split()[:3] for line in lines[1:-1]] == [["1", "1", "1"], ["2", "1", "1"], ["3", "1", "1"]]
    assert lines[-1] == "nothing is open"


def test_replies_count_to_the_round_of_their_batch_though_others_are_under_way(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_fcall.cli.record.batch.time", SimpleNamespace(sleep=lambda _: None))
    team.api.stages = ["in_progress"] * 3
    team.submit("--", "-k", "oslo", status=10)
    team.submit(status=10)
    assert "2 requests open" in team.record("--rounds", status=10).stdout
    team.submit("--wait", says="nothing is open")
    lines = team.record("--rounds").stdout.splitlines()
    assert [line.split()[:3] for line in lines[1:-1]] == [["1", "1", "1"], ["2", "1", "1"]]


def test_nothing_is_submitted_before_somebody_agrees(team: Team) -> None:
    given = ["--engine=batch", "cases", f"--fc-model={team.model}"]
    team.record(*given, status=10, says="nothing is submitted without --yes where there is no terminal")
    assert team.server.asked == []
    assert [path.name for path in (team.folder / ".fcall" / "batches").iterdir()] == ["lock"]


def test_the_price_is_that_of_batches_and_the_limit_is_kept(team: Team) -> None:
    prices = '[tool.fcall.prices."openai:exam-1"]\ninput = 2000\noutput = 1000\n'
    (team.folder / "pyproject.toml").write_text(prices, "utf-8")
    done = team.submit("--fc-max-cost=0.10", status=1, says="raise the limit, shorten replies with max_tokens")
    likely, most = map(float, re.findall(r"\$([\d.]+)", done.stdout)[:2])
    assert 2 * (0.05 + 0.25) < likely < 2 * (0.05 + 0.5)  # some 300 tokens of input, and 100 of output
    assert most > 2 * 0.5 * 4.096
    assert f"these requests could cost ${most:.2f}" in done.stderr
    assert team.server.asked == []
    team.submit("--fc-max-cost=50", says="2 replies taken")


def test_a_run_counts_the_replies_of_batches_at_their_price(team: Team) -> None:
    prices = '[tool.fcall.prices."openai:exam-1"]\ninput = 2000\noutput = 1000\n'
    (team.folder / "pyproject.toml").write_text(prices, "utf-8")
    team.submit(says="2 replies taken")
    team.record("--export", "cases")
    (team.folder / ".fcall" / "replies.db").unlink()  # the files of recordings know it as well
    run_pytest(team.folder, "-q", "--fc-replay", f"--fc-model={team.model}", "--fc-report=run.json", "cases")
    results = json.loads((team.folder / "run.json").read_text("utf-8"))["results"]["results"]
    usual = [each["usage"]["input_tokens"] * 2e-3 + each["usage"]["output_tokens"] * 1e-3 for each in results]
    assert [each["cost"] for each in results] == pytest.approx([each / 2 for each in usual])


def test_a_price_that_is_not_known_is_not_guessed(team: Team) -> None:
    team.submit("--fc-max-cost=1", status=1, says="--fc-max-cost needs the price of openai:exam-1, which is unknown")
    team.submit(says="2 requests to openai:exam-1: the price is not known\n")


def test_one_request_that_the_provider_refuses_is_named(team: Team) -> None:
    def answer(body: Mapping[str, Any]) -> tuple[int, Any]:
        if "Rome" not in json.dumps(body):
            return team.api.echo(body)
        return 400, {"error": {"message": f"Not with {KEY}", "type": "invalid_request_error"}}

    team.api.answer = answer
    done = team.submit(status=1, says="completed: 1 reply taken, 1 without a reply")
    assert "cases/weather.fc.yaml::rome" in done.stderr
    assert "the provider rejects this request: HTTP 400: Not with …" in done.stderr
    assert "1 request open; the same command asks again" in done.stdout
    assert len(team.api.batches) == 1


def test_cancelling_ends_a_batch_with_what_it_has(team: Team) -> None:
    team.api.stages, team.api.answered = ["in_progress"], 1
    team.submit(status=10)
    team.record("--cancel", says="cancelled; what was answered by then is taken by the next command")
    team.record("--resume", status=1, says="cancelled: 1 reply taken, 1 without a reply")
    team.record("--cancel", says="no batch is under way here")
    assert len(team.api.batches) == 1


def test_answers_that_nobody_wants_any_more_are_kept_apart(team: Team) -> None:
    team.api.stages = ["in_progress"]
    team.submit(status=10)
    cases = team.folder / "cases" / "weather.fc.yaml"
    cases.write_text(CASES.replace("Rome", "Turin"), "utf-8")
    team.api.stages = ()
    done = team.submit(says="1 answer to what no case asks any more: kept in")
    assert len(list((team.folder / ".fcall" / "batches").glob("*.results.jsonl"))) == 1
    assert "nothing is open" in done.stdout


def test_a_damaged_state_stops_submissions(team: Team) -> None:
    team.api.stages = ["in_progress"]
    team.submit(status=10)
    (state,) = (team.folder / ".fcall" / "batches").glob("*.json")
    state.write_text("{", "utf-8")
    team.submit(status=1, says="nothing is submitted, since a damaged file may be of requests that the provider has")
    team.record("--resume", status=1, says=f"{state}: not JSON")
    assert len(team.api.batches) == 1


def test_nothing_is_submitted_whose_replies_cannot_be_kept(team: Team) -> None:
    (team.folder / ".fcall" / "replies.db").mkdir(parents=True)
    team.submit(status=1, says="replies.db")
    assert team.server.asked == []


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("openai:exam-1", "not submitted: openai:exam-1: the variable OPENAI_API_KEY is not set"),
        ("any:mistral/x", "any:mistral/x: batches are known for any:anthropic/… and any:gemini/…; for a server that"),
        ("local:smollm2", "not submitted: local:smollm2: there are no batches for models of this kind"),
    ],
)
def test_a_model_without_batches_is_told(team: Team, model: str, said: str) -> None:
    team.record("--engine=batch", "--yes", "cases", f"--fc-model={model}", status=1, says=said, OPENAI_API_KEY="")


def test_another_selection_leaves_batches_alone(team: Team) -> None:
    team.api.stages = ["in_progress"]
    team.submit(status=10)
    done = team.submit("--", "-k", "oslo", status=10)
    assert "completed" not in done.stdout
    assert len(team.api.batches) == 1
    team.submit(says="2 replies taken")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--engine=batch", "--stats"], "--engine, --resume and --cancel go with no other thing to do"),
        (["--resume", "--cancel"], "name one"),
        (["--stats", "--wait"], "--wait can only be used with --engine and --resume"),
        (["--engine=slurm"], "invalid choice: 'slurm'"),
        (["--engine=batch", "--", "--fc-record=all"], "--engine=batch asks what is missing; --fc-record=all does not"),
        (["--engine=batch", "--fc-max-cost=no"], "--fc-max-cost"),
    ],
)
def test_options_that_do_not_go_together_are_refused(team: Team, arguments: Sequence[str], said: str) -> None:
    team.record(*arguments, status=2, says=said)


def test_waiting_looks_again_until_all_is_answered(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    team.api.stages = ["validating", "in_progress", "in_progress"]
    pauses: list[float] = []
    monkeypatch.setattr("pytest_fcall.cli.record.batch.time", SimpleNamespace(sleep=pauses.append))
    said = team.submit("--wait", says="2 replies taken")
    assert pauses == [15.0, 22.5, 33.75]
    assert said.stdout.count("in progress") == 1


def test_waiting_goes_on_while_results_are_being_prepared(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    team.api.stages = ["finalizing"] * 2
    pauses: list[float] = []
    monkeypatch.setattr("pytest_fcall.cli.record.batch.time", SimpleNamespace(sleep=pauses.append))
    said = team.submit("--wait", says="2 replies taken")
    assert pauses == [15.0, 22.5]
    assert said.stdout.count("finalizing, 2 of 2 answered") == 1
