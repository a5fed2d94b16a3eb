"""The calls that were made against those that were expected."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from pytest_fcall.core.expectation import Expectation
from pytest_fcall.core.verdict import Reason
from pytest_fcall.matching.alarms import Alarms
from pytest_fcall.matching.comparison import Comparison
from pytest_fcall.matching.sides import Sides
from pytest_fcall.matching.stages import Pairs
from pytest_fcall.matching.wording import show_expected, show_made, times
from pytest_fcall.schema.words import path_text

_MOST_CALLS = 256
"""A reply with more calls than this, beside those expected, is wrong as a whole; its calls are not paired."""


@dataclass(frozen=True, slots=True)
class Called:
    """What is wrong with the calls made, which calls are missing, and who was paired with whom."""

    wrong: tuple[Reason, ...] = ()
    missing: tuple[Reason, ...] = ()
    pairs: tuple[tuple[int, int], ...] = ()


def judge_calls(expectation: Expectation, comparison: Comparison) -> Called:
    """Judge the calls of a reply, whatever else there is to say about it."""
    made = range(len(comparison.calls))
    alarms = Alarms(expectation, comparison)
    raised = [tuple(alarms.of(index)) for index in made]
    if is_too_many(len(made), expectation):
        message = f"The reply makes {len(made):,} calls, too many to be judged one by one."
        too_many = Reason("wrong_count", "calls", message, got=len(made))
        return Called((too_many, *(reason for each in raised for reason in each)))
    if made and not any(raised) and _all_in_turn(expectation, comparison):
        return Called(pairs=tuple((index, index) for index in made))
    sides = Sides(expectation, comparison, [bool(each) for each in raised])
    pairs = sides.pairs()
    wrong = [reason for index in made for reason in (*raised[index], *_of_call(sides, index, pairs.get(index)))]
    wrong += _out_of_order(sides, pairs)
    missing = [*_no_call(expectation, sides)] if not made else [*_too_few(sides, pairs)]
    ordered = tuple(sorted((place, index) for index, place in pairs.items()))
    return Called(tuple(wrong), tuple(missing), ordered)


def is_too_many(made: int, expectation: Expectation) -> bool:
    """Whether there are so many calls that they are not paired."""
    return made > _MOST_CALLS + sum(map(len, expectation.stages))


def _all_in_turn(expectation: Expectation, comparison: Comparison) -> bool:
    """Whether the calls are just those expected, one after the other. Most right replies are that."""
    expected = [call for stage in expectation.stages for call in stage]
    return len(expected) == len(comparison.calls) and all(
        each.times == (1, 1) and comparison.mismatches(each, index) == [] for index, each in enumerate(expected)
    )


def _of_call(sides: Sides, index: int, place: int | None) -> Iterator[Reason]:
    """What is wrong with a call in the place that it was given. What an alarm has said is not said again."""
    path, call = f"calls[{index}]", sides.comparison.calls[index]
    if place is None and index not in sides.excused:
        if not sides.alarmed[index]:
            message = f"{show_made(call)} was called{_why_unexpected(sides, index)}"
            yield Reason("unexpected_call", path, message, got=call.name)
    elif (found := sides.findings(index, place)) is not None:
        for each in found:
            yield Reason(each.kind, f"{path}.{path_text(('args', *each.keys))}", each.tell(), each.expected, each.got)
    elif place is not None and not sides.comparison.is_unknown(index):
        wanted = sides.expected[place]
        message = f"{show_made(call)} was called, expected {show_expected(wanted)}"
        yield Reason("wrong_tool", path, message, wanted.tool, call.name)


def _why_unexpected(sides: Sides, index: int) -> str:
    if not sides.expected:
        return ", and no call was expected"
    return " more often than expected" if sides.fits_somewhere(index) else ", but not expected"


def _out_of_order(sides: Sides, pairs: Pairs) -> Iterator[Reason]:
    """The calls that came before one which they must come after."""
    if len(set(sides.stage_of)) < 2:
        return
    right_tool = {index: place for index, place in pairs.items() if sides.findings(index, place) is not None}
    stages = {index: sides.stage_of[place] for index, place in sorted(right_tool.items())}
    for index, stage in stages.items():
        behind = next((other for other in sides.made[index:] if stages.get(other, stage) < stage), None)
        if behind is not None:
            early, late = (show_made(sides.comparison.calls[each]) for each in (index, behind))
            message = f"{early} was called before {late} (calls[{behind}]), expected after it"
            yield Reason("wrong_order", f"calls[{index}]", message)


def _no_call(expectation: Expectation, sides: Sides) -> Iterator[Reason]:
    """Whether a reply without calls should have had some."""
    lacking = [show_expected(each) for each in sides.expected if each.times[0] > 0]
    if expectation.kind == "any_call":
        yield Reason("no_call", "calls", "No call was made, and some call was expected")
    elif lacking:
        names = " and ".join([*lacking[:3], "…"] if len(lacking) > 3 else lacking)
        yield Reason("no_call", "calls", f"No call was made, expected {names}")


def _too_few(sides: Sides, pairs: Pairs) -> Iterator[Reason]:
    """The expected calls that were not made often enough."""
    places = list(pairs.values())
    for place, wanted in enumerate(sides.expected):
        count, (fewest, most) = places.count(place), wanted.times
        if count < fewest:
            often = f"called {times(count)} only" if count else f"not called{_again(sides, place, places)}"
            least = "" if most == fewest == 1 else f", expected {'at least ' * (most != fewest)}{times(fewest)}"
            yield Reason(
                "wrong_count", f"expected[{place}]", f"{show_expected(wanted)} was {often}{least}", fewest, count
            )


def _again(sides: Sides, place: int, places: Collection[int]) -> str:
    """A word for a call that is expected in several places, and was made for another one."""
    wanted = sides.expected[place]
    same = (sides.expected[other] for other in places)
    return " again" if any((each.tool, each.arguments) == (wanted.tool, wanted.arguments) for each in same) else ""
