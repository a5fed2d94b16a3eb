"""Files of recordings for version control: JSON lines, sorted.

The first line names the format and the model, the next lines hold each tool catalogue once, and then comes one
line for each reply, by case and sample.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from pytest_fcall.backends.recordings.entry import (
    Recording,
    Recordings,
    UnreadRecording,
    http_answer_from_data,
    reply_from_data,
    reply_to_data,
)
from pytest_fcall.backends.redaction import without_secrets
from pytest_fcall.core import Fault, Json, Location, Model, Request, Tool, catalogue_digest
from pytest_fcall.core.json_fields import DamagedData, as_mapping, optional_field, optional_number, required_field
from pytest_fcall.core.readable_json import readable_json


def recording_line(entry: Recording | UnreadRecording, catalogue: str) -> str:
    """Say a reply in one line; `catalogue` is the digest of its tools, which the line leaves out, as it does secrets.

    Raises ValueError where the reply holds something that JSON cannot say.
    """
    try:
        return readable_json(
            {
                "case": entry.case,
                "sample": entry.request.sample,
                "request": entry.digest,
                "messages": list(entry.request.messages),
                "catalogue": catalogue,
                "settings": without_secrets(entry.request.settings),
                "recorded": entry.recorded,
                **_answer(entry),
            }
        )
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"the reply to case {entry.case!r} cannot be recorded: {error}") from error


def _answer(entry: Recording | UnreadRecording) -> dict[str, Json]:
    if isinstance(entry, UnreadRecording):
        return {"path": entry.path, "seconds": entry.seconds, "wire": entry.wire.to_data()}
    return {"reply": reply_to_data(entry.reply), **({"wire": entry.wire.to_data()} if entry.wire else {})}


def recording_of(row: Mapping[str, Json], tools: tuple[Tool, ...]) -> Recording:
    """Read what `entry_line` wrote. Any other data is `Damaged`."""
    case, digest = required_field(row, "case", str), required_field(row, "request", str)
    request = Request(
        messages=tuple(as_mapping(item, "a message") for item in optional_field(row, "messages", list) or ()),
        tools=tools,
        settings=optional_field(row, "settings", dict) or {},
        sample=optional_field(row, "sample", int) or 0,
    )
    recorded = optional_field(row, "recorded", str) or ""
    wire = http_answer_from_data(row["wire"]) if row.get("wire") is not None else None
    if wire and "reply" not in row:
        from pytest_fcall.backends.recordings.answers import read_recording

        path, seconds = required_field(row, "path", str), optional_number(row, "seconds")
        return read_recording(UnreadRecording(case, digest, request, path, wire, seconds, recorded))
    return Recording(case, digest, request, reply_from_data(row.get("reply")), recorded, wire)


def catalogue_line(catalogue: str, tools: Iterable[Tool]) -> str:
    """Say a catalogue of tools, and its digest, in one line."""
    plain: list[Json] = [
        {"name": tool.name, "description": tool.description, "parameters": tool.parameters} for tool in tools
    ]
    return readable_json({"catalogue": catalogue, "tools": plain})


def catalogue_of(row: Mapping[str, Json]) -> tuple[Tool, ...]:
    """Read the tools of what `tools_line` wrote. Any other data is `Damaged`."""
    return tuple(_tool(as_mapping(tool, "a tool")) for tool in required_field(row, "tools", list))


def _tool(fields: Mapping[str, Json]) -> Tool:
    return Tool(
        name=required_field(fields, "name", str),
        description=optional_field(fields, "description", str) or "",
        parameters=required_field(fields, "parameters", dict),
    )


def line_fields(line: bytes) -> Mapping[str, Json]:
    """Take a line apart. Whatever is no JSON object is `Damaged`."""
    try:
        row: Json = json.loads(line)
    except UnicodeDecodeError:
        raise DamagedData("this line is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise DamagedData(f"this line is not JSON: {error.msg} at column {error.colno}") from None
    except (ValueError, RecursionError):
        raise DamagedData("this line nests too deeply or holds a number that is too long") from None
    return as_mapping(row, "this line")


VERSION = 1


def recordings_path(case_file: Path, model: Model) -> Path:
    """Name the file of recordings: `__fcall__/<model>/<whole name of the case file>.replies.jsonl`, beside it."""
    return case_file.parent / "__fcall__" / model.folder / f"{case_file.name}.replies.jsonl"


def write_recordings(path: Path, model: Model, entries: Iterable[Recording]) -> None:
    """Replace the file at once; the same entries give the same bytes, in whatever order they come.

    Raises ValueError, and leaves the file as it is, where a reply holds something that JSON cannot say.
    """
    entries = list(entries)
    tools = {catalogue_digest(entry.request.tools): entry.request.tools for entry in entries}
    rows = sorted(
        (entry.case, entry.request.sample, recording_line(entry, catalogue_digest(entry.request.tools)))
        for entry in entries
    )
    lines = [
        readable_json({"fcall": "replies", "version": VERSION, "model": model.id}),
        *sorted(catalogue_line(digest, catalogue) for digest, catalogue in tools.items()),
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
    reading = _FileReader(path, model)
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return Recordings()
    except OSError as error:
        reading.fault(1, "damaged-recordings", f"the recordings cannot be read: {error.strerror}")
        return Recordings(faults=reading.faults)
    return reading.read(content)


class _FileReader:
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
        elif line and not line.startswith(_CONFLICT_CONTINUED):
            try:
                self.row(number, line, line_fields(line))
            except DamagedData as error:
                self.fault(number, "damaged-recording", str(error), _RECORD_AGAIN, line)

    def row(self, number: int, line: bytes, row: Mapping[str, Json]) -> None:
        if "fcall" in row:
            self.header(number, line, row)
        elif "tools" in row:
            self.catalogues[required_field(row, "catalogue", str)] = catalogue_of(row)
        elif "request" in row:
            self.replies.append((number, line, row))
        else:
            raise DamagedData("this line is neither a header, nor tools, nor a reply")

    def header(self, number: int, line: bytes, row: Mapping[str, Json]) -> None:
        self.headed = True
        self.version = row.get("version")
        self.model_id = optional_field(row, "model", str)
        if self.version != VERSION:
            message = f"recordings of format version {self.version!r}, and only {VERSION} can be read"
            self.fault(number, "recordings-version", message, _RECORD_AGAIN, line)
        elif self.model is not None and row.get("model") != self.model.id:
            message = f"these are replies of {row.get('model')!r}, not of {self.model.id!r}"
            self.fault(number, "recordings-model", message, "Move the file to that model's folder.", line)

    def entry(self, number: int, line: bytes, row: Mapping[str, Json]) -> Recording | None:
        try:
            catalogue = optional_field(row, "catalogue", str)
            if catalogue is not None and catalogue not in self.catalogues:
                self.catalogues[catalogue] = ()
                self.fault(
                    number, "damaged-recordings", "the tools of this reply are not in the file", _RECORD_AGAIN, line
                )
            return recording_of(row, self.catalogues.get(catalogue or "", ()))
        except DamagedData as error:
            self.fault(number, "damaged-recording", str(error), _RECORD_AGAIN, line)
            return None

    def fault(self, number: int, code: str, message: str, hint: str = "", line: bytes = b"") -> None:
        source = line[:_SOURCE_SHOWN].decode(errors="replace")
        self.faults.append(Fault(code, Location(str(self.path), number), message, source, hint))


_CONFLICT = b"<<<<<<< "
_CONFLICT_CONTINUED = (b"||||||| ", b"=======", b">>>>>>> ")
_RECORD_AGAIN = "Restore the file from version control, or record its cases again."
_RESOLVE = "Resolve it; replies of both sides may stay, each on a line of its own."
_SOURCE_SHOWN = 200
