"""What is kept follows cases, files, tools, parameters and models to their new names, and a run offers the command."""

from __future__ import annotations

import shutil
from hashlib import sha256
from pathlib import Path

import pytest

from pytest_fcall.backends.recordings.file import read_recordings, recordings_path
from pytest_fcall.core import Model
from pytest_fcall.tracking.acceptance import read_stanzas
from pytest_fcall.tracking.baseline_file import baseline_path
from tests.by_night import by_night
from tests.integration.command import fcall_here
from tests.integration.conftest import Shop
from tests.integration.mind import lines_with

MODEL = Model("openai", "exam")
TOOLS = """
tools:
  - name: {tool}
    description: Current weather.
    parameters: {{type: object, properties: {{{city}: {{type: string}}, days: {{type: integer}}}}, required: [{city}]}}
cases:
"""
ASKED = """  - id: {id}
    prompt: 'Weather in {id}?'
    expect: [{{{tool}: {{{city}: Oslo}}}}]
"""


class Project:
    """Cases in two files, which a model answers rightly; replies are exported, and answers accepted."""

    def __init__(self, shop: Shop) -> None:
        self.shop = shop
        self.path = shop.pytester.path
        shop.file("pytest.ini", "[pytest]\n")

    def cases(self, name: str, *ids: str, tool: str = "get_weather", city: str = "city") -> None:
        names = {"tool": tool, "city": city}
        text = TOOLS.format(**names) + "".join(ASKED.format(id=each, **names) for each in ids)
        self.shop.file(f"cases/{name}", text)

    def configure(self, *models: str) -> None:
        self.shop.file("pytest.ini", "[pytest]\nfc_model =\n" + "".join(f"    {model}\n" for model in models))

    def run(self, *args: str) -> pytest.RunResult:
        return self.shop.run("--fc-model=openai:exam", *args)

    def mv(self, *arguments: str, says: str = "", status: int = 0) -> None:
        done = fcall_here(self.path, "mv", *arguments)
        assert says in done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        assert done.returncode == status, done.stderr

    def kept(self, name: str) -> tuple[list[str], list[str]]:
        """The accepted cases of a file, and those with exported replies."""
        file = self.path / "cases" / name
        recordings = read_recordings(recordings_path(file, MODEL))
        return sorted(read_stanzas(baseline_path(file, MODEL))), sorted(each.case for each in recordings.entries)

    def forget_the_store(self) -> None:
        for path in (self.path / ".fcall").glob("replies.db*"):
            path.unlink()


@pytest.fixture
def project(shop: Shop) -> Project:
    from pytest_fcall.backends.recordings.entry import Recording
    from pytest_fcall.backends.recordings.file import write_recordings
    from pytest_fcall.cases.case import plan_request
    from pytest_fcall.cases.case_file import read_case_file
    from pytest_fcall.core import Case, RawCall, Reply, request_digest

    project = Project(shop)
    reply = Reply(tool_calls=(RawCall("get_weather", '{"city": "Oslo"}'),), finish="tool_calls")
    for name, ids in (("a.fc.yaml", ("one", "two")), ("b.fc.yaml", ("three",))):
        project.cases(name, *ids)
        path = project.path / "cases" / name
        requests = {
            case.id: plan_request(case)
            for case in read_case_file(path, root=project.path).entries
            if isinstance(case, Case)
        }
        entries = [
            Recording(case, request_digest(MODEL.id, request), request, reply, "2026-11-21T12:00:00Z")
            for case, request in requests.items()
        ]
        write_recordings(recordings_path(path, MODEL), MODEL, entries)
    project.run("--fc-replay", "--fc-accept").assert_outcomes(passed=3)
    return project


@pytest.mark.nightly  # as out of a file whose name looks like a pattern
def test_replies_follow_a_case_to_its_new_name(project: Project) -> None:
    project.mv("two", "zwei")
    assert project.kept("a.fc.yaml") == (["one", "zwei"], ["one", "zwei"])


def test_a_case_may_move_to_another_file(project: Project) -> None:
    project.mv("cases/a.fc.yaml::two", "cases/b.fc.yaml::two", says="renamed two to two in cases/__fcall__/")
    assert project.kept("a.fc.yaml") == (["one"], ["one"])
    assert project.kept("b.fc.yaml") == (["three", "two"], ["three", "two"])


def test_replies_follow_out_of_a_file_whose_name_looks_like_a_pattern(project: Project) -> None:
    (project.path / "cases" / "a.fc.yaml").rename(project.path / "cases" / "[a].fc.yaml")
    project.mv("cases/a.fc.yaml", "cases/[a].fc.yaml")
    project.mv("cases/[a].fc.yaml::two", "zwei")
    assert project.kept("[a].fc.yaml") == (["one", "zwei"], ["one", "zwei"])


