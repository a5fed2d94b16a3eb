"""Runs of tools, whose failures mark the results that models got of them as errors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from pytest_fcall.core import Json, digest
from pytest_fcall.traces.record import Record, ToolRun
from pytest_fcall.traces.values import items, mapping, parsed, text


class _KnownRun(NamedTuple):
    """A run without its arguments, which may be long."""

    name: str
    id: str
    call: str | None
    """The digest of its name and arguments; None where the arguments are not known."""
    time: str
    failed: bool


class ToolRuns:
    """The runs of tools in some traces."""

    def __init__(self) -> None:
        self._by_trace: dict[str, list[_KnownRun]] = {}

    def add(self, run: ToolRun) -> None:
        """Add a run. One of an unknown trace belongs to no record."""
        if run.trace:
            call = None if run.arguments is None else digest([run.name, run.arguments])
            known = _KnownRun(run.name, run.id, call, run.time, run.failed)
            self._by_trace.setdefault(run.trace, []).append(known)

    def marked(self, record: Record) -> Record:
        """The record, in which the results of runs that failed are marked as errors."""
        runs = self._by_trace.get(record.trace, [])
        if not any(run.failed for run in runs):
            return record
        failed = set(_failed_places(record, runs))
        messages = enumerate(record.messages)
        marked = ({**message, "is_error": True} if place in failed else message for place, message in messages)
        return replace(record, messages=tuple(marked))


def _failed_places(record: Record, runs: Sequence[_KnownRun]) -> Iterator[int]:
    """The places of results whose calls failed: by the id of the call, or in order among runs with equal arguments.

    Where a trace holds more or fewer runs than calls, it is not known which is which, and none is taken.
    """
    by_id = {run.id: run for run in runs if run.id}
    groups: dict[str, list[int]] = {}
    unnamed = {run.name for run in runs if run.call is None}
    for place, id_, name, arguments in _answered_calls(record):
        if id_ in by_id:
            if by_id[id_].failed:
                yield place
        else:
            key = name if name in unnamed else digest([name, arguments])
            groups.setdefault(key, []).append(place)
    own: dict[str, list[_KnownRun]] = {}
    for run in sorted((run for run in runs if not run.id), key=lambda run: run.time):
        key = run.call if run.call is not None and run.name not in unnamed else run.name
        own.setdefault(key, []).append(run)
    for key, places in groups.items():
        if len(places) == len(own.get(key, ())):
            yield from (place for place, run in zip(places, own[key], strict=True) if run.failed)


def _answered_calls(record: Record) -> Iterable[tuple[int, str, str, Json]]:
    """The place of each result, and the id, the name and the arguments of its call."""
    calls: dict[str, Mapping[str, Json]] = {}
    for place, message in enumerate(record.messages):
        for call in map(mapping, items(message.get("tool_calls"))):
            calls[text(call.get("id")) or ""] = mapping(call.get("function"))
        id_ = text(message.get("tool_call_id")) or ""
        if message["role"] == "tool" and id_ in calls:
            yield place, id_, text(calls[id_].get("name")) or "", parsed(calls[id_].get("arguments"))
