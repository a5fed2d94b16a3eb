"""What differs between two lists of calls, in words: `calls[0].args.unit: 'celsius' → 'fahrenheit'`."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from pytest_fcall.core import Call
from pytest_fcall.schema.changes import changes, cut, json_text
from pytest_fcall.schema.words import path_text
from pytest_fcall.tracking.kept_calls import call_to_json
from pytest_fcall.tracking.sides import Sides

_LONGEST_SHOWN: Final = 60


def call_text(call: Call) -> str:
    """The call as a text that equals another one just if the calls do: 1, 1.0 and true are three things.

    What JSON cannot say has a text that tells nothing more than that.
    """
    return json_text(call_to_json(call)) or f"{call.name}(…)"


def same_calls(old: Sequence[Call], new: Sequence[Call]) -> bool:
    """Whether both are the same calls in the same order; the wire's ids do not count."""
    return len(old) == len(new) and all(map(_same, old, new))


def differences(old: Sequence[Call], new: Sequence[Call]) -> list[str]:
    """Say what became of `old`, a line each: calls that moved, changed, are gone or are new, with the new indices."""
    sides = Sides(old, new)
    kept = list(sides.take(call_text))
    changed = list(sides.take(lambda call: call.name))
    renamed = list(sides.take(lambda _: ""))
    return [
        *(f"calls[{was}] {_name(new[now])} moved to calls[{now}]" for was, now in _moved(kept)),
        *(line for was, now in changed for line in _arguments(old[was], new[now], now)),
        *(line for was, now in renamed for line in _tools(old[was], new[now], now)),
        *(f"calls[{was}] {call_brief(old[was])} is gone" for was in sides.old),
        *(f"calls[{now}] {call_brief(new[now])} is new" for now in sides.new),
    ]


def _same(old: Call, new: Call) -> bool:
    return old.name == new.name and call_text(old) == call_text(new)


def _moved(kept: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The fewest calls that changed places among those that stayed as they were."""
    pairs = sorted(kept, key=lambda pair: pair[1])
    in_order = _longest_rising([was for was, _ in pairs])
    return [pair for pair in pairs if pair[0] not in in_order]


def _longest_rising(numbers: Sequence[int]) -> set[int]:
    """A longest rising subsequence of different numbers."""
    tails: list[int] = []
    before: dict[int, int | None] = {}
    for number in numbers:
        place = bisect_left(tails, number)
        before[number] = tails[place - 1] if place else None
        tails[place:] = [number, *tails[place + 1 :]]
    rising, last = set(), tails[-1] if tails else None
    while last is not None:
        rising.add(last)
        last = before[last]
    return rising


def _tools(old: Call, new: Call, index: int) -> Iterator[str]:
    yield f"calls[{index}]: {call_brief(old)} → {call_brief(new)}"


def _arguments(old: Call, new: Call, index: int) -> list[str]:
    keys = ("calls", index, "args")
    lines = changes(old.arguments, new.arguments, keys)
    return lines or [f"{path_text(keys)}: differ in how they are written"]


def call_brief(call: Call) -> str:
    """The beginning of a call, for people."""
    arguments = json_text(call.arguments)
    return f"{_name(call)}({'…' if arguments is None else cut(arguments[1:-1])})"


def _name(call: Call) -> str:
    return repr(call.name[:_LONGEST_SHOWN])[1:-1]