def test_a_moved_case_is_no_leftover_of_an_export(project: Project) -> None:
    project.cases("a.fc.yaml", "one")
    project.cases("b.fc.yaml", "three", "two")
    project.mv("cases/a.fc.yaml::two", "cases/b.fc.yaml::two")
    project.run("--fc-replay").assert_outcomes(passed=3)
    fcall_here(project.path, "record", "--export")
    assert project.kept("a.fc.yaml")[1] == ["one"]
    assert project.kept("b.fc.yaml")[1] == ["three", "two"]


TO_TOOL = ("--tool", "get_weather", "forecast"), {"tool": "forecast"}
TO_PARAMETER = ("--parameter", "get_weather.city", "place"), {"city": "place"}
TO_NAMED_PARAMETER = ("--parameter", "get_weather.city", "get_weather.place"), {"city": "place"}


@pytest.mark.parametrize(
    ("arguments", "names", "store"),
    [
        (*TO_TOOL, "store"),
        (*TO_PARAMETER, "files"),
        by_night(*TO_TOOL, "files"),
        by_night(*TO_PARAMETER, "store"),
        by_night(*TO_NAMED_PARAMETER, "store"),
        by_night(*TO_NAMED_PARAMETER, "files"),
    ],
)
def test_replies_and_answers_follow_a_tool_or_a_parameter(
    project: Project, arguments: tuple[str, ...], names: dict[str, str], store: str
) -> None:
    project.cases("a.fc.yaml", "one", "two", **names)
    project.cases("b.fc.yaml", "three", **names)
    project.mv(*arguments, says="a.fc.yaml.accepted: 2 cases changed")
    if store == "files":
        project.forget_the_store()
    result = project.run("--fc-replay")
    result.assert_outcomes(passed=3)
    for outcome in ("edited", "new", "drifted", "fcall mv"):
        assert not lines_with(result, outcome)
    assert project.run("--fc-replay", "--fc-accept").outlines.count("accepted: 0 cases, 3 unchanged") == 1


def test_what_is_measured_follows_a_tool(project: Project) -> None:
    from pytest_fcall.tracking.bookkeeping import measurement_path, read_measurement

    path = measurement_path(baseline_path(project.path / "cases" / "a.fc.yaml", MODEL))
    before = read_measurement(path)
    project.cases("a.fc.yaml", "one", "two", tool="forecast")
    project.cases("b.fc.yaml", "three", tool="forecast")
    project.mv("--tool", "get_weather", "forecast")
    moved = read_measurement(path)
    assert all(moved[case].key != before[case].key for case in ("one", "two"))
    project.run("--fc-replay", "--fc-accept")
    assert {case: each.key for case, each in read_measurement(path).items()} == {
        case: each.key for case, each in moved.items()
    }


def test_replies_and_answers_follow_a_model(project: Project) -> None:
    project.mv(
        "--model", "openai:exam", "openai:renamed", says="renamed cases/__fcall__/openai-exam/a.fc.yaml.accepted to "
    )
    assert not any((project.path / "cases" / "__fcall__" / "openai-exam").iterdir())
    project.forget_the_store()
    result = project.shop.run("--fc-model=openai:renamed", "--fc-replay")
    result.assert_outcomes(passed=3)
    assert not lines_with(result, "new")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--tool", "buy", "sell"), "nothing that is kept names 'buy'"),
        (("--parameter", "city", "place"), "'city' names no parameter: write TOOL.PARAMETER"),
        (("--model", "openai:nobody", "openai:exam"), "nothing is kept of a model 'openai:nobody'"),
    ],
)
def test_what_is_not_kept_cannot_follow(project: Project, arguments: tuple[str, ...], says: str) -> None:
    project.mv(*arguments, says=says, status=1)


def test_a_model_does_not_take_the_place_of_another(project: Project) -> None:
    other = project.path / "cases" / "__fcall__" / "openai-other" / "a.fc.yaml.accepted"
    other.parent.mkdir()
    other.touch()
    project.mv(
        "--model", "openai:exam", "openai:other", says="openai-other/a.fc.yaml.accepted exists already", status=1
    )
    assert project.kept("a.fc.yaml") == (["one", "two"], ["one", "two"])


@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_a_run_offers_the_command_for_a_case_with_a_new_name(project: Project, workers: str) -> None:
    path = project.path / "cases" / "a.fc.yaml"
    path.write_text(path.read_text("utf-8").replace("id: two", "id: zwei"), "utf-8")
    result = project.run("--fc-replay", workers)
    command = "cases/a.fc.yaml::two zwei"
    assert f"two is gone and zwei asks the same: `fcall mv {command}`" in result.outlines
    project.mv(*command.split())
    assert not lines_with(project.run("--fc-replay"), "gone")


