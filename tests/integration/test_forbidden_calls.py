"""A forbidden call fails the run, whatever would excuse any other wrong answer."""

from __future__ import annotations

import pytest

from pytest_fcall.core import Call, Model
from pytest_fcall.tracking.baseline_content import write_baseline
from pytest_fcall.tracking.baseline_file import baseline_path
from pytest_fcall.tracking.stanza import Stanza
from tests.by_night import by_night
from tests.integration.mind import WRONG, Mind

WORKERS = pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["one_process", "workers"])
WORKERS_BY_NIGHT = pytest.mark.parametrize("workers", [(), by_night(("-n", "1"))], ids=["one_process", "workers"])
MARK = """
import pytest

def pytest_collection_modifyitems(items):
    for item in items:
        item.add_marker(pytest.mark.xfail({arguments}))
"""


def make_forbidden_call(mind: Mind, xfail: str = "") -> None:
    """Write a case whose model makes a call that is forbidden, and expected to fail as `xfail` says."""
    expect = "{calls: [{get_weather: {city: Oslo}}], never: [get_weather: {city: Rome}]}"
    mind.cases("one", expect=expect + xfail)
    mind.says({"one": WRONG})


def assert_failed(result: pytest.RunResult, *lines: str) -> None:
    result.assert_outcomes(failed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["forbidden_call: *", *lines])


@WORKERS
def test_xfail_of_the_case_does_not_excuse_it(mind: Mind, workers: tuple[str, ...]) -> None:
    make_forbidden_call(mind, ", xfail: too hard")
    assert_failed(mind.apart(*workers), "xfail (too hard) does not excuse a forbidden call")


@WORKERS_BY_NIGHT
def test_a_mark_does_not_excuse_it(mind: Mind, workers: tuple[str, ...]) -> None:
    make_forbidden_call(mind)
    mind.shop.file("conftest.py", MARK.format(arguments="reason='too hard'"))
    assert_failed(mind.apart(*workers), "xfail (too hard) does not excuse a forbidden call")


def test_a_mark_without_a_reason_does_not_excuse_it(mind: Mind) -> None:
    make_forbidden_call(mind)
    mind.shop.file("conftest.py", MARK.format(arguments=""))
    assert_failed(mind.run(), "xfail does not excuse a forbidden call")


@pytest.mark.parametrize("ini", ["fc_gates = cases>=1", "xfail_strict = true"])
def test_settings_do_not_change_that(mind: Mind, ini: str) -> None:
    make_forbidden_call(mind, ", xfail: too hard")
    mind.shop.file("pytest.ini", f"[pytest]\n{ini}\n")
    assert_failed(mind.run())


@WORKERS_BY_NIGHT
def test_a_baseline_does_not_excuse_it(mind: Mind, workers: tuple[str, ...]) -> None:
    make_forbidden_call(mind)
    reasons = ("forbidden_call", "calls[0]"), ("wrong_value", "calls[0].args.city")
    known = Stanza("one", False, reasons, (Call("get_weather", {"city": "Rome"}),), because="we know")
    path = baseline_path(mind.path / "cases" / "a.fc.yaml", Model("python", "mind:answer"))
    write_baseline(path, [known])
    assert_failed(mind.apart(*workers))


def test_one_forbidden_call_among_several_answers_is_not_excused(mind: Mind) -> None:
    make_forbidden_call(mind, ", xfail: too hard, samples: {count: 3, rule: any}")
    mind.says_in_turn("one", [], WRONG, [])
    assert_failed(mind.run(), "xfail (too hard) does not excuse a forbidden call")


def test_another_wrong_answer_of_the_same_case_is_excused(mind: Mind) -> None:
    make_forbidden_call(mind, ", xfail: too hard")
    mind.says({"one": []})
    mind.run().assert_outcomes(xfailed=1)
