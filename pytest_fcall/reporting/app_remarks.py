"""Lines on what is unusual about requests: unread by `wire:`, not recorded, or in part no part of their keys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from pytest_fcall.reporting.number_text import plural_text
from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.safe_text import safe_line

_MAX_LISTED = 5


def app_remark_lines(results: Sequence[Result]) -> list[str]:
    """A line for each path that is not read, and for each fault of answers."""
    found = Counter((result.model, *remark) for result in results for remark in result.remarks)
    lines = [line for (app, kind, about), count in found.items() for line in _lines(app, kind, about, count)]
    more = len(lines) - _MAX_LISTED
    return lines if more <= 1 else [*lines[:_MAX_LISTED], f"… and {more} more of such lines"]


def volatile_lines(results: Sequence[Result]) -> Iterator[str]:
    """A line for each pattern of what is no part of the keys of requests, with the number of these requests."""
    found = Counter((result.model, about) for result in results for kind, about in result.remarks if kind == "volatile")
    for (app, pattern), count in found.items():
        yield f"{safe_line(app)}: fc_volatile {safe_line(pattern)} matched in {plural_text(count, 'request')}"


def _lines(app: str, kind: str, about: str, count: int) -> Iterator[str]:
    if kind == "unread":
        requests = f"{plural_text(count, 'request')} to {safe_line(about)}"
        verb = "is" if count == 1 else "are"
        yield f"{safe_line(app)}: {requests} {verb} recorded, and not read: `wire:` does not see them"
    elif kind == "broken":
        answers = "an answer was" if count == 1 else f"{count:,} answers were"
        yield f"{safe_line(app)}: {answers} passed on to the app and not recorded: {safe_line(about)}"
