"""Toolscore: gold files, which hold expected calls. What was asked is in the trace beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from pytest_fcall.core.files import read_regular
from pytest_fcall.core.values import Json, Message
from pytest_fcall.traces.formats.dataset_cases import DatasetCase, ExpectedAnswer, RequiredCall, arguments_of
from pytest_fcall.traces.formats.exchanges import request_messages
from pytest_fcall.traces.record import Record, SkippedEntry, UnreadableTrace, UnusableRecord
from pytest_fcall.traces.request_parts import is_instruction
from pytest_fcall.traces.values import document_value, items, mapping, text

_ASKED: Final = "fcall:asked"
_FEW: Final = "put the one trace whose messages hold it into the same folder"


def matches(data: Mapping[str, Json]) -> bool:
    """Whether it is a gold file, or a snapshot."""
    return gold_file_of_calls(items(data.get("calls"))) is not None


def gold_file_of_calls(rows: Sequence[Json]) -> Mapping[str, Json] | None:
    """The gold file that a list of calls is."""
    calls = [mapping(row) for row in rows]
    is_gold = bool(calls) and all(isinstance(call.get("tool"), str) and "role" not in call for call in calls)
    return {"calls": rows} if is_gold else None


def with_files(data: Mapping[str, Json], folder: Path) -> Mapping[str, Json]:
    """The gold file with the messages of each trace beside it that begins with what a user said."""
    asked: list[Json] = []
    for path in sorted(folder.glob("*.json")):
        try:
            asked += _asked(document_value(read_regular(path), path.name))
        except (UnreadableTrace, UnusableRecord, OSError):
            continue
    return {**data, _ASKED: asked}


def _asked(trace: Json) -> list[Json]:
    """The messages before the first answer of a trace, as a list of one; empty where they hold no question."""
    held = trace if isinstance(trace, Mapping) else {"messages": trace}
    if not isinstance(held.get("messages"), list):
        return []
    before: list[Message] = []
    for message in request_messages(held):
        if message["role"] == "assistant":
            break
        before.append(message)
    return [list(before)] if any(not is_instruction(message) for message in before) else []


def read(data: Mapping[str, Json], place: str) -> Iterator[Record | SkippedEntry]:
    """The record of the gold file with the question of its trace."""
    asked = items(data.get(_ASKED))
    if len(asked) != 1:
        found = f"there are {len(asked)} beside it" if asked else "no trace beside it does"
        yield SkippedEntry(place, f"a gold file does not hold what was asked, and {found}: {_FEW}")
        return
    case = DatasetCase(place)
    case.messages = tuple(_message(each) for each in items(asked[0]))
    calls: list[RequiredCall] = []
    for gold in map(mapping, items(data["calls"])):
        calls.append(RequiredCall(text(gold.get("tool")) or "", arguments_of(gold.get("args"))))
        if gold.get("side_effects"):
            case.leave_out("`side_effects`", gold)
    case.expected = [ExpectedAnswer(calls, in_order=True)]
    yield from case.entries("Toolscore")


def _message(data: Json) -> Message:
    return {"content": "", **mapping(data), "role": str(mapping(data).get("role"))}
