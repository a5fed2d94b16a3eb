"""The data that travels with a report of pytest to the process where results arrive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_fcall.plugin.terminal import verbosity
from pytest_fcall.reporting.result_json import result_from_json, result_to_json
from pytest_fcall.reporting.results import MissingReply, Result

if TYPE_CHECKING:
    import pytest


CALLS_TITLE: Final = "asked and answered"
"""The section of a report that has what a passed case asked and answered."""


def shows_passed_calls(config: pytest.Config) -> bool:
    """Whether people want to see the calls of passed cases: by `-vv`, or by `-rP` as they see what tests print."""
    return verbosity(config) > 1 or lists_passed(config)


def lists_passed(config: pytest.Config) -> bool:
    """Whether pytest itself shows the sections of passed tests."""
    return not {"P", "A"}.isdisjoint(config.getoption("reportchars", ""))


class CaseReport(NamedTuple):
    """The part of a report that this plugin adds."""

    result: Result | None
    """None for a plain test, of which only a missing reply counts."""
    missing: MissingReply | None = None
    """The reason why there was no reply, where none is recorded and no model may be asked."""
    unanswered: bool = False
    """Whether there was no reply because of a server, the network or the model's entry."""
    judged: bool = False
    """Whether the report is about a verdict."""
    reused: tuple[float, float] | None = None
    """The times of the oldest and the newest recording that was used; see `Answer.reused`."""
    changes: tuple[str, ...] = ()
    """The changes that the backend made in the request before it sent it."""
    account: str = ""
    """The account of the case, behind tools that it offers: lines of JSON. Empty where no run is kept, or once it is
    written."""
    remark: str = ""
    """The remark on a plain test that passed."""
    texts: tuple[str, ...] = ()
    """The texts that models wrote for variants of the case, as lines of the file in which they are kept."""


def case_report(report: pytest.TestReport) -> CaseReport | None:
    """The part that was attached to a report, in this process or in another one."""
    attached: CaseReport | list[Any] | None = getattr(report, "fcall", None)
    if isinstance(attached, list):
        result, missing, unanswered, judged, reused, changes, account, remark, texts = attached
        found = result_from_json(result) if result is not None else None
        lacked = MissingReply(*missing) if missing is not None else None
        attached = CaseReport(found, lacked, unanswered, judged, reused, tuple(changes), account, remark, tuple(texts))
    return attached


def attach(report: pytest.TestReport, attached: CaseReport) -> None:
    """Attach this to a report."""
    report.fcall = attached  # type: ignore[attr-defined]  # reports carry whatever plugins put there


def to_json(attached: CaseReport) -> list[Any]:
    """The attached part in JSON values."""
    result = result_to_json(attached.result) if attached.result is not None else None
    missing = [*attached.missing] if attached.missing else None
    return [result, missing, *attached[2:]]
