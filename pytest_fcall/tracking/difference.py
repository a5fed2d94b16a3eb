"""What differs between two lists of calls, in words: `calls[0].args.unit: 'celsius' → 'fahrenheit'`."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from pytest_fcall.core import Call, Json
from pytest_fcall.core.readable import readable
from pytest_fcall.schema.words import path_text, shown
from pytest_fcall.tracking.stanza import call_to_json

_LONGEST_COMPARED: Final = 20_000
"""Arguments whose text is longer are not compared part by part, which may take long."""
_LONGEST_SHOWN: Final = 60


def call_text(call: Call) -> str:
    """The call as a text that equals another one just if the calls do: 1, 1.0 and true are three things.

    What JSON cannot say has a text that tells nothing more than that.
    """
    return _json(call_to_json(call)) or f"{call.name}(…)"


def same_calls(old: Sequence[Call], new: Sequence[Call]) -> bool:
    """Whether both are the same calls in the same order; the wire's ids do not count."""
    return len(old) == len(new) and all(map(_same, old, new))


def differences(old: Sequence[Call], new: Sequence[Call]) -> list[str]:
    """Say what became of `old`, a line each: calls that moved, changed, are gone or are new, with the new indices."""
    sides = _Sides(old, new)
    kept = list(sides.take(call_text))
    changed = list(sides.take(lambda call: call.name))
    renamed = list(sides.take(lambda _: ""))
    return [
        *(f"calls[{was}] {_name(new[now])} moved to calls[{now}]" for was, now in _moved(kept)),
        *(line for was, now in changed for line in _arguments(old[was], new[now], now)),
        *(line for was, now in renamed for line in _tools(old[was], new[now], now)),
        *(f"calls[{was}] {_brief(old[was])} is gone" for was in sides.old),
        *(f"calls[{now}] {_brief(new[now])} is new" for now in sides.new),
    ]


class _Sides:
    """The calls on both sides that nothing is said of yet."""

    def __init__(self, old: Sequence[Call], new: Sequence[Call]) -> None:
        self._calls = old, new
        self.old = dict.fromkeys(range(len(old)))
        self.new = dict.fromkeys(range(len(new)))

    def take(self, name: Any) -> Iterator[tuple[int, int]]:
        """Pair those of the same name in order, and take them away."""
        waiting: dict[str, list[int]] = {}
        for was in reversed(self.old):
            waiting.setdefault(name(self._calls[0][was]), []).append(was)
        for now in list(self.new):
            if found := waiting.get(name(self._calls[1][now])):
                was = found.pop()
                del self.old[was], self.new[now]
                yield was, now


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
    yield f"calls[{index}]: {_brief(old)} → {_brief(new)}"


def _arguments(old: Call, new: Call, index: int) -> Iterator[str]:
    path = f"calls[{index}].args"
    texts = _json(old.arguments), _json(new.arguments)
    if not all(text and len(text) <= _LONGEST_COMPARED for text in texts):
        yield f"{path}: differ, and are too long to be compared"
        return
    try:
        lines = sorted(_parts(old.arguments, new.arguments, index))
    except RecursionError:
        lines = [f"{path}: differ, and nest too deeply to be compared"]
    yield from lines or [f"{path}: differ in how they are written"]


def _parts(old: Any, new: Any, index: int) -> Iterator[str]:
    from deepdiff import DeepDiff

    found = DeepDiff(old, new, view="tree", threshold_to_diff_deeper=0, ignore_nan_inequality=True)
    for kind, levels in found.items():
        for level in levels:
            path = path_text(("calls", index, "args", *level.path(output_format="list")))
            yield f"{path}: {_change(kind, level.t1, level.t2)}"


def _change(kind: str, old: Json, new: Json) -> str:
    if kind.endswith("_added"):
        return f"{_value(new)} is new"
    if kind.endswith("_removed"):
        return f"{_value(old)} is gone"
    change = f"{_value(old)} → {_value(new)}"
    return f"{change} (type {_type(old)} → {_type(new)})" if kind == "type_changes" else change


def _type(value: Json) -> str:
    return "null" if value is None else type(value).__name__


def _value(value: Json) -> str:
    return _cut(readable(value)) if isinstance(value, dict | list) else shown(value)


def _brief(call: Call) -> str:
    arguments = _json(call.arguments)
    return f"{_name(call)}({'…' if arguments is None else _cut(arguments[1:-1])})"


def _name(call: Call) -> str:
    return repr(call.name[:_LONGEST_SHOWN])[1:-1]


def _json(value: Json) -> str | None:
    """The text of a value; None where JSON cannot say it."""
    try:
        return readable(value)
    except (ValueError, TypeError, RecursionError):
        return None


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"
