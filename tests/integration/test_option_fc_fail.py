from __future__ import annotations

import pytest

from tests.by_night import by_night
from tests.integration.command import fcall_here
from tests.integration.conftest import Shop

HOLDS, FAILS = "--fc-gate=accuracy>=0.5", "--fc-gate=accuracy>=0.9"


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        ([], 1),
        (["--fc-fail=items"], 1),
        ([HOLDS], 0),
        ([HOLDS, "--fc-fail=gates"], 0),
        ([HOLDS, "--fc-fail=items"], 1),
        ([HOLDS, "--fc-fail=both"], 1),
        ([FAILS], 1),
        ([FAILS, "-k", "celsius"], 0),
        ([FAILS, "-k", "celsius", "--fc-fail=both"], 0),
        ([FAILS, "--fc-fail=items", "-k", "celsius"], 0),
    ],
)
def test_it_says_what_makes_a_run_fail(weather: Shop, arguments: list[str], status: int) -> None:
    assert weather.ask(*arguments).ret == status


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        by_night(
            [HOLDS],
            "passed although 1 case failed: gates decide in place of single verdicts, and accuracy>=0.5 (50.0 %) "
            "holds; --fc-fail=both makes failed cases count, too",
        ),
        (
            [FAILS, "-q"],
            "failed: accuracy>=0.9 (50.0 %) does not hold; gates decide in place of single verdicts (1 case failed)",
        ),
        by_night([HOLDS, "--fc-fail=both"], "failed: 1 case failed, which counts beside the gates (--fc-fail=both)"),
    ],
)
def test_one_sentence_says_what_decided(weather: Shop, arguments: list[str], said: str) -> None:
    result = weather.ask(*arguments)
    assert said in result.outlines
    assert fcall_here(weather.pytester.path, "report", "-o", "report.md").returncode == 0
    report = (weather.pytester.path / "report.md").read_text("utf-8")
    assert f"{said[0].upper()}{said[1:14]}" in report


def test_a_gate_that_does_not_matter_is_printed_all_the_same(weather: Shop) -> None:
    result = weather.ask("--fc-gate=cases>=5", "--fc-fail=items", "-k", "celsius")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["gate cases>=5  1  does not hold"])


def test_the_configuration_may_say_it(weather: Shop) -> None:
    weather.pytester.makeini("[pytest]\nfc_gates = accuracy>=0.5\nfc_fail = both\n")
    assert weather.ask().ret == 1
    assert weather.ask("--fc-fail=gates").ret == 0


@pytest.mark.parametrize("fail", ["gates", "both"])
def test_without_gates_they_cannot_decide(weather: Shop, fail: str) -> None:
    result = weather.ask(f"--fc-fail={fail}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: --fc-fail={fail} needs gates, and there are none*"])


def test_a_word_that_is_none_of_the_three_is_a_usage_error(weather: Shop) -> None:
    weather.pytester.makeini("[pytest]\nfc_fail = all\n")
    result = weather.ask()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: fc_fail: 'all' is none of items, gates, both"])
