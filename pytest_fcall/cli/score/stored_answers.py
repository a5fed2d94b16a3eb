"""Stored answers to cases: rows with an id and a reply, recorded replies, and logs of inspect_ai."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from pytest_fcall.backends.recordings.entry import Recording, reply_from_data, reply_to_data
from pytest_fcall.backends.recordings.file import read_recordings
from pytest_fcall.core.files import open_regular, read_regular
from pytest_fcall.core.json_data import DamagedData
from pytest_fcall.core.parquet import SUFFIX
from pytest_fcall.core.storage import is_address
from pytest_fcall.core.values import Json
from pytest_fcall.suites.json_files import BrokenFile, BrokenRow, open_lines, parse_record, read_lines
from pytest_fcall.traces.formats import inspect
from pytest_fcall.traces.record import UnreadableTrace, UnusableRecord
from pytest_fcall.traces.values import document_value, items, mapping, text

_ZIP: Final = b"PK\x03\x04"
_ANSWERS: Final = ("reply", "replies", "recorded", "error")
_ROW: Final = (
    'a row is {"id": the id of a case, "reply": its answer}, or has `replies`: those of a conversation in order'
)
_OWN_KEY: Final = "key"
"""The field with the key of an answer, where the row has it."""
_DIGITS: Final = 16


class StoredAnswer(NamedTuple):
    """An answer to a case, as it stands in a row."""

    names: tuple[str, ...]
    """Names of its case, the more exact one first."""
    key: str
    """The identity of the answer: the key in the row, or else a digest of the answer."""
    replies: tuple[object, ...]
    """Each is what an app may return, or a Reply: one for each request, which a conversation has several of."""


def case_names(row: Mapping[str, Json]) -> tuple[str, ...]:
    """The names that a row gives its case: `id`, or `case` as plans do, each with the `file` where there is one."""
    name = text(row.get("id")) or text(row.get("case"))
    if name is None:
        return ()
    file = text(row.get("file"))
    return (f"{file}::{name}", name) if file else (name,)


def answer_key(row: Mapping[str, Json], field: str) -> str:
    """The key of an answer: what the row has in a field, or a digest. Raises BrokenRow for what can be no key."""
    own = row.get(field or _OWN_KEY)
    if isinstance(own, str) or (isinstance(own, int) and not isinstance(own, bool)):
        return str(own)
    if own is not None:
        raise BrokenRow(f"`{field or _OWN_KEY}` must be a text or a whole number; --key names another field")
    if field:
        raise BrokenRow(f"it has no `{field}`, the field that --key names")
    kept = {name: row[name] for name in ("id", "case", "file", *_ANSWERS) if row.get(name) is not None}
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()[:_DIGITS]


def stored_answer(row: Mapping[str, Json], key_field: str = "") -> StoredAnswer:
    """The answer in a row. Raises BrokenRow."""
    names = case_names(row)
    given = [name for name in _ANSWERS if row.get(name) is not None and (name != "error" or row[name])]
    if not names or len(given) != 1:
        raise BrokenRow(_ROW)
    key, value = answer_key(row, key_field), row[given[0]]
    if given == ["error"]:
        raise BrokenRow(f"there is no answer: {' '.join(str(value).split()):.300}")
    if given == ["reply"]:
        return StoredAnswer(names, key, (value,))
    if not isinstance(value, list):
        raise BrokenRow(_ROW)
    if given == ["replies"]:
        return StoredAnswer(names, key, tuple(value))
    try:
        return StoredAnswer(names, key, tuple(map(reply_from_data, value)))
    except DamagedData as damage:
        raise BrokenRow(str(damage)) from None


def rows_of_other_file(name: str) -> Iterator[bytes] | None:
    """The rows that stand for a log of inspect_ai or for recorded replies; None for a file of rows. Raises OSError."""
    if name == "-" or is_address(name) or name.endswith(SUFFIX) or not (path := Path(name)).is_file():
        return None
    with open_regular(path) as file:
        start = file.read(200)
    if start.startswith(_ZIP):
        return _lines(_sample_rows(sample for _, sample in inspect.file_samples(path)))
    if _is_recorded(start):
        return _lines(_recorded_rows(path))
    samples = _json_log(path)
    return None if samples is None else _lines(_sample_rows(samples))


def _lines(rows: Iterable[Mapping[str, Json]]) -> Iterator[bytes]:
    """Rows as lines of JSON. Raises BrokenFile."""
    try:
        for row in rows:
            yield json.dumps(row, default=dict).encode()
    except UnreadableTrace as problem:
        raise BrokenFile(str(problem)) from None


def _is_recorded(start: bytes) -> bool:
    try:
        return mapping(json.loads(start.partition(b"\n")[0])).get("fcall") == "replies"
    except ValueError:
        return False


def _json_log(path: Path) -> Iterator[Mapping[str, Json]] | None:
    """The samples of logs as JSON: one on each line, or one over all lines; None where it is neither."""
    try:
        with open_lines(path) as stream:
            first = next(iter(read_lines(stream)), b"")
        try:
            return _samples_of_lines(path) if inspect.matches(parse_record(first)) else None
        except BrokenRow:
            log = mapping(document_value(read_regular(path), path.name))
    except (UnreadableTrace, OSError):
        return None
    return map(mapping, items(log["samples"])) if inspect.matches(log) else None


def _samples_of_lines(path: Path) -> Iterator[Mapping[str, Json]]:
    with open_lines(path) as stream:
        for number, line in enumerate(read_lines(stream), 1):
            try:
                log = parse_record(line)
            except BrokenRow as problem:
                raise UnreadableTrace(f"line {number}: {problem}") from None
            if not inspect.matches(log):
                raise UnreadableTrace(f"line {number} is no log of inspect_ai, as the first line is")
            yield from map(mapping, items(log["samples"]))


def _sample_rows(samples: Iterable[Mapping[str, Json]]) -> Iterator[Mapping[str, Json]]:
    """A row for each sample of a log, whose ids are those of cases."""
    for sample in samples:
        row: dict[str, Json] = {"id": str(sample.get("id"))}
        if own := text(sample.get("uuid")):
            row[_OWN_KEY] = own
        try:
            yield {**row, "reply": [dict(message) for message in inspect.sample_answer(sample)]}
        except UnusableRecord as problem:
            yield {**row, "error": f"sample {row['id']}: {problem}"}


def _recorded_rows(path: Path) -> Iterator[Mapping[str, Json]]:
    """A row for each answer in a file of recordings, whose replies to a case stand in the order of its requests."""
    recordings = read_recordings(path)
    for fault in recordings.faults:
        yield {"id": str(path), "error": f"{path}:{fault.location.line}: {fault.message}"}
    found: dict[tuple[str, int], list[Recording]] = {}
    for entry in recordings.entries:
        if entry.http_answer is None:
            found.setdefault((entry.case, entry.request.sample), []).append(entry)
    if recordings.entries and not found:
        yield {"id": str(path), "error": "it holds what an app asked its models, and not what the app answered"}
    for (case, _), entries in found.items():
        steps = sorted(entries, key=lambda entry: len(entry.request.messages))
        if len({len(entry.request.messages) for entry in steps}) < len(steps):
            yield {"id": case, "error": "answers to two versions of the case are recorded, and which is meant is open"}
        else:
            yield {"id": case, "recorded": [reply_to_data(entry.reply) for entry in steps]}
