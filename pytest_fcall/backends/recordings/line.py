"""A recording as a line of JSON, in the store and in files; a tool catalogue as a line, in the store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pytest_fcall.backends.recordings.entry import (
    Recording,
    UnreadRecording,
    http_answer_from_data,
    reply_from_data,
    reply_to_data,
)
from pytest_fcall.backends.redaction import without_secrets
from pytest_fcall.core.json_data import (
    DamagedData,
    as_mapping,
    optional_field,
    optional_number,
    read_json,
    readable_json,
    required_field,
)
from pytest_fcall.core.request import Request, Tool
from pytest_fcall.core.values import Json, Message


def recording_line(entry: Recording | UnreadRecording, catalogue: str) -> str:
    """A recording in one line, without secrets, and with `catalogue`, the digest of its tools, in their place.

    Raises ValueError if the reply is not valid JSON data.
    """
    try:
        fields = recording_to_data(entry, entry.request.messages)
        fields |= {"catalogue": catalogue, "settings": without_secrets(entry.request.settings)}
        return readable_json(fields)
    except (TypeError, ValueError, RecursionError) as error:
        raise invalid_data(entry, error) from error


def recording_to_data(entry: Recording | UnreadRecording, messages: Iterable[Message]) -> dict[str, Json]:
    """A recording, with these messages, as JSON data; what it shares with others is left out: tools and settings."""
    fields: dict[str, Json] = {
        "case": entry.case,
        "sample": entry.request.sample,
        "request": entry.digest,
        "messages": list(messages),
        "recorded": entry.recorded,
    }
    if entry.http_answer is not None:
        fields["wire"] = entry.http_answer.to_data()
    if isinstance(entry, UnreadRecording):
        return {**fields, "path": entry.path, "seconds": entry.seconds}
    return {**fields, "reply": reply_to_data(entry.reply)}


def invalid_data(entry: Recording | UnreadRecording, error: Exception) -> ValueError:
    """The error of a reply that cannot be written."""
    return ValueError(f"the reply to case {entry.case!r} is not valid JSON data: {error}")


def recording_of(fields: Mapping[str, Json], request: Request) -> Recording:
    """Read what `recording_to_data` returned, the answer to `request`. Raises DamagedData for other data."""
    case, digest = required_field(fields, "case", str), required_field(fields, "request", str)
    recorded = optional_field(fields, "recorded", str) or ""
    http_answer = http_answer_from_data(fields["wire"]) if fields.get("wire") is not None else None
    if http_answer and "reply" not in fields:
        # Late: reading a file should not import the interfaces that apps speak.
        from pytest_fcall.backends.recordings.answers import read_recording

        path, seconds = required_field(fields, "path", str), optional_number(fields, "seconds")
        return read_recording(UnreadRecording(case, digest, request, path, http_answer, seconds, recorded))
    return Recording(case, digest, request, reply_from_data(fields.get("reply")), recorded, http_answer)


def request_of(
    fields: Mapping[str, Json],
    tools: tuple[Tool, ...],
    settings: Mapping[str, Json],
    instructions: tuple[Message, ...] = (),
) -> Request:
    """The request in such data, with what it shares with others. Raises DamagedData for other data."""
    own = [as_mapping(item, "a message") for item in optional_field(fields, "messages", list) or ()]
    return Request((*instructions, *own), tools, settings, optional_field(fields, "sample", int) or 0)


def catalogue_line(catalogue: str, tools: Iterable[Tool]) -> str:
    """A tool catalogue and its digest in one line."""
    return readable_json({"catalogue": catalogue, "tools": [tool_to_data(tool) for tool in tools]})


def tool_to_data(tool: Tool) -> dict[str, Json]:
    """A tool as models see it."""
    return {"name": tool.name, **tool_details(tool)}


def tool_details(tool: Tool) -> dict[str, Json]:
    """A tool without its name."""
    returns = {} if tool.returns is None else {"returns": tool.returns}
    return {"description": tool.description, "parameters": tool.parameters, **returns}


def catalogue_of(fields: Mapping[str, Json]) -> tuple[Tool, ...]:
    """The tools in a line that `catalogue_line` wrote. Raises DamagedData for other data."""
    return tuple(tool_of(as_mapping(tool, "a tool")) for tool in required_field(fields, "tools", list))


def tool_of(fields: Mapping[str, Json], name: str = "name") -> Tool:
    """Read what `tool_to_data` returned, with the tool's name in the field `name`. Raises DamagedData."""
    return Tool(
        name=required_field(fields, name, str),
        description=optional_field(fields, "description", str) or "",
        parameters=required_field(fields, "parameters", dict),
        returns=optional_field(fields, "returns", dict),
    )


def line_fields(line: bytes) -> Mapping[str, Json]:
    """The JSON object in a line. Raises DamagedData if there is none."""
    try:
        fields = read_json(line)
    except ValueError as error:
        raise DamagedData(f"this line is {error}") from None
    return as_mapping(fields, "this line")
