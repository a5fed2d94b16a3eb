"""What a request that was not recorded resembles most."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_fcall.backends.explain import explain_missing
from pytest_fcall.backends.recorded import Recorded
from pytest_fcall.core import Request, canonical


def explain_new(request: Request, recorded: Iterable[Recorded]) -> str:
    """Say what is new about a request, against the one of these that it resembles most."""
    candidates = list(recorded)
    if not candidates:
        return "nothing was recorded for this case"
    near = max(candidates, key=lambda entry: _likeness(request, entry.request))
    if _same(request, near.request):
        return f"the same was recorded, but no {_ordinal(request.sample + 1)} time in a row"
    return explain_missing(request, near)


def _likeness(new: Request, old: Request) -> tuple[int, int, bool]:
    """How many messages are alike where they stand, how near the numbers of them are, and whether the tools are."""
    alike = sum(a == b for a, b in zip(new.messages, old.messages, strict=False))
    return alike - abs(len(new.messages) - len(old.messages)), -abs(new.sample - old.sample), new.tools == old.tools


def _same(new: Request, old: Request) -> bool:
    return (
        list(new.messages) == list(old.messages)
        and canonical(new.settings) == canonical(old.settings)
        and new.tools == old.tools
    )


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
