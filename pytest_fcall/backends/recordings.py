"""Recorded replies in files for version control: JSON lines, one thing a line, sorted.

The first line names the format and the model, the next lines hold each tool catalogue once, and then comes one
line for each reply, by case and sample.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from pytest_fcall.backends.fields import Damaged, optional, required
from pytest_fcall.backends.lines import entry_line, entry_of, row_of, tools_line, tools_of
from pytest_fcall.backends.recorded import Recorded, Recordings
from pytest_fcall.core import Fault, Json, Location, Model, Tool, catalogue_digest
from pytest_fcall.core.readable import readable

VERSION = 1


def recordings_path(case_file: Path, model: Model) -> Path:
    """Name the file of recordings: `__fcall__/<model>/<whole name of the case file>.replies.jsonl`, beside it."""
    return case_file.parent / "__fcall__" / model.folder / f"{case_file.name}.replies.jsonl"


def write_recordings(path: Path, model: Model, entries: Iterable[Recorded]) -> None:
    """Replace the file at once; the same entries give the same bytes, in whatever order they come.

    Raises ValueError, and leaves the file as it is, where a reply holds something that JSON cannot say.
    """
    entries = list(entries)
    tools = {catalogue_digest(entry.request.tools): entry.request.tools for entry in entries}
    rows = sorted(
        (entry.case, entry.request.sample, entry_line(entry, catalogue_digest(entry.request.tools)))
        for entry in entries
    )
    lines = [
        readable({"fcall": "replies", "version": VERSION, "model": model.id}),
        *sorted(tools_line(digest, catalogue) for digest, catalogue in tools.items()),
        *(row for *_, row in rows),
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_bytes("".join(f"{text}\n" for text in lines).encode())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def read_recordings(path: Path, model: Model | None = None) -> Recordings:
    """Read the file; one that is not there is empty.

    Damaged lines become faults, and the others count. With `model`, replies of any other one are a fault too.
    """
    reading = _Reading(path, model)
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return Recordings()
    except OSError as error:
        reading.fault(1, "damaged-recordings", f"the recordings cannot be read: {error.strerror}")
        return Recordings(faults=reading.faults)
    return reading.read(content)


class _Reading:
    """One pass over one file."""

    def __init__(self, path: Path, model: Model | None) -> None:
        self.path = path
        self.model = model
        self.version: Json = VERSION
        self.headed = False
        self.model_id: str | None = None
        self.faults: list[Fault] = []
        self.catalogues: dict[str, tuple[Tool, ...]] = {}
        self.replies: list[tuple[int, bytes, Mapping[str, Json]]] = []

    def read(self, content: bytes) -> Recordings:
        for number, text in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
            self.line(number, text.strip())
            if self.version != VERSION:
                return Recordings(faults=self.faults[-1:])
        if self.replies and not self.headed:
            self.fault(1, "damaged-recordings", "the line that names format and model is missing", _RECORD_AGAIN)
        entries = [entry for reply in self.replies if (entry := self.entry(*reply))]
        return Recordings(entries, self.faults, self.model_id)

    def line(self, number: int, line: bytes) -> None:
        if line.startswith(_CONFLICT):
            self.fault(number, "merge-conflict", "an unresolved merge conflict", _RESOLVE, line)
        elif line and not line.startswith(_CONFLICT_GOES_ON):
            try:
                self.row(number, line, row_of(line))
            except Damaged as error:
                self.fault(number, "damaged-recording", str(error), _RECORD_AGAIN, line)

    def row(self, number: int, line: bytes, row: Mapping[str, Json]) -> None:
        if "fcall" in row:
            self.header(number, line, row)
        elif "tools" in row:
            self.catalogues[required(row, "catalogue", str)] = tools_of(row)
        elif "request" in row:
            self.replies.append((number, line, row))
        else:
            raise Damaged("this line is neither a header, nor tools, nor a reply")

    def header(self, number: int, line: bytes, row: Mapping[str, Json]) -> None:
        self.headed = True
        self.version = row.get("version")
        self.model_id = optional(row, "model", str)
        if self.version != VERSION:
            message = f"recordings of format version {self.version!r}, and only {VERSION} can be read"
            self.fault(number, "recordings-version", message, _RECORD_AGAIN, line)
        elif self.model is not None and row.get("model") != self.model.id:
            message = f"these are replies of {row.get('model')!r}, not of {self.model.id!r}"
            self.fault(number, "recordings-model", message, "Move the file to that model's folder.", line)

    def entry(self, number: int, line: bytes, row: Mapping[str, Json]) -> Recorded | None:
        try:
            catalogue = optional(row, "catalogue", str)
            if catalogue is not None and catalogue not in self.catalogues:
                self.catalogues[catalogue] = ()
                self.fault(
                    number, "damaged-recordings", "the tools of this reply are not in the file", _RECORD_AGAIN, line
                )
            return entry_of(row, self.catalogues.get(catalogue or "", ()))
        except Damaged as error:
            self.fault(number, "damaged-recording", str(error), _RECORD_AGAIN, line)
            return None

    def fault(self, number: int, code: str, message: str, hint: str = "", line: bytes = b"") -> None:
        source = line[:_SOURCE_SHOWN].decode(errors="replace")
        self.faults.append(Fault(code, Location(str(self.path), number), message, source, hint))


_CONFLICT = b"<<<<<<< "
_CONFLICT_GOES_ON = (b"||||||| ", b"=======", b">>>>>>> ")
_RECORD_AGAIN = "Restore the file from version control, or record its cases again."
_RESOLVE = "Resolve it; replies of both sides may stay, each on a line of its own."
_SOURCE_SHOWN = 200
