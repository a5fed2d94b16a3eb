"""What an app asks of models otherwise than before, in words: `request 2 to gpt-5.2 is new: search("to": "Oslo")`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pytest_fcall.schema.changes import json_text
from pytest_fcall.tracking.difference import call_brief, differences
from pytest_fcall.tracking.kept_calls import calls_to_json
from pytest_fcall.tracking.question import PROMPT_CHANGED, changes
from pytest_fcall.tracking.sides import Sides
from pytest_fcall.tracking.wire import WireRequest


class _Pair(NamedTuple):
    """A request that is there on both sides; requests are counted from 1 where people read it."""

    old: WireRequest
    new: WireRequest
    number: int


def wire_changes(old: Sequence[WireRequest], new: Sequence[WireRequest]) -> list[str]:
    """Say what became of `old`, a line each: requests that are new or gone, then what is otherwise in the others.

    Requests that are sent at the same time come in any order, so order counts for nothing.
    """
    sides = Sides(old, new)
    pairs = [
        _Pair(old[was], new[now], now + 1)
        for name in (_whole, _answered, _model, lambda _: "")
        for was, now in sides.take(name)
    ]
    pairs.sort(key=lambda pair: pair.number)
    return [
        *(f"{_named(new[now], now + 1)} is new{_called(new[now])}" for now in sides.new),
        *(f"{_named(old[was], was + 1)} is gone{_called(old[was])}" for was in sides.old),
        *_of_questions(pairs),
        *(f"request {pair.number}: {line}" for pair in pairs for line in _of_reply(pair)),
    ]


def _whole(request: WireRequest) -> str:
    return f"{_answered(request)} {json_text(request.digests)}"


def _answered(request: WireRequest) -> str:
    return f"{request.model} {json_text(calls_to_json(request.calls))}"


def _model(request: WireRequest) -> str:
    return request.model


def _of_questions(pairs: Sequence[_Pair]) -> Iterator[str]:
    """What was asked otherwise, each thing once, with the requests that it is true of."""
    found: dict[str, list[int]] = {}
    changed = False
    for pair in pairs:
        for line in _of_question(pair):
            # Later requests repeat what came of this one.
            if line != PROMPT_CHANGED or not changed:
                found.setdefault(line, []).append(pair.number)
        changed |= pair.old != pair.new
    for line, numbers in found.items():
        yield f"{'request' if len(numbers) == 1 else 'requests'} {', '.join(map(str, numbers))}: {line}"


def _of_question(pair: _Pair) -> Iterator[str]:
    if pair.old.model != pair.new.model:
        yield f"goes to {pair.new.model} instead of {pair.old.model}"
    yield from changes(pair.old.digests, pair.new.digests)


def _of_reply(pair: _Pair) -> list[str]:
    if pair.old.calls is None or pair.new.calls is None:
        readable = "can" if pair.old.calls is None else "cannot"
        return [] if pair.old.calls == pair.new.calls else [f"its reply {readable} be read now"]
    return differences(pair.old.calls, pair.new.calls)


def _named(request: WireRequest, number: int) -> str:
    return f"request {number} to {request.model}"


def _called(request: WireRequest) -> str:
    calls = ", ".join(map(call_brief, request.calls or ()))
    return f": {calls}" if calls else ""
