"""Lines on answers of apps of which nothing was seen, and on connections that went around the proxy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pytest_fcall.reporting.number_text import plural_text
from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.safe_text import safe_line

_MAX_LISTED = 5
_UNSEEN = "asked nothing by way of the proxy, though it asks models elsewhere"
_STORED = "was not run: its stored answer stands for it, as nothing is recorded inside it for this case"


def way_lines(results: Sequence[Result]) -> list[str]:
    """Lines on each app: cases without a request to a model, cases in which it was not run, and detours."""
    models = dict.fromkeys(result.model for result in results if result.way or result.detours)
    found = {model: [result for result in results if result.model == model] for model in models}
    return [line for model, of_model in found.items() for line in _lines_of_app(safe_line(model), of_model)]


def with_known_ways(results: Sequence[Result]) -> list[Result]:
    """The results, each with what those of other cases show: whether its app asks models."""
    asking = {result.model for result in results if result.way == "proxy" or result.asks_models}
    return [replace(each, asks_models=True) if each.way and each.model in asking else each for each in results]


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
