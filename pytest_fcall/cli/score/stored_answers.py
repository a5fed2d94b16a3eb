"""Stored answers to cases: rows with an id and a reply, recorded replies, and logs of inspect_ai."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from pytest_fcall.backends.recordings.file import read_recordings
from pytest_fcall.cli.score.rows import row_batches
from pytest_fcall.core.parquet import SUFFIX
from pytest_fcall.core.regular_file import open_regular, read_regular
from pytest_fcall.core.storage import is_address
from pytest_fcall.core.values import Json
from pytest_fcall.suites.json_files import BrokenRow, parse_record
from pytest_fcall.traces.formats import inspect
from pytest_fcall.traces.record import UnreadableTrace, UnusableRecord
from pytest_fcall.traces.values import document_value, items, mapping, text

_ZIP: Final = b"PK\x03\x04"
_ROW: Final = (
    'a row is {"id": the id of a case, "reply": its answer}, or has `replies`: those of a conversation in order'
)


class StoredAnswer(NamedTuple):
    """The answer to a case."""

    place: str
    """The file, and the line or the sample."""
    replies: tuple[object, ...]
    """An answer that an app in Python may return: one for each request, which a conversation has several of."""


@dataclass(slots=True)
class StoredAnswers:
    """The answers in some files, and what cannot be used of them."""

    by_id: dict[str, StoredAnswer] = field(default_factory=dict)
    clashes: dict[str, list[str]] = field(default_factory=dict)
    """The places of different answers to the same case, none of which counts."""
    repeated: int = 0
    """The number of answers that stand there once more."""
    broken: list[str] = field(default_factory=list)
    """Lines on what is no answer, each with its place."""

    def add(self, id_: str, answer: StoredAnswer) -> None:
        """Add an answer."""
        if id_ in self.clashes:
            self.clashes[id_].append(answer.place)
        elif (known := self.by_id.get(id_)) is None:
            self.by_id[id_] = answer
        elif _same(known.replies, answer.replies):
            self.repeated += 1
        else:
            del self.by_id[id_]
            self.clashes[id_] = [known.place, answer.place]


def _same(left: Sequence[object], right: Sequence[object]) -> bool:
    """Whether two answers are the same JSON, in which true is not 1."""
    return left == right and repr(left) == repr(right)


def read_answers(files: Iterable[str], as_json: frozenset[str] = frozenset()) -> StoredAnswers:
    """The answers in files; `-` is standard input. Of Parquet the columns `as_json` hold JSON as text."""
    answers = StoredAnswers()
    for name in files:
        path = Path(name)
        if is_address(name) or name.endswith(SUFFIX):
            _add_rows(answers, name, as_json)
            continue
        if name != "-" and (start := _start(path)).startswith(_ZIP):
            _add_samples(answers, name, _eval_samples(path))
        elif name != "-" and _is_recorded(start):
            _add_recorded(answers, path)
        else:
            _add_rows(answers, name)
    return answers


def _start(path: Path) -> bytes:
    with open_regular(path) as file:
        return file.read(200)


def _is_recorded(start: bytes) -> bool:
    try:
        return mapping(json.loads(start.partition(b"\n")[0])).get("fcall") == "replies"
    except ValueError:
        return False


def _eval_samples(path: Path) -> Iterator[Mapping[str, Json]]:
    return (sample for _, sample in inspect.file_samples(path))


def _add_samples(answers: StoredAnswers, name: str, samples: Iterable[Mapping[str, Json]]) -> None:
    """Add the samples of a log, whose ids are those of cases."""
    try:
        for sample in samples:
            place = f"{name}: sample {sample.get('id')}"
            try:
                messages = [dict(message) for message in inspect.sample_answer(sample)]
                answers.add(str(sample.get("id")), StoredAnswer(place, (messages,)))
            except UnusableRecord as problem:
                answers.broken.append(f"{place}: {problem}")
    except UnreadableTrace as problem:
        answers.broken.append(f"{name}: {problem}")


def _add_recorded(answers: StoredAnswers, path: Path) -> None:
    """Add the replies of a file of recordings, those of a conversation in the order of its requests."""
    recordings = read_recordings(path)
    answers.broken += (f"{path}:{fault.location.line}: {fault.message}" for fault in recordings.faults)
    own = [entry for entry in recordings.entries if entry.http_answer is None and not entry.request.sample]
    if len(own) < len(recordings.entries) and not own:
        answers.broken.append(f"{path}: it holds what an app asked its models, and not what the app answered")
    for case in dict.fromkeys(entry.case for entry in own):
        steps = sorted((entry for entry in own if entry.case == case), key=lambda entry: len(entry.request.messages))
        lengths = [len(entry.request.messages) for entry in steps]
        if len(set(lengths)) < len(lengths):  # of two versions of the case
            answers.clashes[case] = [str(path)] * 2
        else:
            answers.add(case, StoredAnswer(str(path), tuple(entry.reply for entry in steps)))


def _add_rows(answers: StoredAnswers, name: str, as_json: frozenset[str] = frozenset()) -> None:
    """Add the rows of a file; or the samples, where it is a log of inspect_ai as JSON."""
    for batch in row_batches([name], as_json):
        for number, line in enumerate(batch.lines, batch.first):
            if not line.strip():
                continue
            place = f"{batch.file}:{number}"
            try:
                row = parse_record(line)
            except BrokenRow as problem:
                if number == 1 and name != "-" and not is_address(name) and (log := _json_log(Path(name))) is not None:
                    _add_samples(answers, name, log)
                    return
                answers.broken.append(f"{place}: {problem}")
                continue
            if inspect.matches(row):
                _add_samples(answers, place, map(mapping, items(row["samples"])))
            else:
                _add_row(answers, place, row)
        if batch.broken is not None:
            answers.broken.append(f"{batch.file}:{batch.first + len(batch.lines)}: {batch.broken}")


def _json_log(path: Path) -> list[Mapping[str, Json]] | None:
    """The samples of a log that is one JSON value over many lines; None where it is no log."""
    try:
        log = mapping(document_value(read_regular(path), path.name))
    except (UnreadableTrace, OSError):
        return None
    return [mapping(sample) for sample in items(log["samples"])] if inspect.matches(log) else None


def _add_row(answers: StoredAnswers, place: str, row: Mapping[str, Json]) -> None:
    id_, replies = text(row.get("id")), row.get("replies")
    if id_ is None or ("reply" in row) == ("replies" in row) or ("replies" in row and not isinstance(replies, list)):
        answers.broken.append(f"{place}: {_ROW}")
    else:
        answers.add(id_, StoredAnswer(place, tuple(replies) if isinstance(replies, list) else (row["reply"],)))
