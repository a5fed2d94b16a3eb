"""Recordings of a case file for version control: a file that people review, and its bookkeeping.

The file for review names the format and the model, and then has a line for each tool, system prompt and setting, and
one for each reply. Such a line changes only where what it shows changes.

The bookkeeping beside it has a line for each recording: the digest by which it is found, and the reply as it came. What
is shown of it must be in the file for review, so that nothing is replayed unseen. Each line stands for itself, so that
lines of two branches can be mixed, and one branch that shows another reply does not lose that of the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from pytest_fcall.backends.recordings.entry import Recording, Recordings
from pytest_fcall.backends.recordings.line import invalid_data, line_fields, recording_of, recording_to_data, request_of
from pytest_fcall.backends.recordings.review import (
    NO_CONTEXT,
    Context,
    ReadParts,
    Review,
    WrittenParts,
    instructions_of,
    review_of,
)
from pytest_fcall.core.backend import Model
from pytest_fcall.core.case import Fault, Location
from pytest_fcall.core.files import MOST_KEPT_BYTES, read_regular, refuse_link_out, replace_file, shared_path
from pytest_fcall.core.gc_pause import gc_paused
from pytest_fcall.core.json_data import DamagedData, LaterVersion, optional_field, readable_json, required_field
from pytest_fcall.core.values import Json

SUFFIX = ".replies.jsonl"
BOOKKEEPING_SUFFIX = ".recorded.jsonl"


def recordings_path(case_file: Path, model: Model) -> Path:
    """The file for review: `__fcall__/<model>/<name of the case file>.replies.jsonl`, beside the case file."""
    return shared_path(case_file, model.folder, SUFFIX)


def bookkeeping_path(path: Path) -> Path:
    """The bookkeeping of the file for review in `path`."""
    return path.with_name(path.name.removesuffix(SUFFIX) + BOOKKEEPING_SUFFIX)


def recordings_paths(case_file: Path, model: Model) -> tuple[Path, Path]:
    """The file for review, and its bookkeeping."""
    path = recordings_path(case_file, model)
    return path, bookkeeping_path(path)


def write_recordings(path: Path, model: Model, entries: Iterable[Recording]) -> bool:
    """Replace both files; return whether that changes anything. The same entries give the same bytes, in any order.

    Raises ValueError, and leaves the files as they are, if a reply is not valid JSON data.
    """
    parts = WrittenParts()
    replies, recorded = dict[str, None](), []
    for review, entry in sorted(((_review(each), each) for each in entries), key=_order):
        replies[review.line] = None
        recorded.append(_bookkeeping_line(entry, parts))
    header: dict[str, Json] = {"model": model.id, "version": VERSION}
    reviewed_lines = [readable_json({"fcall": "replies", **header}), *parts.lines(), *replies]
    recorded_lines = [readable_json({"fcall": "recorded", **header}), *parts.contexts(), *recorded]
    changes = [_replace(bookkeeping_path(path), recorded_lines), _replace(path, reviewed_lines)]
    return any(changes)


def remove_recordings(path: Path) -> None:
    """Remove both files. Raises OSError."""
    refuse_link_out(path)
    for each in (path, bookkeeping_path(path)):
        each.unlink(missing_ok=True)


def read_recordings(path: Path, model: Model | None = None) -> Recordings:
    """Read the file for review in `path`, and its bookkeeping; missing files have no recordings.

    Each damaged line becomes a fault, and the other lines are read. A reply that has no recording is a fault, and so is
    a recording whose reply is not shown; the recording counts nevertheless. With `model`, replies of another model are
    a fault, too.
    """
    with gc_paused():
        return _RecordingsReader(path, bookkeeping_path(path), model).read()


def _review(entry: Recording) -> Review:
    try:
        return review_of(entry)
    except (TypeError, ValueError, RecursionError) as error:
        raise invalid_data(entry, error) from error


def _order(reviewed: tuple[Review, Recording]) -> tuple[Review, str, str]:
    review, entry = reviewed
    return review, entry.digest, entry.recorded


def _bookkeeping_line(entry: Recording, parts: WrittenParts) -> str:
    own = entry.request.messages[len(instructions_of(entry.request)) :]
    try:
        return readable_json({**recording_to_data(entry, own), "context": parts.add(entry.request)})
    except (TypeError, ValueError, RecursionError) as error:
        raise invalid_data(entry, error) from error


def _replace(path: Path, lines: Iterable[str]) -> bool:
    """Replace a file unless it has these lines already."""
    content = "".join(f"{line}\n" for line in lines).encode()
    with suppress(FileNotFoundError):
        if read_regular(path, MOST_KEPT_BYTES).replace(b"\r\n", b"\n") == content:
            return False
    replace_file(path, [content])
    return True


VERSION = 2

_CONFLICT, _BASE, _MIDDLE, _END = b"<<<<<<< ", b"||||||| ", b"=======", b">>>>>>> "
_REPLY = b'{"case"'
"""Prefix of the line of a reply."""
_CONFLICT_CODE, _UNRECORDED, _UNREVIEWED = "merge-conflict", "unrecorded-reply", "unreviewed-recording"
MENDED_BY_EXPORT = frozenset({_CONFLICT_CODE, _UNRECORDED, _UNREVIEWED})
"""Codes of faults that are gone, and nothing with them, when the recordings are written again."""

_EXPORT = "`fcall record --export` rewrites the file with every recording that can be read."
_RECORD_AGAIN = "Restore the file from version control, or delete it and the one beside it and record its cases again."
_SOURCE_SHOWN = 200
"""Characters of a damaged line that a fault shows."""


class _Line(NamedTuple):
    number: int
    content: bytes


class _File:
    """One of the two files."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.content: bytes | None = None
        self.faults: list[Fault] = []
        self.version: Json = VERSION
        self.has_header = False
        self.model_id: str | None = None

    def load(self) -> bool:
        """Whether the file can be read, or is not there."""
        try:
            self.content = read_regular(self.path, MOST_KEPT_BYTES)
        except FileNotFoundError:
            return True
        except OSError as error:
            self.add_fault(_Line(1, b""), "damaged-recordings", f"the recordings cannot be read: {error.strerror}")
        return self.content is not None

    def lines(self) -> Iterator[_Line]:
        """The lines of both sides of a merge conflict, but not those that both sides began with."""
        is_base = False
        for number, line in enumerate((self.content or b"").removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
            stripped = line.strip()
            if stripped.startswith((_CONFLICT, _BASE, _MIDDLE, _END)):
                is_base = stripped.startswith(_BASE)
                if stripped.startswith(_CONFLICT):
                    self.add_fault(_Line(number, stripped), _CONFLICT_CODE, "an unresolved merge conflict", _EXPORT)
            elif stripped and not is_base:
                yield _Line(number, stripped)

    def read_header(self, line: _Line, fields: Mapping[str, Json]) -> None:
        """Read the line that names format and model. Raises DamagedData."""
        self.has_header = True
        self.version = fields.get("version")
        self.model_id = optional_field(fields, "model", str)
        if self.version != VERSION:
            message = f"recordings have format version {self.version!r}; this pytest-fcall reads only {VERSION}"
            hint = "Delete the file, and record its cases again: `fcall record --export` writes a new one."
            if type(self.version) is int and self.version > VERSION:
                message, hint = str(LaterVersion(self.version, VERSION)), ""
            self.add_fault(line, "recordings-version", message, hint)

    def add_fault(self, line: _Line, code: str, message: str, hint: str = "") -> None:
        source = line.content[:_SOURCE_SHOWN].decode(errors="replace")
        self.faults.append(Fault(code, Location(str(self.path), line.number), message, source, hint))


class _RecordingsReader:
    """Reads the two files of a case file once: the one for review in `path`, and the bookkeeping in `beside`."""

    def __init__(self, path: Path, beside: Path, model: Model | None) -> None:
        self._review = _File(path)
        self._bookkeeping = _File(beside)
        self._model = model
        self._parts = ReadParts()
        self._replies: dict[bytes, _Line] = {}
        """The lines of replies for review."""
        self._reviewed: set[bytes] = set()
        """Those that a recording belongs to."""
        self._recorded: dict[bytes, tuple[_Line, Mapping[str, Json]]] = {}
        """The lines of recordings. A merge may write one twice."""

    def read(self) -> Recordings:
        """The recordings, and what is wrong with the files."""
        entries = []
        if self._review.load() and self._bookkeeping.load():
            self._read_review()
            if self._review.version == VERSION and self._is_whole():
                self._read_bookkeeping()
                entries = [entry for each in self._recorded.values() if (entry := self._recording(*each))]
                self._report_unrecorded()
        for file in (self._review, self._bookkeeping):
            if file.version != VERSION:
                return Recordings(faults=file.faults[-1:])
        return Recordings(entries, [*self._review.faults, *self._bookkeeping.faults], self._review.model_id)

    def _is_whole(self) -> bool:
        """Whether both files are there. One without the other is a fault."""
        both = self._review, self._bookkeeping
        for file, other in (both, both[::-1]):
            if other.content is None and file.content is not None:
                message = f"{other.path.name}, which belongs to this file, is missing"
                hint = "Restore it from version control, or delete this file, too, and record its cases again."
                file.add_fault(_Line(1, b""), "damaged-recordings", message, hint)
        return all(file.content is not None for file in both)

    def _read_review(self) -> None:
        file = self._review
        for line in file.lines():
            if line.content.startswith(_REPLY):
                self._replies[line.content] = line
                continue
            try:
                fields = line_fields(line.content)
                if "fcall" in fields:
                    file.read_header(line, fields)
                    self._check_model(line)
                elif "reply" in fields:  # with its keys in another order
                    self._replies[line.content] = line
                else:
                    self._parts.read_part(fields)
            except DamagedData as error:
                file.add_fault(line, "damaged-recording", str(error), _RECORD_AGAIN)
            if file.version != VERSION:
                return
        if self._replies and not file.has_header:
            message = "the header line, which names format and model, is missing"
            file.add_fault(_Line(1, b""), "damaged-recordings", message, _RECORD_AGAIN)

    def _check_model(self, line: _Line) -> None:
        found = self._review.model_id
        if self._model is not None and found != self._model.id and self._review.version == VERSION:
            message = f"these are replies of {found!r}, not of {self._model.id!r}"
            self._review.add_fault(line, "recordings-model", message, "Move the files to that model's folder.")

    def _read_bookkeeping(self) -> None:
        file = self._bookkeeping
        for line in file.lines():
            try:
                fields = line_fields(line.content)
                if "request" in fields:
                    self._recorded[line.content] = line, fields
                elif "context" in fields:
                    self._parts.read_context(fields)
                elif "fcall" in fields:
                    file.read_header(line, fields)
                else:
                    message = "this line is neither a header, nor a context, nor a recording"
                    file.add_fault(line, "damaged-recording", message, _RECORD_AGAIN)
            except DamagedData as error:
                file.add_fault(line, "damaged-recording", str(error), _RECORD_AGAIN)
            if file.version != VERSION:
                return

    def _recording(self, line: _Line, fields: Mapping[str, Json]) -> Recording | None:
        try:
            context = self._context(line, required_field(fields, "context", str))
            recording = recording_of(fields, request_of(fields, context.tools, context.settings, context.instructions))
            shown = _review_line(recording)
        except DamagedData as error:
            self._bookkeeping.add_fault(line, "damaged-recording", str(error), _RECORD_AGAIN)
            return None
        if shown in self._replies:
            self._reviewed.add(shown)
        else:
            message = f"the reply of this recording is not in {self._review.path.name}"
            self._bookkeeping.add_fault(line, _UNREVIEWED, message, _EXPORT)
        return recording

    def _context(self, line: _Line, name: str) -> Context:
        try:
            return self._parts.context(name)
        except DamagedData as error:
            self._bookkeeping.add_fault(line, "damaged-recordings", str(error), _RECORD_AGAIN)
            return NO_CONTEXT

    def _report_unrecorded(self) -> None:
        """Report the replies that no recording belongs to, unless theirs may be one that is damaged."""
        if not MENDED_BY_EXPORT.issuperset(fault.code for fault in self._bookkeeping.faults):
            return
        for shown, line in self._replies.items():
            if shown not in self._reviewed:
                message = f"no recording in {self._bookkeeping.path.name} has this reply"
                self._review.add_fault(line, _UNRECORDED, message, _EXPORT)


def _review_line(recording: Recording) -> bytes:
    try:
        return review_of(recording).line.encode()
    except (TypeError, ValueError, RecursionError):
        raise DamagedData("the reply of this recording is nested too deeply") from None
