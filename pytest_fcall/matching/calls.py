"""The calls that were made against those that were expected, allowed and forbidden."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from pytest_fcall.core.expectation import Expectation
from pytest_fcall.core.verdict import Reason
from pytest_fcall.matching.call_comparison import CallComparison
from pytest_fcall.matching.call_pairing import CallPairing, Pairs
from pytest_fcall.matching.wording import call_text, expected_call_text, printable_name, times_text
from pytest_fcall.schema.value_text import path_text

_LONGEST_NAME = 100
"""Characters of a name that may still be a slip of the pen."""


class UnconditionalFindings:
    """A call is forbidden, or its tool does not exist."""

    def __init__(self, expectation: Expectation, comparison: CallComparison) -> None:
        self.never = (*expectation.never, *comparison.rules.never)
        self.comparison = comparison

    def of(self, index: int) -> Iterator[Reason]:
        """Give what is wrong with one call; whether it is forbidden where nobody can say counts as forbidden."""
        name = self.comparison.calls[index].name
        if self.comparison.is_unknown(index):
            message = f"`{printable_name(name)}` is not one of the tools offered{self._suggestion(name)}"
            yield Reason("unknown_tool", f"calls[{index}]", message, got=name)
        for pattern in self.never:
            found = self.comparison.pattern(pattern, index)
            if found is not None and all(each.undecided for each in found):
                why = f", unless this says otherwise: {found[0].tell()}" if found else ""
                message = f"{call_text(self.comparison.calls[index])} must never be called{why}"
                yield Reason("forbidden_call", f"calls[{index}]", message, got=name)
                return

    def _suggestion(self, name: str) -> str:
        near = get_close_matches(name, self.comparison.offered, 1) if len(name) <= _LONGEST_NAME else []
        return f"; did the model mean `{near[0]}`?" if near else ""


_MAX_CALLS = 256
"""A reply with more calls than this, beside those expected, is wrong as a whole; its calls are not paired."""


@dataclass(frozen=True, slots=True)
class CallFindings:
    """What is wrong with the calls made, which calls are missing, and who was paired with whom."""

    wrong: tuple[Reason, ...] = ()
    missing: tuple[Reason, ...] = ()
    pairs: tuple[tuple[int, int], ...] = ()


def judge_calls(expectation: Expectation, comparison: CallComparison) -> CallFindings:
    """Judge the calls of a reply, whatever else there is to say about it."""
    made = range(len(comparison.calls))
    alarms = UnconditionalFindings(expectation, comparison)
    raised = [tuple(alarms.of(index)) for index in made]
    if has_too_many_calls(len(made), expectation):
        message = f"The reply makes {len(made):,} calls, too many to be judged one by one."
        too_many = Reason("wrong_count", "calls", message, got=len(made))
        return CallFindings((too_many, *(reason for each in raised for reason in each)))
    if made and not any(raised) and _is_exact_in_order(expectation, comparison):
        return CallFindings(pairs=tuple((index, index) for index in made))
    sides = CallPairing(expectation, comparison, [bool(each) for each in raised])
    pairs = sides.pairs()
    wrong = [reason for index in made for reason in (*raised[index], *_call_reasons(sides, index, pairs.get(index)))]
    wrong += _order_reasons(sides, pairs)
    missing = [*_no_call_reasons(expectation, sides)] if not made else [*_count_reasons(sides, pairs)]
    ordered = tuple(sorted((place, index) for index, place in pairs.items()))
    return CallFindings(tuple(wrong), tuple(missing), ordered)


def has_too_many_calls(made: int, expectation: Expectation) -> bool:
    """Whether there are so many calls that they are not paired."""
    return made > _MAX_CALLS + sum(map(len, expectation.stages))


def _is_exact_in_order(expectation: Expectation, comparison: CallComparison) -> bool:
    """Whether the calls are just those expected, one after the other. Most right replies are that."""
    expected = [call for stage in expectation.stages for call in stage]
    return len(expected) == len(comparison.calls) and all(
        each.times == (1, 1) and comparison.mismatches(each, index) == [] for index, each in enumerate(expected)
    )


def _call_reasons(sides: CallPairing, index: int, place: int | None) -> Iterator[Reason]:
    """What is wrong with a call in the place that it was given. What an alarm has said is not said again."""
    path, call = f"calls[{index}]", sides.comparison.calls[index]
    if place is None and index not in sides.excused:
        if not sides.alarmed[index]:
            message = f"{call_text(call)} was called{_why_unexpected(sides, index)}"
            yield Reason("unexpected_call", path, message, got=call.name)
    elif (found := sides.findings(index, place)) is not None:
        for each in found:
            yield Reason(each.kind, f"{path}.{path_text(('args', *each.keys))}", each.tell(), each.expected, each.got)
    elif place is not None and not sides.comparison.is_unknown(index):
        wanted = sides.expected[place]
        message = f"{call_text(call)} was called, expected {expected_call_text(wanted)}"
        yield Reason("wrong_tool", path, message, wanted.tool, call.name)


def _why_unexpected(sides: CallPairing, index: int) -> str:
    if not sides.expected:
        return ", and no call was expected"
    return " more often than expected" if sides.fits_somewhere(index) else ", but not expected"


def _order_reasons(sides: CallPairing, pairs: Pairs) -> Iterator[Reason]:
    """The calls that came before one which they must come after."""
    if len(set(sides.stage_of)) < 2:
        return
    right_tool = {index: place for index, place in pairs.items() if sides.findings(index, place) is not None}
    stages = {index: sides.stage_of[place] for index, place in sorted(right_tool.items())}
    for index, stage in stages.items():
        behind = next((other for other in sides.made[index:] if stages.get(other, stage) < stage), None)
        if behind is not None:
            early, late = (call_text(sides.comparison.calls[each]) for each in (index, behind))
            message = f"{early} was called before {late} (calls[{behind}]), expected after it"
            yield Reason("wrong_order", f"calls[{index}]", message)


def _no_call_reasons(expectation: Expectation, sides: CallPairing) -> Iterator[Reason]:
    """Whether a reply without calls should have had some."""
    lacking = [expected_call_text(each) for each in sides.expected if each.times[0] > 0]
    if expectation.kind == "any_call":
        yield Reason("no_call", "calls", "No call was made, and some call was expected")
    elif lacking:
        names = " and ".join([*lacking[:3], "…"] if len(lacking) > 3 else lacking)
        yield Reason("no_call", "calls", f"No call was made, expected {names}")


def _count_reasons(sides: CallPairing, pairs: Pairs) -> Iterator[Reason]:
    """The expected calls that were not made often enough."""
    places = list(pairs.values())
    for place, wanted in enumerate(sides.expected):
        count, (fewest, most) = places.count(place), wanted.times
        if count < fewest:
            often = f"called {times_text(count)} only" if count else f"not called{_again_word(sides, place, places)}"
            least = "" if most == fewest == 1 else f", expected {'at least ' * (most != fewest)}{times_text(fewest)}"
            yield Reason(
                "wrong_count", f"expected[{place}]", f"{expected_call_text(wanted)} was {often}{least}", fewest, count
            )


def _again_word(sides: CallPairing, place: int, places: Collection[int]) -> str:
    """A word for a call that is expected in several places, and was made for another one."""
    wanted = sides.expected[place]
    same = (sides.expected[other] for other in places)
    return " again" if any((each.tool, each.arguments) == (wanted.tool, wanted.arguments) for each in same) else ""
