"""Differences between two lists of calls, or of an app's requests, as lines for people."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Final, Generic, NamedTuple, TypeVar

from pytest_fcall.core.message_text import describe_changes, json_text, shorten
from pytest_fcall.core.reply import Call
from pytest_fcall.core.values import path_text
from pytest_fcall.tracking.question_digests import PROMPT_CHANGED, question_changes
from pytest_fcall.tracking.stanza import StanzaRequest, call_to_json, calls_to_json

T = TypeVar("T")


_LONGEST_SHOWN: Final = 60


def _call_key(call: Call) -> str:
    """A text that is equal for equal calls only; 1, 1.0 and true differ. Calls that are not JSON share one per name."""
    return json_text(call_to_json(call)) or f"{call.name}(…)"


def same_calls(old: Sequence[Call], new: Sequence[Call]) -> bool:
    """Whether both are the same calls in the same order; ids of the wire do not count."""
    return old is new or (len(old) == len(new) and all(map(_is_same_call, old, new)))


def call_differences(old: Sequence[Call], new: Sequence[Call]) -> list[str]:
    """A line for each call that moved, changed, is gone or is new, with the new indices."""
    sides = _Unpaired(old, new)
    kept = list(sides.pair_by(_call_key))
    changed = list(sides.pair_by(lambda call: call.name))
    renamed = list(sides.pair_by(type))  # all that is left, in order: a call is a call
    return [
        *(f"calls[{was}] {_short_name(new[now])} moved to calls[{now}]" for was, now in _moved_calls(kept)),
        *(line for was, now in changed for line in _argument_changes(old[was], new[now], now)),
        *(line for was, now in renamed for line in _renamed_call(old[was], new[now], now)),
        *(f"calls[{was}] {_short_call_text(old[was])} is gone" for was in sides.old),
        *(f"calls[{now}] {_short_call_text(new[now])} is new" for now in sides.new),
    ]


class _Unpaired(Generic[T]):
    """The items of two lists that have no partner yet, by index."""

    def __init__(self, old: Sequence[T], new: Sequence[T]) -> None:
        self._sides = old, new
        self.old = dict.fromkeys(range(len(old)))
        self.new = dict.fromkeys(range(len(new)))

    def pair_by(self, name: Callable[[T], Hashable]) -> Iterator[tuple[int, int]]:
        """Pair items of the same name, in order, and remove them."""
        waiting: dict[Hashable, list[int]] = {}
        for was in reversed(self.old):
            waiting.setdefault(name(self._sides[0][was]), []).append(was)
        for now in list(self.new):
            if same := waiting.get(name(self._sides[1][now])):
                was = same.pop()
                del self.old[was], self.new[now]
                yield was, now


def _is_same_call(old: Call, new: Call) -> bool:
    return old.name == new.name and _call_key(old) == _call_key(new)


def _moved_calls(kept: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The smallest set of unchanged calls whose moves explain the new order."""
    pairs = sorted(kept, key=lambda pair: pair[1])
    in_order = _longest_rising_subsequence([was for was, _ in pairs])
    return [pair for pair in pairs if pair[0] not in in_order]


def _longest_rising_subsequence(numbers: Sequence[int]) -> set[int]:
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


def _renamed_call(old: Call, new: Call, index: int) -> Iterator[str]:
    yield f"calls[{index}]: {_short_call_text(old)} → {_short_call_text(new)}"


def _argument_changes(old: Call, new: Call, index: int) -> list[str]:
    keys = ("calls", index, "args")
    lines = describe_changes(old.arguments, new.arguments, keys)
    return lines or [f"{path_text(keys)}: differ in type or spelling (1, 1.0 and true are different)"]


def _short_call_text(call: Call) -> str:
    arguments = json_text(call.arguments)
    return f"{_short_name(call)}({'…' if arguments is None else shorten(arguments[1:-1])})"


def _short_name(call: Call) -> str:
    return repr(call.name[:_LONGEST_SHOWN])[1:-1]


class _RequestPair(NamedTuple):
    """A request that is on both sides. `number` is its position in the new list, from 1."""

    old: StanzaRequest
    new: StanzaRequest
    number: int


def wire_differences(old: Sequence[StanzaRequest], new: Sequence[StanzaRequest]) -> list[str]:
    """A line for each request that is new or gone, and for each difference in the others.

    The order does not count: parallel requests come in any order.
    """
    sides = _Unpaired(old, new)
    pairs = [
        _RequestPair(old[was], new[now], now + 1)
        for name in (_request_key, _reply_key, lambda request: request.model, lambda _: None)
        for was, now in sides.pair_by(name)
    ]
    pairs.sort(key=lambda pair: pair.number)
    return [
        *(f"{_request_title(new[now], now + 1)} is new{_calls_text(new[now])}" for now in sides.new),
        *(f"{_request_title(old[was], was + 1)} is gone{_calls_text(old[was])}" for was in sides.old),
        *_question_lines(pairs),
        *(f"request {pair.number}: {line}" for pair in pairs for line in _reply_differences(pair)),
    ]


def _request_key(request: StanzaRequest) -> str:
    return f"{_reply_key(request)} {json_text(request.digests)}"


def _reply_key(request: StanzaRequest) -> str:
    return f"{request.model} {json_text(calls_to_json(request.calls))}"


def _question_lines(pairs: Sequence[_RequestPair]) -> Iterator[str]:
    """The differences between questions, each once, with the numbers of the requests that have it."""
    lines: dict[str, list[int]] = {}
    changed = False
    for pair in pairs:
        for line in _question_differences(pair):
            # After a changed request, later prompts change, too: they contain its reply.
            if line != PROMPT_CHANGED or not changed:
                lines.setdefault(line, []).append(pair.number)
        changed |= pair.old != pair.new
    for line, numbers in lines.items():
        yield f"{'request' if len(numbers) == 1 else 'requests'} {', '.join(map(str, numbers))}: {line}"


def _question_differences(pair: _RequestPair) -> Iterator[str]:
    if pair.old.model != pair.new.model:
        yield f"goes to {pair.new.model} instead of {pair.old.model}"
    yield from question_changes(pair.old.digests, pair.new.digests)


def _reply_differences(pair: _RequestPair) -> list[str]:
    if pair.old.calls is None or pair.new.calls is None:
        now = "can now be read" if pair.old.calls is None else "can no longer be read"
        return [] if pair.old.calls == pair.new.calls else [f"its reply {now}"]
    return call_differences(pair.old.calls, pair.new.calls)


def _request_title(request: StanzaRequest, number: int) -> str:
    return f"request {number} to {request.model}"


def _calls_text(request: StanzaRequest) -> str:
    calls = ", ".join(map(_short_call_text, request.calls or ()))
    return f": {calls}" if calls else ""
