"""The reasons of a verdict on calls that are not simply the expected ones."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from pytest_fcall.core.expectation import Expectation
from pytest_fcall.core.verdict import Reason
from pytest_fcall.matching.call_comparison import CallComparison, CallFindings
from pytest_fcall.matching.call_pairing import CallPairing, Pairs
from pytest_fcall.matching.wording import call_text, expected_call_text, times_text


def pair_and_explain(
    expectation: Expectation, comparison: CallComparison, unconditional: Sequence[Sequence[Reason]]
) -> CallFindings:
    """Pair the calls with the expected ones and report all that is wrong.

    `unconditional` has the reasons against each call that hold whatever is expected.
    """
    pairing = CallPairing(expectation, comparison, [bool(each) for each in unconditional])
    pairs = pairing.pairs()
    wrong: list[Reason] = []
    for index, reasons in enumerate(unconditional):
        wrong += reasons
        wrong += _call_reasons(pairing, index, pairs.get(index))
    wrong += _order_reasons(pairing, pairs)
    missing = _count_reasons(pairing, pairs) if comparison.calls else _no_call_reasons(expectation, pairing)
    ordered = tuple(sorted((place, index) for index, place in pairs.items()))
    return CallFindings(tuple(wrong), tuple(missing), ordered)


def _call_reasons(pairing: CallPairing, index: int, place: int | None) -> Iterator[Reason]:
    """Report the mismatches of a call with the expected call at `place`, beside the unconditional reasons."""
    path, call = f"calls[{index}]", pairing.comparison.calls[index]
    if place is None and index not in pairing.optional_calls:
        if not pairing.flagged[index]:
            message = f"{call_text(call)} was called{_why_unexpected(pairing, index)}"
            yield Reason("unexpected_call", path, message, got=call.name)
    elif (found := pairing.mismatches_at(index, place)) is not None:
        for mismatch in found:
            yield mismatch.as_reason(above=("calls", index, "args"))
    elif place is not None and not pairing.comparison.is_unknown(index):
        expected = pairing.expected[place]
        message = f"{call_text(call)} was called, expected {expected_call_text(expected)}"
        yield Reason("wrong_tool", path, message, expected.tool, call.name)


def _why_unexpected(pairing: CallPairing, index: int) -> str:
    if not pairing.expected:
        return ", and no call was expected"
    return " more often than expected" if pairing.matches_any(index) else ", but not expected"


def _order_reasons(pairing: CallPairing, pairs: Pairs) -> Iterator[Reason]:
    """Report the calls that were made before one of an earlier stage."""
    if len(set(pairing.stage_of)) < 2:
        return
    right_tool = {index: place for index, place in pairs.items() if pairing.mismatches_at(index, place) is not None}
    stages = {index: pairing.stage_of[place] for index, place in sorted(right_tool.items())}
    for index, stage in stages.items():
        later = next((other for other in pairing.call_indices[index:] if stages.get(other, stage) < stage), None)
        if later is not None:
            early, late = (call_text(pairing.comparison.calls[each]) for each in (index, later))
            message = f"{early} was called before {late} (calls[{later}]), expected after it"
            yield Reason("wrong_order", f"calls[{index}]", message)


def _no_call_reasons(expectation: Expectation, pairing: CallPairing) -> Iterator[Reason]:
    """Report a reply without calls where some are expected."""
    required = [expected_call_text(each) for each in pairing.expected if each.times[0] > 0]
    if expectation.kind == "any_call":
        yield Reason("no_call", "calls", "No call was made, and some call was expected")
    elif required:
        names = " and ".join([*required[:3], "…"] if len(required) > 3 else required)
        yield Reason("no_call", "calls", f"No call was made, expected {names}")


def _count_reasons(pairing: CallPairing, pairs: Pairs) -> Iterator[Reason]:
    """Report the expected calls that were not made often enough."""
    places = list(pairs.values())
    for place, expected in enumerate(pairing.expected):
        count, (fewest, most) = places.count(place), expected.times
        if count < fewest:
            again = " again" if _is_made_elsewhere(pairing, place, places) else ""
            often = f"called {times_text(count)} only" if count else f"not called{again}"
            wanted = "" if most == fewest == 1 else f", expected {'at least ' * (most != fewest)}{times_text(fewest)}"
            message = f"{expected_call_text(expected)} was {often}{wanted}"
            yield Reason("wrong_count", f"expected[{place}]", message, fewest, count)


def _is_made_elsewhere(pairing: CallPairing, place: int, places: Collection[int]) -> bool:
    """Whether a call that is expected at several places was made for another of them."""
    expected = pairing.expected[place]
    others = (pairing.expected[other] for other in places)
    return any((each.tool, each.arguments) == (expected.tool, expected.arguments) for each in others)
