"""The lines on requests and spans of apps that are part of no verdict: they came too late, or belong to no case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pytest_fcall.reporting.number_text import plural_text
from pytest_fcall.reporting.safe_text import safe_line

_MAX_CASES = 3
_WAIT = "let the app wait for what it asks"
_WAIT_FOR_SPANS = "let the app wait for what it begins"
_INSIDE = "ask within a case, by httpx, aiohttp or http.client"


def stray_lines(strays: Mapping[tuple[str, bool], int]) -> Iterator[str]:
    """The fate of the requests, and what to do.

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


def span_stray_lines(strays: Mapping[tuple[str, str], int]) -> Iterator[str]:
    """The fate of spans, and what to do.

    `strays` counts them by the case that they came too late for, or by the program that sent them where they belong to
    no case. Messages that could not be read have neither.
    """
    if late := {case: count for (case, _), count in strays.items() if case}:
        number = plural_text(sum(late.values()), "span")
        yield safe_line(f"{number} after the verdict on {_listed(sorted(late))}: not judged; {_WAIT_FOR_SPANS}")
    if foreign := {service: count for (case, service), count in strays.items() if service and not case}:
        programs = ", ".join(f"{service} ({count:,})" for service, count in sorted(foreign.items())[:_MAX_CASES])
        more = f" and {plural_text(left, 'other program')}" if (left := len(foreign) - _MAX_CASES) > 0 else ""
        yield safe_line(f"spans of no known case: not judged; from {programs}{more}")
    if unreadable := strays.get(("", "")):
        yield f"{plural_text(unreadable, 'message')} with spans could not be read"


def _listed(cases: list[str]) -> str:
    more = f" and {plural_text(left, 'other case')}" if (left := len(cases) - _MAX_CASES) > 0 else ""
    return ", ".join(cases[:_MAX_CASES]) + more
