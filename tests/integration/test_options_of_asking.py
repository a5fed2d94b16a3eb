"""Options that only take a number or a word: what they refuse, and that the configuration can give them, too."""

from __future__ import annotations

import pytest

from tests.servers import Server

CASES = "cases: [{id: a, prompt: Hello, expect: no_call}]\n"


@pytest.fixture(autouse=True)
def cases(pytester: pytest.Pytester) -> None:
    pytester.makefile(".fc.yaml", talk=CASES)


def run(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    return pytester.runpytest(*arguments)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--fc-concurrency=0", "--fc-concurrency: '0' must be a positive integer"),
        ("--fc-concurrency=many", "--fc-concurrency: 'many' must be a positive integer"),
        ("--fc-rpm=1.5", "--fc-rpm: '1.5' must be a positive integer"),
        ("--fc-tpm=-3", "--fc-tpm: '-3' must be a positive integer"),
        ("--fc-max-cost=$5", "--fc-max-cost: '$5' must be a positive number of US dollars"),
        ("--fc-max-cost=inf", "--fc-max-cost: 'inf' must be a positive number of US dollars"),
        (
            "--fc-max-age=week",
            "--fc-max-age: 'week' is not a duration; use minutes, hours, days or weeks, such as 30m, 12h, 7d or 2w",
        ),
        ("--fc-record=some", "--fc-record: invalid choice: 'some'*missing*all*off"),
    ],
)
def test_what_cannot_be_read_is_a_usage_error(
    pytester: pytest.Pytester, server: Server, option: str, message: str
) -> None:
    told = run(pytester, f"--fc-model=openai:exam?base_url={server.url}", option)
    assert told.ret == pytest.ExitCode.USAGE_ERROR
    told.stderr.fnmatch_lines([f"*{message}*"])
    assert server.asked == []


def test_the_configuration_may_say_what_the_command_line_does_not(pytester: pytest.Pytester, server: Server) -> None:
    pytester.makeini("[pytest]\nfc_record = off\nfc_concurrency = 2\n")
    for _ in range(2):
        assert run(pytester, f"--fc-model=openai:exam?base_url={server.url}").ret == 0
    assert len(server.asked) == 2
    assert not (pytester.path / ".fcall/replies.db").exists()


def test_a_word_of_the_configuration_is_checked(pytester: pytest.Pytester, server: Server) -> None:
    pytester.makeini("[pytest]\nfc_record = some\n")
    told = run(pytester, f"--fc-model=openai:exam?base_url={server.url}")
    assert told.ret == pytest.ExitCode.USAGE_ERROR
    told.stderr.fnmatch_lines(["*fc_record: 'some' is none of missing, all, off*"])


def test_a_model_goes_by_its_alias(pytester: pytest.Pytester, server: Server) -> None:
    entry = f'[tool.fcall.models.fast]\nmodel = "openai:exam-2"\nbase_url = "{server.url}"\ntemperature = 0\n'
    pytester.makepyprojecttoml(entry)
    told = run(pytester, "--fc-model=fast")
    told.stdout.fnmatch_lines(["fcall: openai:fast (command line), *", "fcall: openai:fast 1/1 right *"])
    assert (server.asked[0].json["model"], server.asked[0].json["temperature"]) == ("exam-2", 0)


def test_a_bad_alias_is_a_usage_error(pytester: pytest.Pytester) -> None:
    pytester.makepyprojecttoml("[tool.fcall.models.fast]\nmodel = 3\n")
    told = run(pytester, "--fc-model=fast")
    assert told.ret == pytest.ExitCode.USAGE_ERROR
    told.stderr.fnmatch_lines(["*pyproject.toml*fast*`model` must be KIND:NAME*"])
