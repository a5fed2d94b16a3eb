"""Lines on apps: how they came to their answers, what is unusual about their requests, and what belongs to no case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from pytest_fcall.core.message_text import plural_text
from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.safe_text import safe_line

_MAX_LISTED = 5
_UNSEEN = "sent no request through the proxy, though it is known to call models"
_STORED = "was not run: its stored answer stands for it, as nothing is recorded inside it for this case"
_MAX_NAMED = 3
_WAIT = "let the app wait for what it asks"
_WAIT_FOR_SPANS = "let the app wait for what it begins"
_INSIDE = "ask within a case, by httpx, aiohttp or http.client"


def way_lines(results: Sequence[Result]) -> list[str]:
    """Lines on each app: cases without a request to a model, cases in which it was not run, and detours."""
    models = dict.fromkeys(result.model for result in results if result.way or result.detours)
    found = {model: [result for result in results if result.model == model] for model in models}
    return [line for model, of_model in found.items() for line in _lines_of_app(safe_line(model), of_model)]


def with_known_ways(results: Sequence[Result]) -> list[Result]:
    """The results, each with what those of other cases show: whether its app asks models."""
    asking = {result.model for result in results if result.way == "proxy" or result.asks_models}
    return [each._replace(asks_models=True) if each.way and each.model in asking else each for each in results]


def way_remarks(result: Result) -> Iterator[str]:
    """Lines on how an app came to the answer of a case, as far as that is known without other cases."""
    if result.way == "stored":
        yield f"it {_STORED}"
    if result.way == "unseen" and result.asks_models:
        yield f"it {_UNSEEN}"
    faults = dict.fromkeys(about for kind, about in result.remarks if kind == "broken")
    yield from (f"its reply is not recorded, as it rests on this: {safe_line(fault)}" for fault in faults)
    yield from (f"it went around the proxy to {safe_line(detour)}" for detour in result.detours)


def _lines_of_app(model: str, results: Sequence[Result]) -> Iterator[str]:
    unseen = [result for result in results if result.way == "unseen"]
    if unseen and any(result.asks_models or result.way == "proxy" for result in results):
        yield f"{plural_text(len(unseen), 'case')} in which {model} {_UNSEEN}:"
        yield from _listed(unseen)
        yield "  its client may have an address of its own, or a cache answered; fc_inside = required makes it an error"
    if stored := [result for result in results if result.way == "stored"]:
        count = plural_text(len(stored), "case")
        yield f"{count} in which {model} was not run: its stored answer stands for it, as nothing is recorded inside it"
    if around := [result for result in results if result.detours]:
        count = plural_text(len(around), "case")
        yield f"{count} in which {model} went around the proxy, which can neither record nor replay that:"
        for detour in dict.fromkeys(detour for result in around for detour in result.detours):
            yield f"  {safe_line(detour)}"


def _listed(results: Sequence[Result]) -> Iterator[str]:
    for result in results[:_MAX_LISTED]:
        yield f"  {safe_line(result.file)}:{result.line} {safe_line(result.case)}"
    if (left := len(results) - _MAX_LISTED) > 0:
        yield f"  and {left:,} more"


def app_remark_lines(results: Sequence[Result]) -> list[str]:
    """A line for each path that is not read, and for each fault of answers."""
    found = Counter((result.model, *remark) for result in results for remark in result.remarks)
    lines = [line for (app, kind, about), count in found.items() for line in _remark_lines(app, kind, about, count)]
    more = len(lines) - _MAX_LISTED
    return lines if more <= 1 else [*lines[:_MAX_LISTED], f"… and {more} more of such lines"]


def volatile_lines(results: Sequence[Result]) -> Iterator[str]:
    """A line for each pattern of what is no part of the keys of requests, with the number of these requests."""
    found = Counter((result.model, about) for result in results for kind, about in result.remarks if kind == "volatile")
    for (app, pattern), count in found.items():
        yield f"{safe_line(app)}: fc_volatile {safe_line(pattern)} matched in {plural_text(count, 'request')}"


def _remark_lines(app: str, kind: str, about: str, count: int) -> Iterator[str]:
    if kind == "unread":
        requests = f"{plural_text(count, 'request')} to {safe_line(about)}"
        verb = "is" if count == 1 else "are"
        yield f"{safe_line(app)}: {requests} {verb} recorded, and not read: `wire:` does not see them"
    elif kind == "broken":
        answers = "an answer was" if count == 1 else f"{count:,} answers were"
        yield f"{safe_line(app)}: {answers} passed on to the app and not recorded: {safe_line(about)}"


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
            yield safe_line(f"{number} after the end of {_named_cases(sorted(late))}: {fate}")
    if answered := strays.get(("", True)):
        yield f"{plural_text(answered, 'request')} of no known case: kept without a case; {_INSIDE}"
    if refused := strays.get(("", False)):
        yield f"{plural_text(refused, 'request')} of no known case: refused; {_INSIDE}"


def span_stray_lines(strays: Mapping[tuple[str, str], int]) -> Iterator[str]:
    """The fate of spans, and what to do.

    `strays` counts them by the case that they came too late for, or by the program that sent them where they belong to
    no case. Messages that could not be read have neither.
    """
    if late := {case: count for (case, _), count in strays.items() if case}:
        number = plural_text(sum(late.values()), "span")
        yield safe_line(f"{number} after the verdict on {_named_cases(sorted(late))}: not judged; {_WAIT_FOR_SPANS}")
    if foreign := {service: count for (case, service), count in strays.items() if service and not case}:
        programs = ", ".join(f"{service} ({count:,})" for service, count in sorted(foreign.items())[:_MAX_NAMED])
        more = f" and {plural_text(left, 'other program')}" if (left := len(foreign) - _MAX_NAMED) > 0 else ""
        yield safe_line(f"spans of no known case: not judged; from {programs}{more}")
    if unreadable := strays.get(("", "")):
        yield f"{plural_text(unreadable, 'message')} with spans could not be read"


def _named_cases(cases: list[str]) -> str:
    more = f" and {plural_text(left, 'other case')}" if (left := len(cases) - _MAX_NAMED) > 0 else ""
    return ", ".join(cases[:_MAX_NAMED]) + more
