"""Files of recordings for version control: JSON lines, sorted.

The first line names the format and the model. The next lines hold each tool catalogue once. Then comes one line for
each reply, by case and sample.
"""

from __future__ import annotations

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
from pytest_fcall.core.json_reading import read_json
from pytest_fcall.core.readable_json import readable_json
from pytest_fcall.core.whole_file import replace_file

VERSION = 1

_CONFLICT = b"<<<<<<< "
_CONFLICT_CONTINUED = (b"||||||| ", b"=======", b">>>>>>> ")
_RECORD_AGAIN = "Restore the file from version control, or record its cases again."
_RESOLVE = "Resolve it; keep replies of both sides if you like, each on a line of its own."
_SOURCE_SHOWN = 200
"""Characters of a damaged line that a fault shows."""


def recordings_path(case_file: Path, model: Model) -> Path:
    """The file of recordings: `__fcall__/<model>/<name of the case file>.replies.jsonl`, beside the case file."""
    return case_file.parent / "__fcall__" / model.folder / f"{case_file.name}.replies.jsonl"


def write_recordings(path: Path, model: Model, entries: Iterable[Recording]) -> None:
    """Replace the file at once. The same entries give the same bytes, in any order.

    Raises ValueError, and leaves the file as it is, if a reply is not valid JSON data.
    """
    catalogues: dict[str, tuple[Tool, ...]] = {}
    rows = []
    for entry in entries:
        catalogue = catalogue_digest(entry.request.tools)
        catalogues[catalogue] = entry.request.tools
        rows.append((entry.case, entry.request.sample, recording_line(entry, catalogue)))
    lines = [
        readable_json({"fcall": "replies", "version": VERSION, "model": model.id}),
        *sorted(catalogue_line(digest, tools) for digest, tools in catalogues.items()),
        *(line for *_, line in sorted(rows)),
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, (f"{line}\n".encode() for line in lines))


def read_recordings(path: Path, model: Model | None = None) -> Recordings:
    """Read the file; a missing file has no recordings.

    Each damaged line becomes a fault, and the other lines are read. With `model`, replies of another model are a
    fault too.
    """
    reader = _FileReader(path, model)
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return Recordings()
    except OSError as error:
        reader.add_fault(1, "damaged-recordings", f"the recordings cannot be read: {error.strerror}")
        return Recordings(faults=reader.faults)
    return reader.read_file(content)


class _FileReader:
    """Reads one file once."""

    def __init__(self, path: Path, model: Model | None) -> None:
        self.faults: list[Fault] = []
        self._path = path
        self._model = model
        self._version: Json = VERSION
        self._has_header = False
        self._model_id: str | None = None
        self._catalogues: dict[str, tuple[Tool, ...]] = {}
        self._replies: list[tuple[int, bytes, Mapping[str, Json]]] = []

    def read_file(self, content: bytes) -> Recordings:
        for number, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
            self._read_line(number, line.strip())
            if self._version != VERSION:
                return Recordings(faults=self.faults[-1:])
        if self._replies and not self._has_header:
            message = "the header line, which names format and model, is missing"
            self.add_fault(1, "damaged-recordings", message, _RECORD_AGAIN)
        entries = [entry for reply in self._replies if (entry := self._recording(*reply))]
        return Recordings(entries, self.faults, self._model_id)

    def _read_line(self, number: int, line: bytes) -> None:
        if line.startswith(_CONFLICT):
            self.add_fault(number, "merge-conflict", "an unresolved merge conflict", _RESOLVE, line)
        elif line and not line.startswith(_CONFLICT_CONTINUED):
            try:
                self._read_fields(number, line, line_fields(line))
            except DamagedData as error:
                self.add_fault(number, "damaged-recording", str(error), _RECORD_AGAIN, line)

    def _read_fields(self, number: int, line: bytes, fields: Mapping[str, Json]) -> None:
        if "fcall" in fields:
            self._read_header(number, line, fields)
        elif "tools" in fields:
            self._catalogues[required_field(fields, "catalogue", str)] = catalogue_of(fields)
        elif "request" in fields:
            self._replies.append((number, line, fields))
        else:
            raise DamagedData("this line is neither a header, nor tools, nor a reply")

    def _read_header(self, number: int, line: bytes, fields: Mapping[str, Json]) -> None:
        self._has_header = True
        self._version = fields.get("version")
        self._model_id = optional_field(fields, "model", str)
        if self._version != VERSION:
            message = f"recordings have format version {self._version!r}; this pytest-fcall reads only {VERSION}"
            self.add_fault(number, "recordings-version", message, _RECORD_AGAIN, line)
        elif self._model is not None and fields.get("model") != self._model.id:
            message = f"these are replies of {fields.get('model')!r}, not of {self._model.id!r}"
            self.add_fault(number, "recordings-model", message, "Move the file to that model's folder.", line)

    def _recording(self, number: int, line: bytes, fields: Mapping[str, Json]) -> Recording | None:
        try:
            catalogue = optional_field(fields, "catalogue", str)
            if catalogue is not None and catalogue not in self._catalogues:
                self._catalogues[catalogue] = ()
                message = "the tools of this reply are not in the file"
                self.add_fault(number, "damaged-recordings", message, _RECORD_AGAIN, line)
            return recording_of(fields, self._catalogues.get(catalogue or "", ()))
        except DamagedData as error:
            self.add_fault(number, "damaged-recording", str(error), _RECORD_AGAIN, line)
            return None

    def add_fault(self, number: int, code: str, message: str, hint: str = "", line: bytes = b"") -> None:
        source = line[:_SOURCE_SHOWN].decode(errors="replace")
        self.faults.append(Fault(code, Location(str(self._path), number), message, source, hint))