def test_a_run_offers_the_command_for_a_case_in_another_file(project: Project) -> None:
    project.cases("a.fc.yaml", "one")
    project.cases("b.fc.yaml", "three", "two")
    result = project.run("--fc-replay")
    command = "cases/a.fc.yaml::two cases/b.fc.yaml::two"
    assert f"two is gone and two asks the same: `fcall mv {command}`" in result.outlines
    project.mv(*command.split())
    assert not lines_with(project.run("--fc-replay"), "gone")


def test_a_run_offers_one_command_for_a_file_with_a_new_name(project: Project) -> None:
    (project.path / "cases" / "a.fc.yaml").rename(project.path / "cases" / "c.fc.yaml")
    result = project.run("--fc-replay")
    command = "cases/a.fc.yaml cases/c.fc.yaml"
    assert lines_with(result, "fcall mv") == [
        f"cases/a.fc.yaml is gone and cases/c.fc.yaml asks the same: `fcall mv {command}`"
    ]
    project.mv(*command.split())
    assert not lines_with(project.run("--fc-replay"), "gone")


def test_nothing_is_offered_for_a_case_that_is_gone_for_good(project: Project) -> None:
    project.cases("a.fc.yaml", "one", "four")
    result = project.run("--fc-replay")
    assert lines_with(result, "accepted, and gone: two")
    assert not lines_with(result, "fcall mv")


def test_a_run_offers_the_command_for_a_tool_with_a_new_name(shop: Shop) -> None:
    project = Project(shop)
    call = "{'name': request.tools[0]['function']['name'], 'arguments': {'city': 'Oslo'}}"
    shop.file("app.py", f"def answer(request):\n    return [{call}]\n")
    project.cases("a.fc.yaml", "one", "two")
    shop.run("--fc-model=python:app:answer", "--fc-accept")
    project.cases("a.fc.yaml", "one", "two", tool="forecast")
    result = shop.run("--fc-model=python:app:answer")
    assert lines_with(result, "fcall mv") == [
        "the tool get_weather is gone and forecast is the same: `fcall mv --tool get_weather forecast`"
    ]
    project.mv("--tool", "get_weather", "forecast", says="2 cases changed")
    again = shop.run("--fc-model=python:app:answer")
    assert not lines_with(again, "edited")
    assert not lines_with(again, "fcall mv")


@pytest.mark.parametrize("workers", ["-n0", by_night("-n2")])
def test_a_run_offers_the_command_for_a_parameter_with_a_new_name(project: Project, workers: str) -> None:
    project.cases("a.fc.yaml", "one", "two", city="place")
    result = project.run("--fc-replay", workers)
    command = "--parameter get_weather.city place"
    assert lines_with(result, "fcall mv") == [
        f"the parameter city of get_weather is gone and place is the same: `fcall mv {command}`"
    ]
    project.cases("b.fc.yaml", "three", city="place")
    project.mv(*command.split())
    again = project.run("--fc-replay")
    again.assert_outcomes(passed=3)
    assert not lines_with(again, "fcall mv")


@pytest.mark.parametrize(
    "tool",
    [
        "{place: {type: string, minLength: 1}, days: {type: integer}}, required: [place]",
        "{place: {type: string}, days: {type: integer}}, required: [place, days]",
        "{place: {type: string}, days: {type: integer}, unit: {type: string}}, required: [place]",
        "{days: {type: integer}}, required: [days]",
    ],
    ids=["another type", "another one required, too", "another one new, too", "none new"],
)
def test_nothing_is_offered_for_a_parameter_that_is_another_one_now(project: Project, tool: str) -> None:
    project.cases("a.fc.yaml", "one", "two", city="place")
    path = project.path / "cases" / "a.fc.yaml"
    whole = "{place: {type: string}, days: {type: integer}}, required: [place]"
    text = path.read_text("utf-8")
    assert whole in text
    path.write_text(text.replace(whole, tool).replace("get_weather: {place: Oslo}", "get_weather: {}"), "utf-8")
    assert not lines_with(project.run("--fc-replay"), "fcall mv")


@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_an_accepted_answer_that_cannot_be_read_stands_in_the_way_of_no_offer(project: Project, workers: str) -> None:
    fact = "1 get_weather {"
    digest = sha256(f"right\n{fact}".encode()).hexdigest()[:8]
    path = baseline_path(project.path / "cases" / "a.fc.yaml", MODEL)
    written = path.read_text("utf-8")
    for case in ("gone", "one"):
        text = "".join(line for line in written.splitlines(keepends=True) if not line.startswith(case))
        path.write_text(f"{text}\n{case} right #{digest}\n{case} {fact}\n", "utf-8")
        project.cases("a.fc.yaml", "one", "two", city="place")
        result = project.run("--fc-replay", workers)
        assert lines_with(result, "fcall mv --parameter get_weather.city place")
        assert not lines_with(result, "INTERNALERROR")


