"""The lines on requests of apps that are part of no verdict: they came too late, or belong to no case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pytest_fcall.reporting.number_text import plural_text
from pytest_fcall.reporting.safe_text import safe_line

_MAX_CASES = 3
_WAIT = "let the app wait for what it asks"
_INSIDE = "ask within a case, by httpx, aiohttp or http.client"


def stray_lines(strays: Mapping[tuple[str, bool], int]) -> Iterator[str]:
    """What became of the requests, and what to do.

    `strays` counts them by their case, empty where it is nobody's, and by whether they were answered.
    """
    for is_answered, fate in (
        (True, f"kept with the case, but part of no verdict and no cost; {_WAIT}"),
        (False, f"refused, since not recorded and not allowed; {_WAIT}, or record with `pytest --fc-live`"),
    ):
        late = {case: count for (case, answered), count in strays.items() if case and answered is is_answered}
        if late:
            number = plural_text(sum(late.values()), "request")
            yield safe_line(f"{number} after the end of {_listed(sorted(late))}: {fate}")
    if answered := strays.get(("", True)):
        yield f"{plural_text(answered, 'request')} of no known case: kept as nobody's; {_INSIDE}"
    if refused := strays.get(("", False)):
        yield f"{plural_text(refused, 'request')} of no known case: refused; {_INSIDE}"


def _listed(cases: list[str]) -> str:
    more = f" and {plural_text(left, 'other case')}" if (left := len(cases) - _MAX_CASES) > 0 else ""
    return ", ".join(cases[:_MAX_CASES]) + more
