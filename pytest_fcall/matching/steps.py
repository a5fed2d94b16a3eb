"""What came at once and what came after it: the order of calls across the replies of one turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_fcall.core.call import Call
from pytest_fcall.core.expectation import Expectation, chosen
from pytest_fcall.core.verdict import Reason, Verdict
from pytest_fcall.matching.wording import show_made

_FREE = "`parallel: free` lets it"


def out_of_step(
    expectation: Expectation, verdict: Verdict, calls: Sequence[Call], step_of: Sequence[int]
) -> tuple[Reason, ...]:
    """Calls of one group that did not come at once, and calls of a later group that came at once with an earlier one.

    In a strict order calls of one group may also come one after the other. `step_of` has the number of the reply that
    each call was in. That a call is made again is no fault of order, and calls in the wrong order altogether have been
    found by the verdict.
    """
    expectation = chosen(expectation, verdict.alternative)
    if expectation.parallel == "free" or any(reason.kind == "wrong_order" for reason in verdict.reasons):
        return ()
    first: dict[int, int] = {}
    for place, index in sorted(verdict.pairs, key=lambda pair: pair[1]):
        first.setdefault(place, index)
    return tuple(_found(expectation, first, calls, step_of))


def _found(
    expectation: Expectation, first: dict[int, int], calls: Sequence[Call], step_of: Sequence[int]
) -> Iterator[Reason]:
    start, before = 0, None
    for stage in expectation.stages:
        made = sorted(first[place] for place in range(start, start + len(stage)) if place in first)
        start += len(stage)
        if not made:
            continue
        if before is not None and step_of[made[0]] <= step_of[before]:
            yield _reason(made[0], before, calls, "at once with", "expected after its result")
        for index in made[1:] if expectation.order == "any" else ():
            if step_of[index] != step_of[made[0]]:
                yield _reason(index, made[0], calls, "in a later reply than", "expected at once with it")
        before = made[-1]


def _reason(index: int, other: int, calls: Sequence[Call], when: str, wanted: str) -> Reason:
    message = f"{show_made(calls[index])} was called {when} {show_made(calls[other])}, {wanted}; {_FREE}"
    return Reason("wrong_order", f"calls[{index}]", message)
