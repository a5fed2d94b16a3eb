"""Recorded replies: plain `pytest` asks nobody, `--fc-live` asks, `--fc-replay` insists."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fcall.backends.recordings.entry import Recording
from pytest_fcall.backends.recordings.file import bookkeeping_path, recordings_path, write_recordings
from pytest_fcall.cases.case import plan_request
from pytest_fcall.cases.case_file import read_case_file
from pytest_fcall.core import Case, Model, RawCall, Reply, request_digest
from tests.by_night import by_night
from tests.integration.conftest import Shop

MODEL = Model("local", "tiny")


@pytest.fixture
def recorded(weather: Shop) -> Shop:
    """The weather cases, both answered by a recording, and a model that only ini names."""
    weather.pytester.makeini("[pytest]\nfc_model = local:tiny\n")
    record(weather.pytester.path / "cases/weather.fc.yaml", weather.pytester.path)
    return weather


def record(path: Path, root: Path, model: Model = MODEL) -> None:
    reply = Reply(tool_calls=(RawCall("get_weather", '{"city": "Paris", "unit": "celsius"}'),), finish="tool_calls")
    entries = []
    for case in read_case_file(path, root=root).entries:
        assert isinstance(case, Case)
        request = plan_request(case)
        entries.append(Recording(case.id, request_digest(model.id, request), request, reply, "2026-11-21T12:00:00Z"))
    write_recordings(recordings_path(path, model), model, entries)


def change_prompt(shop: Shop) -> None:
    path = shop.pytester.path / "cases/weather.fc.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace('"days"', '"tage"').replace("Paris", "Rome", 1), "utf-8")


def test_plain_pytest_answers_from_recordings(recorded: Shop) -> None:
    recorded.run().assert_outcomes(passed=1, failed=1)


def test_the_header_says_that_replies_are_recorded(recorded: Shop) -> None:
    recorded.run().stdout.fnmatch_lines(["*fcall: *local:tiny*record*"])


def test_a_case_without_a_recording_is_skipped_with_the_line_that_asks_the_model(recorded: Shop) -> None:
    change_prompt(recorded)
    result = recorded.run("-rs")
    result.assert_outcomes(failed=1, skipped=1)
    result.stdout.fnmatch_lines(
        [
            "SKIPPED*cases/weather.fc.yaml:*: no recorded reply of local:tiny; to ask the model: pytest "
            '--fc-model=local:tiny "cases/weather.fc.yaml::celsius"',
            "*prompt changed*",
        ]
    )


def test_the_line_that_asks_says_where_more_is_to_be_said_of_the_model(recorded: Shop) -> None:
    change_prompt(recorded)
    result = recorded.run("--fc-replay", "--fc-model=local:tiny?device=cpu")
    result.stdout.fnmatch_lines(
        ['*to ask the model: pytest --fc-model="local:tiny?…" "cases/weather.fc.yaml::celsius"']
    )


def test_beside_another_model_a_missing_recording_is_named_as_a_run_of_one_model_has_it(recorded: Shop) -> None:
    change_prompt(recorded)
    result = recorded.run("--fc-replay", "--fc-model=local:tiny", "--fc-model=local:other")
    result.assert_outcomes(failed=1, errors=3)
    result.stdout.fnmatch_lines(
        [
            "no recorded reply of local:tiny; to ask the model: pytest "
            '--fc-model=local:tiny "cases/weather.fc.yaml::celsius"',
            "*prompt changed*",
            "3 cases not judged: no recorded reply fits",
        ]
    )


def test_under_replay_a_missing_recording_is_an_error(recorded: Shop) -> None:
    change_prompt(recorded)
    result = recorded.run("--fc-replay")
    result.assert_outcomes(failed=1, errors=1)
    result.stdout.fnmatch_lines(["*no recorded reply of local:tiny*"])


def test_recorded_replies_of_an_app_are_used_on_demand_only(weather: Shop) -> None:
    path = weather.pytester.path
    record(path / "cases/weather.fc.yaml", path, Model("python", "echo:down"))
    weather.run("--fc-model=python:echo:down").assert_outcomes(errors=2)
    weather.run("--fc-model=python:echo:down", "--fc-replay").assert_outcomes(passed=1, failed=1)


def test_under_replay_not_even_the_app_of_a_conftest_file_is_called(weather: Shop) -> None:
    weather.pytester.makeconftest("import echo, pytest\n@pytest.fixture\ndef fc_model(): return echo.down\n")
    result = weather.run("--fc-replay")
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(["*no recorded reply of python:echo:down*"])
    result.stdout.no_fnmatch_line("*the shop is closed*")


def test_a_name_given_by_a_fixture_is_asked_even_if_the_configuration_names_it_too(weather: Shop) -> None:
    weather.pytester.makeini("[pytest]\nfc_model = python:echo:answer\n")
    weather.pytester.makeconftest("import pytest\n@pytest.fixture\ndef fc_model(fc_model): return fc_model.id\n")
    weather.run().assert_outcomes(passed=1, failed=1)


def test_live_and_replay_exclude_each_other(recorded: Shop) -> None:
    result = recorded.run("--fc-live", "--fc-replay")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--fc-live asks models and --fc-replay asks none*"])


def test_damaged_recordings_keep_what_is_whole(recorded: Shop) -> None:
    root = recorded.pytester.path
    file = bookkeeping_path(recordings_path(root / "cases/weather.fc.yaml", MODEL))
    change_prompt(recorded)
    record(root / "cases/weather.fc.yaml", root)
    lines = file.read_text(encoding="utf-8").splitlines()
    (place,) = (number for number, line in enumerate(lines) if '"celsius"' in line and '"case"' in line)
    lines[place] = lines[place][:40]
    file.write_text("\n".join(lines), "utf-8")
    result = recorded.run("-rs")
    result.assert_outcomes(failed=1, skipped=1)
    result.stdout.fnmatch_lines(["not all recordings can be read: this line is not JSON*"])
    result.stdout.fnmatch_lines(["*__fcall__/local-tiny/weather.fc.yaml.recorded.jsonl:*: this line is not JSON*"])


def test_a_reply_that_is_not_what_reviewers_see_is_named_with_the_command_that_mends_it(recorded: Shop) -> None:
    file = recordings_path(recorded.pytester.path / "cases/weather.fc.yaml", MODEL)
    file.write_text(file.read_text(encoding="utf-8").replace('"Paris"', '"Rome"', 1), "utf-8")
    result = recorded.run()
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "cases/__fcall__/local-tiny/weather.fc.yaml.replies.jsonl:*: no recording in "
            "weather.fc.yaml.recorded.jsonl has this reply (and 1 more). `fcall record --export` rewrites the file *"
        ]
    )


@pytest.mark.parametrize("arguments", [("-q",), ("-v",), by_night(("-n2",)), ("-p", "no:terminal")])
def test_all_that_an_app_answers_at_once_is_kept_whatever_is_printed(shop: Shop, arguments: tuple[str, ...]) -> None:
    shop.cases("cases:\n" + "".join(f"  - {{id: c{n}, prompt: hello {n}, expect: no_call}}\n" for n in range(5)))
    shop.ask(*arguments)
    shop.ask("--fc-replay").assert_outcomes(passed=5)


def test_what_an_app_answers_to_plain_tests_is_kept(shop: Shop) -> None:
    shop.file(
        "test_plain.py", "def test_it(fc_model):\n    assert fc_model('one').text\n    assert fc_model('two').text\n"
    )
    shop.ask("test_plain.py").assert_outcomes(passed=1)
    shop.ask("test_plain.py", "--fc-replay").assert_outcomes(passed=1)