class TestARenamedModel:
    """A model of the configuration of which nothing is accepted, while another one has answers to its cases."""

    @pytest.fixture
    def renamed(self, project: Project) -> Project:
        project.configure("openai:renamed")
        return project

    @pytest.mark.parametrize("workers", ["-n0", "-n2"])
    def test_a_run_offers_the_command(self, renamed: Project, workers: str) -> None:
        result = renamed.shop.run(workers)
        command = "--model openai:exam openai:renamed"
        assert lines_with(result, "fcall mv") == [
            "openai:renamed has nothing accepted, and openai:exam has answers to all of its cases; "
            f"if it is the same under another name: `fcall mv {command}`"
        ]
        renamed.mv(*command.split())
        again = renamed.shop.run()
        again.assert_outcomes(passed=3)
        assert not lines_with(again, "fcall mv")
        assert not lines_with(again, "fc_model does not name")

    def test_the_name_of_an_app_is_known_where_its_replies_are(self, renamed: Project) -> None:
        folder = renamed.path / "cases" / "__fcall__" / "openai-exam"
        app = Model("python", "shop:answer")
        folder.rename(folder.with_name(app.folder))
        assert not lines_with(renamed.shop.run(), "fcall mv")
        for name in ("a.fc.yaml", "b.fc.yaml"):
            path = recordings_path(renamed.path / "cases" / name, app)
            path.write_text(path.read_text("utf-8").replace("openai:exam", app.id), "utf-8")
        assert lines_with(renamed.shop.run(), "`fcall mv --model python:shop:answer openai:renamed`")

    def test_nothing_is_offered_where_another_case_has_come(self, renamed: Project) -> None:
        renamed.cases("a.fc.yaml", "one", "two", "four")
        assert not lines_with(renamed.shop.run(), "fcall mv --model")

    def test_nothing_is_offered_where_a_case_asks_otherwise(self, renamed: Project) -> None:
        path = renamed.path / "cases" / "b.fc.yaml"
        path.write_text(path.read_text("utf-8").replace("Weather in three?", "Weather tomorrow?"), "utf-8")
        assert not lines_with(renamed.shop.run(), "fcall mv --model")

    def test_nothing_is_offered_where_the_new_model_has_answers(self, renamed: Project) -> None:
        kept = baseline_path(renamed.path / "cases" / "a.fc.yaml", Model.by_id("openai:renamed"))
        kept.parent.mkdir()
        kept.write_bytes(baseline_path(renamed.path / "cases" / "a.fc.yaml", MODEL).read_bytes())
        assert not lines_with(renamed.shop.run(), "fcall mv --model")

    def test_nothing_is_offered_where_two_models_are_gone_or_have_come(self, renamed: Project) -> None:
        renamed.configure("openai:renamed", "openai:added")
        assert not lines_with(renamed.shop.run(), "fcall mv --model")
        renamed.configure("openai:renamed")
        folder = renamed.path / "cases" / "__fcall__" / "openai-exam"
        shutil.copytree(folder, folder.with_name("openai-older"))
        assert not lines_with(renamed.shop.run(), "fcall mv --model")

    def test_nothing_is_offered_in_a_run_of_a_chosen_model(self, renamed: Project) -> None:
        assert not lines_with(renamed.shop.run("--fc-model=openai:renamed", "--fc-replay"), "fcall mv --model")


def test_the_lock_follows_its_case_file(project: Project) -> None:
    lock: Path = project.path / "cases" / "a.tools.lock.json"
    lock.write_text("{}", "utf-8")
    project.mv("cases/a.fc.yaml", "cases/c.fc.yaml", says="to cases/c.tools.lock.json")
    assert not lock.exists()


def test_what_is_recorded_and_locked_of_a_case_file_that_is_gone_is_pruned_with_it(project: Project) -> None:
    lock = project.path / "cases" / "b.tools.lock.json"
    lock.write_text("{}", "utf-8")
    (project.path / "cases" / "b.fc.yaml").unlink()
    project.cases("a.fc.yaml", "one")
    assert lines_with(project.run("--fc-replay", "--fc-prune"), "pruned: three")
    assert project.kept("a.fc.yaml") == (["one"], ["one"])
    assert project.kept("b.fc.yaml") == ([], [])
    assert not lock.exists()
