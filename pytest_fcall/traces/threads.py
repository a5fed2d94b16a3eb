"""Answers that belong to one conversation, joined."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256

from pytest_fcall.core import Message
from pytest_fcall.core.readable import readable
from pytest_fcall.traces.record import Record
from pytest_fcall.traces.values import items, mapping, parsed


class Threads:
    """Takes records one by one and keeps the longest of those that go on from each other.

    A request repeats all that was said before, so that a record which begins with the whole of another one contains
    it. System messages count for nothing there: they may tell the time. Order counts for nothing either.
    """

    def __init__(self) -> None:
        self._kept: dict[bytes, Record] = {}
        self._passed: set[bytes] = set()
        """Beginnings of longer records."""
        self._by_id: dict[str, Record] = {}
        self.equal = 0
        """How often the same question was answered in the same way."""

    def take(self, record: Record) -> None:
        """Add a record."""
        if record.after in self._by_id:
            record = replace(record, trail=(*self._by_id[record.after].trail, *_new(record.trail)), after="")
        if record.id:
            self._by_id[record.id] = record
        *before, whole = _beginnings(record.trail)
        self.equal += whole in self._kept
        if whole not in self._passed:
            self._kept[whole] = record
        for beginning in before:
            self._kept.pop(beginning, None)
            self._passed.add(beginning)

    def __iter__(self) -> Iterator[Record]:
        return iter(self._kept.values())


def _new(trail: tuple[Message, ...]) -> tuple[Message, ...]:
    """What a request adds to what the provider has kept: instructions are sent again each time."""
    return tuple(message for message in trail if message["role"] not in ("system", "developer"))


def _beginnings(trail: tuple[Message, ...]) -> list[bytes]:
    """The name of each beginning that ends in an answer, and that of the whole."""
    running = sha256()
    names: list[bytes] = []
    for message in trail:
        if message["role"] not in ("system", "developer"):
            running.update(_same(message).encode("utf-8", "surrogatepass"))
        if message["role"] == "assistant":
            names.append(running.digest())
    if not trail or trail[-1]["role"] != "assistant":
        names.append(running.digest())
    return names


def _same(message: Message) -> str:
    """What makes a message the same one: agents send calls back with other ids, and arguments written otherwise."""
    calls = [mapping(mapping(call).get("function")) for call in items(message.get("tool_calls"))]
    told = [(call.get("name"), parsed(call.get("arguments"))) for call in calls]
    return readable([message["role"], message.get("content") or "", [list(each) for each in told]])
