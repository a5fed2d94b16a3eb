"""What travels with a report of pytest to the process where results arrive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_fcall.reporting.result_json import result_from_json, result_to_json
from pytest_fcall.reporting.results import Result

if TYPE_CHECKING:
    import pytest


class CaseReport(NamedTuple):
    """The part of a report that this plugin adds."""

    result: Result | None
    """None for a plain test, of which only a missing reply counts."""
    missing: bool = False
    """Whether there was no reply because none is recorded."""
    unanswered: bool = False
    """Whether there was no reply because of a server, the network or the model's entry."""
    judged: bool = False
    """Whether the report is about a verdict."""
    reused: tuple[float, float] | None = None
    """When the oldest and the newest recording that was used were made; see `Answer.reused`."""
    changes: tuple[str, ...] = ()
    """What the backend changed in the request before it sent it."""


def case_report(report: pytest.TestReport) -> CaseReport | None:
    """What was attached to a report, in this process or in another one."""
    attached: CaseReport | list[Any] | None = getattr(report, "fcall", None)
    if isinstance(attached, list):
        result, missing, unanswered, judged, reused, changes = attached
        found = result_from_json(result) if result is not None else None
        attached = CaseReport(found, missing, unanswered, judged, reused, tuple(changes))
    return attached


def attach(report: pytest.TestReport, attached: CaseReport) -> None:
    """Attach this to a report."""
    report.fcall = attached  # type: ignore[attr-defined]  # reports carry whatever plugins put there


def to_json(attached: CaseReport) -> list[Any]:
    """The attached part in JSON values."""
    result = result_to_json(attached.result) if attached.result is not None else None
    return [result, *attached[1:]]
