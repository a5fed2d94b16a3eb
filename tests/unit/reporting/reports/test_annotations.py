from __future__ import annotations

from hypothesis import given

from pytest_fcall.core import Outcome
from pytest_fcall.reporting.reports.annotations import write
from pytest_fcall.reporting.reports.report import Report
from tests.unit.reporting.reports.examples import HOSTILE, report, reports, result


@given(reports())
def test_each_line_is_one_command(made: Report) -> None:
    for line in write(made):
        assert line.endswith("\n")
        assert line.count("\n") == 1
        head, _, _ = line[2:].partition("::")
        kind, _, properties = head.partition(" ")
        assert kind in ("error", "warning")
        assert [each.partition("=")[0] for each in properties.split(",")] == ["file", "line", "title"]


def test_at_most_ten_of_each_kind() -> None:
    failed = [result(f"f{number}") for number in range(15)]
    undecided = [result(f"u{number}", outcome=Outcome.UNDECIDED) for number in range(15)]
    kinds = [line[2 : line.index(" ")] for line in write(report(*failed, *undecided))]
    assert kinds == ["error"] * 10 + ["warning"] * 10


def test_what_is_right_or_known_to_be_wrong_has_none() -> None:
    known = result("b", "xfailed", Outcome.KNOWN_FAILURE)
    assert [*write(report(result("a", "passed"), known))] == []


def test_text_from_outside_ends_no_command() -> None:
    (line,) = write(report(result(HOSTILE)))
    assert line.count("::") == 2
    assert line.rstrip("\n").isprintable()
