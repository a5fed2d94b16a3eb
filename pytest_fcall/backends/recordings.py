"""Recorded replies in files for version control: JSON lines, one thing a line, sorted.

The first line names the format and the model, the next lines hold each tool catalogue once, and then comes one
line for each reply, by case and sample.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from pytest_fcall.backends.explain import explain_missing
from pytest_fcall.backends.fields import Damaged, as_mapping, optional, required
from pytest_fcall.backends.recorded import Recorded, Recordings
from pytest_fcall.backends.replies import reply_from_data, reply_to_data
from pytest_fcall.core import Fault, Json, Location, Model, Request, Tool, catalogue_digest

__all__ = [
    "Damaged",
    "Recorded",
    "Recordings",
    "explain_missing",
    "read_recordings",
    "recordings_path",
    "reply_from_data",
    "reply_to_data",
    "write_recordings",
]

VERSION = 1


def recordings_path(case_file: Path, model: Model) -> Path:
    """Name the file of recordings: `__fcall__/<model>/<whole name of the case file>.replies.jsonl`, beside it."""
    return case_file.parent / "__fcall__" / model.folder / f"{case_file.name}.replies.jsonl"


def write_recordings(path: Path, model: Model, entries: Iterable[Recorded]) -> None:
    """Replace the file at once; the same entries give the same bytes, in whatever order they come.

    Raises ValueError, and leaves the file as it is, where a reply holds something that JSON cannot say.
    """
    entries = list(entries)
    tools = {id(entry.request.tools): entry.request.tools for entry in entries}
    digests = {key: catalogue_digest(value) for key, value in tools.items()}
    rows = sorted(
        (entry.case, entry.request.sample, _entry_line(entry, digests[id(entry.request.tools)])) for entry in entries
    )
    lines = [
        _line({"fcall": "replies", "version": VERSION, "model": model.id}),
        *sorted({_line({"catalogue": digests[key], "tools": _tools_to_data(tools[key])}) for key in tools}),
        *(line for *_, line in rows),
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_bytes("".join(f"{line}\n" for line in lines).encode())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _entry_line(entry: Recorded, catalogue: str) -> str:
    try:
        return _line(
            {
                "case": entry.case,
                "sample": entry.request.sample,
                "request": entry.digest,
                "messages": list(entry.request.messages),
                "catalogue": catalogue,
                "settings": _public(entry.request.settings),
                "reply": reply_to_data(entry.reply),
                "recorded": entry.recorded,
            }
        )
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"the reply to case {entry.case!r} cannot be recorded: {error}") from error


_SECRET = frozenset({"api_key", "authorization", "extra_headers", "extra_query", "headers"})


def _public(settings: Mapping[str, Json]) -> dict[str, Json]:
    return {name: value for name, value in settings.items() if name.lower() not in _SECRET}


def _tools_to_data(tools: Iterable[Tool]) -> list[Json]:
    return [{"name": tool.name, "description": tool.description, "parameters": tool.parameters} for tool in tools]


# Text stays readable in a diff, but for what a reader or an editor would be misled by: controls, invisible and
# direction marks, line separators, and lone surrogates, which UTF-8 cannot say.
_UNREADABLE = re.compile(
    "[\x7f-\xa0\xad\u061c\u180e\u200b-\u200f\u2028-\u202f\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
)


def _line(value: Json) -> str:
    return _UNREADABLE.sub(
        lambda found: json.dumps(found[0])[1:-1], json.dumps(value, sort_keys=True, ensure_ascii=False)
    )


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
        self.faults: list[Fault] = []
        self.catalogues: dict[str, tuple[Tool, ...]] = {}
        self.replies: list[tuple[int, bytes, Mapping[str, Json]]] = []

    def read(self, content: bytes) -> Recordings:
        for number, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
            self.line(number, line.strip())
            if self.version != VERSION:
                return Recordings(faults=self.faults[-1:])
        if self.replies and not self.headed:
            self.fault(1, "damaged-recordings", "the line that names format and model is missing", _RECORD_AGAIN)
        return Recordings([entry for reply in self.replies if (entry := self.entry(*reply))], self.faults)

    def line(self, number: int, line: bytes) -> None:
        if line.startswith(_CONFLICT):
            self.fault(number, "merge-conflict", "an unresolved merge conflict", _RESOLVE, line)
        elif line and not line.startswith(_CONFLICT_GOES_ON):
            try:
                self.row(number, line, _row(line))
            except Damaged as error:
                self.fault(number, "damaged-recording", str(error), _RECORD_AGAIN, line)

    def row(self, number: int, line: bytes, row: Mapping[str, Json]) -> None:
        if "fcall" in row:
            self.header(number, line, row)
        elif "tools" in row:
            tools = tuple(_tool(tool) for tool in required(row, "tools", list))
            self.catalogues[required(row, "catalogue", str)] = tools
        elif "request" in row:
            self.replies.append((number, line, row))
        else:
            raise Damaged("this line is neither a header, nor tools, nor a reply")

    def header(self, number: int, line: bytes, row: Mapping[str, Json]) -> None:
        self.headed = True
        self.version = row.get("version")
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
            return Recorded(
                case=required(row, "case", str),
                digest=required(row, "request", str),
                request=Request(
                    messages=tuple(as_mapping(item, "a message") for item in optional(row, "messages", list) or ()),
                    tools=self.catalogues.get(catalogue or "", ()),
                    settings=optional(row, "settings", dict) or {},
                    sample=optional(row, "sample", int) or 0,
                ),
                reply=reply_from_data(row.get("reply")),
                recorded=optional(row, "recorded", str) or "",
            )
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


def _row(line: bytes) -> Mapping[str, Json]:
    try:
        row: Json = json.loads(line)
    except UnicodeDecodeError:
        raise Damaged("this line is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise Damaged(f"this line is not JSON: {error.msg} at column {error.colno}") from None
    except (ValueError, RecursionError):
        raise Damaged("this line nests too deeply or holds a number that is too long") from None
    return as_mapping(row, "this line")


def _tool(data: Json) -> Tool:
    fields = as_mapping(data, "a tool")
    return Tool(
        name=required(fields, "name", str),
        description=optional(fields, "description", str) or "",
        parameters=required(fields, "parameters", dict),
    )