def recording_line(entry: Recording | UnreadRecording, catalogue: str) -> str:
    """A recording in one line, without secrets, and with `catalogue`, the digest of its tools, in their place.

    Raises ValueError if the reply is not valid JSON data.
    """
    fields: dict[str, Json] = {
        "case": entry.case,
        "sample": entry.request.sample,
        "request": entry.digest,
        "messages": list(entry.request.messages),
        "catalogue": catalogue,
        "recorded": entry.recorded,
    }
    if entry.http_answer is not None:
        fields["wire"] = entry.http_answer.to_data()
    try:
        fields["settings"] = without_secrets(entry.request.settings)
        if isinstance(entry, UnreadRecording):
            fields |= {"path": entry.path, "seconds": entry.seconds}
        else:
            fields["reply"] = reply_to_data(entry.reply)
        return readable_json(fields)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"the reply to case {entry.case!r} is not valid JSON data: {error}") from error


def recording_of(fields: Mapping[str, Json], tools: tuple[Tool, ...], request: Request | None = None) -> Recording:
    """Read the fields of a line that `recording_line` wrote. Raises DamagedData for other data.

    With `request`, which the line answers, its messages and settings need not be read.
    """
    case, digest = required_field(fields, "case", str), required_field(fields, "request", str)
    if request is None:
        request = Request(
            messages=tuple(as_mapping(item, "a message") for item in optional_field(fields, "messages", list) or ()),
            tools=tools,
            settings=optional_field(fields, "settings", dict) or {},
            sample=optional_field(fields, "sample", int) or 0,
        )
    recorded = optional_field(fields, "recorded", str) or ""
    http_answer = http_answer_from_data(fields["wire"]) if fields.get("wire") is not None else None
    if http_answer and "reply" not in fields:
        # Late: reading a file should not import the interfaces that apps speak.
        from pytest_fcall.backends.recordings.answers import read_recording

        path, seconds = required_field(fields, "path", str), optional_number(fields, "seconds")
        return read_recording(UnreadRecording(case, digest, request, path, http_answer, seconds, recorded))
    return Recording(case, digest, request, reply_from_data(fields.get("reply")), recorded, http_answer)


def catalogue_line(catalogue: str, tools: Iterable[Tool]) -> str:
    """A tool catalogue and its digest in one line."""
    data: list[Json] = [
        {"name": tool.name, "description": tool.description, "parameters": tool.parameters} for tool in tools
    ]
    return readable_json({"catalogue": catalogue, "tools": data})


def catalogue_of(fields: Mapping[str, Json]) -> tuple[Tool, ...]:
    """The tools in a line that `catalogue_line` wrote. Raises DamagedData for other data."""
    return tuple(_tool(as_mapping(tool, "a tool")) for tool in required_field(fields, "tools", list))


def _tool(fields: Mapping[str, Json]) -> Tool:
    return Tool(
        name=required_field(fields, "name", str),
        description=optional_field(fields, "description", str) or "",
        parameters=required_field(fields, "parameters", dict),
    )


def line_fields(line: bytes) -> Mapping[str, Json]:
    """The JSON object in a line. Raises DamagedData if there is none."""
    try:
        fields = read_json(line)
    except ValueError as error:
        raise DamagedData(f"this line is {error}") from None
    return as_mapping(fields, "this line")
