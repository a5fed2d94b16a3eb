"""Kinds of models: one that nobody knows is a usage error before anything runs."""

from __future__ import annotations

import pytest

from pytest_fcall.backends.recordings.file import recordings_path, write_recordings
from pytest_fcall.core import Model
from tests.integration.conftest import QUIET, Shop
from tests.integration.test_recorded_replies import record
from tests.unit.backends.store.entries import entry

PARROT = """
from pytest_fcall import Reply

class Parrot:
    settings = {}
    reusable = True
    ahead = True
    async def complete(self, request):
        return Reply(text=request.messages[-1]["content"])
    async def close(self):
        pass

def pytest_fcall_backends(config):
    return {"parrot": lambda model, root: Parrot()}
"""


def assert_refused(result: pytest.RunResult, message: str, question: str) -> None:
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    lines = [line for line in result.stderr.str().splitlines() if line.startswith("ERROR")]
    assert lines == [f"ERROR: {message}; the kinds are any, http, local, openai, python{question}"]
    result.stdout.no_fnmatch_line("*collected*")
    result.stdout.no_fnmatch_line("*tool calls*")


@pytest.mark.parametrize(
    ("arguments", "message", "question"),
    [
        (["--fc-model=opena:gpt"], "--fc-model: there is no model of kind 'opena'", "; did you mean `openai:gpt`?"),
        (["--fc-model=Python:a:b"], "--fc-model: there is no model of kind 'Python'", "; did you mean `python:a:b`?"),
        (["--fc-model=crystal:ball"], "--fc-model: there is no model of kind 'crystal'", ""),
        (
            ["--fc-model=opena:gpt?base_url=x"],
            "--fc-model: there is no model of kind 'opena'",
            "; did you mean `openai:gpt`?",
        ),
        (
            ["--fc-model=opena:gpt", "--fc-replay"],
            "--fc-model: there is no model of kind 'opena'",
            "; did you mean `openai:gpt`?",
        ),
        (["--fc-judge=opena:gpt"], "--fc-judge: there is no model of kind 'opena'", "; did you mean `openai:gpt`?"),
    ],
)
def test_an_unknown_kind_is_refused_with_the_nearest(
    weather: Shop, arguments: list[str], message: str, question: str
) -> None:
    assert_refused(weather.run(*arguments), message, question)


@pytest.mark.parametrize("live", [(), ("--fc-live",)])
@pytest.mark.parametrize("setting", ["fc_model", "fc_judge"])
def test_it_is_refused_in_the_configuration_too(weather: Shop, setting: str, live: tuple[str, ...]) -> None:
    weather.file("pytest.ini", f"[pytest]\n{setting} = opena:gpt\n")
    assert_refused(weather.run(*live), f"{setting}: there is no model of kind 'opena'", "; did you mean `openai:gpt`?")


@pytest.mark.parametrize("ini", [False, True])
def test_it_is_refused_once_under_workers(weather: Shop, ini: bool) -> None:
    weather.file("pytest.ini", f"[pytest]\n{'fc_model = opena:gpt' if ini else ''}\n")
    arguments = [] if ini else ["--fc-model=opena:gpt"]
    result = weather.pytester.runpytest_subprocess(*QUIET, "-n", "2", *arguments)
    where = "fc_model" if ini else "--fc-model"
    assert_refused(result, f"{where}: there is no model of kind 'opena'", "; did you mean `openai:gpt`?")


def test_the_nearest_may_come_from_a_plugin(weather: Shop) -> None:
    weather.pytester.makeconftest(PARROT)
    result = weather.run("--fc-model=parot:grey")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*; the kinds are any, http, local, openai, parrot, python; did you mean `parrot:grey`?"]
    )


def test_a_conftest_file_of_a_folder_may_add_a_kind(shop: Shop) -> None:
    shop.file("cases/conftest.py", PARROT)
    shop.cases("cases: [{id: hello, prompt: hello, expect: no_call}]")
    shop.run("--fc-model=parrot:grey").assert_outcomes(passed=1)


def test_conftest_files_of_installed_packages_add_no_kind(weather: Shop) -> None:
    weather.file("venv/theirs/conftest.py", PARROT)
    assert_refused(weather.run("--fc-model=parrot:grey"), "--fc-model: there is no model of kind 'parrot'", "")


def test_recordings_answer_for_a_kind_that_is_not_installed(weather: Shop) -> None:
    record(weather.pytester.path / "cases/weather.fc.yaml", weather.pytester.path, Model("crystal", "ball"))
    weather.run("--fc-model=crystal:ball").assert_outcomes(passed=1, failed=1)


def test_recordings_of_installed_packages_do_not_answer_for_a_kind(weather: Shop) -> None:
    theirs = recordings_path(weather.pytester.path / "venv/theirs/weather.fc.yaml", Model("crystal", "ball"))
    write_recordings(theirs, Model("crystal", "ball"), [entry("a")])
    assert_refused(weather.run("--fc-model=crystal:ball"), "--fc-model: there is no model of kind 'crystal'", "")
