"""The order in which an app's requests are judged and kept: their own, and none that is otherwise each time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pytest_fcall.core import AppExchange

_CLOCK_STEP = 0.001
"""In seconds. Times of recordings are written to the millisecond."""


def canonical_order(exchanges: Sequence[AppExchange], text_of: Callable[[AppExchange], str]) -> list[AppExchange]:
    """Sort exchanges, which come in the order of their answers, so that parallel ones do not depend on that order.

    Each belongs to the step after those that it follows; those of one step are sorted by their text.
    """
    overlaps = [[_overlap(earlier, later) for earlier in exchanges[:place]] for place, later in enumerate(exchanges)]
    if not any(map(any, overlaps)):
        return list(exchanges)
    groups = _parallel_groups(exchanges, overlaps)
    steps: list[int] = []
    for place, later in enumerate(exchanges):
        before = (
            steps[at]
            for at, earlier in enumerate(exchanges[:place])
            if not overlaps[place][at] and (groups[at] != groups[place] or _continues(later, earlier))
        )
        steps.append(max(before, default=0) + 1)
    pairs = zip(steps, exchanges, strict=True)
    keys = [(step, text_of(exchange) if steps.count(step) > 1 else "") for step, exchange in pairs]
    return [exchanges[place] for place in sorted(range(len(keys)), key=keys.__getitem__)]


def _overlap(one: AppExchange, other: AppExchange) -> bool:
    """Whether one was sent before the other was answered, when a provider answered them."""
    if not one.ended or not other.ended:
        return False
    begun = (each.ended - (each.reply.seconds or 0.0) for each in (one, other))
    return min(one.ended, other.ended) - max(begun) > _CLOCK_STEP


def _parallel_groups(exchanges: Sequence[AppExchange], overlaps: Sequence[Sequence[bool]]) -> list[int]:
    """Numbers that are equal for the exchanges of conversations that were held at the same time.

    Of these, only messages show which follows which: what ended first was merely faster.
    """
    groups = list(range(len(exchanges)))

    def join(one: int, other: int) -> None:
        old, new = groups[one], groups[other]
        groups[:] = [new if group == old else group for group in groups]

    latest = set[int]()
    for place, later in enumerate(exchanges):
        for at, overlap in enumerate(overlaps[place]):
            if overlap:
                join(at, place)
        known = [at for at in latest if not overlaps[place][at] and _repeats(later, exchanges[at])]
        if known:
            nearest = max(known, key=lambda at: len(exchanges[at].request.messages))
            join(nearest, place)
            latest.remove(nearest)
        latest.add(place)
    return groups


def _continues(later: AppExchange, earlier: AppExchange) -> bool:
    """Whether a request goes on where the other one ended, as far as it shows."""
    return _repeats(later, earlier) or "previous_response_id" in later.request.settings


def _repeats(later: AppExchange, earlier: AppExchange) -> bool:
    before = earlier.request.messages
    return len(later.request.messages) > len(before) and later.request.messages[: len(before)] == before
