"""One recorded reply, or one tool catalogue, as a line of JSON, and back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from pytest_fcall.backends.fields import Damaged, as_mapping, optional, optional_number, required
from pytest_fcall.backends.recorded import Recorded, Unread
from pytest_fcall.backends.replies import reply_from_data, reply_to_data
from pytest_fcall.backends.secrets import public
from pytest_fcall.backends.wire import wire_from_data
from pytest_fcall.core import Json, Request, Tool
from pytest_fcall.core.readable import readable


def entry_line(entry: Recorded | Unread, catalogue: str) -> str:
    """Say a reply in one line; `catalogue` is the digest of its tools, which the line leaves out, as it does secrets.

    Raises ValueError where the reply holds something that JSON cannot say.
    """
    try:
        return readable(
            {
                "case": entry.case,
                "sample": entry.request.sample,
                "request": entry.digest,
                "messages": list(entry.request.messages),
                "catalogue": catalogue,
                "settings": public(entry.request.settings),
                "recorded": entry.recorded,
                **_answer(entry),
            }
        )
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"the reply to case {entry.case!r} cannot be recorded: {error}") from error


def _answer(entry: Recorded | Unread) -> dict[str, Json]:
    if isinstance(entry, Unread):
        return {"path": entry.path, "seconds": entry.seconds, "wire": entry.wire.to_data()}
    return {"reply": reply_to_data(entry.reply), **({"wire": entry.wire.to_data()} if entry.wire else {})}


def entry_of(row: Mapping[str, Json], tools: tuple[Tool, ...]) -> Recorded:
    """Read what `entry_line` wrote. Any other data is `Damaged`."""
    case, digest = required(row, "case", str), required(row, "request", str)
    request = Request(
        messages=tuple(as_mapping(item, "a message") for item in optional(row, "messages", list) or ()),
        tools=tools,
        settings=optional(row, "settings", dict) or {},
        sample=optional(row, "sample", int) or 0,
    )
    recorded = optional(row, "recorded", str) or ""
    wire = wire_from_data(row["wire"]) if row.get("wire") is not None else None
    if wire and "reply" not in row:
        from pytest_fcall.backends.forms.reading import read

        path, seconds = required(row, "path", str), optional_number(row, "seconds")
        return read(Unread(case, digest, request, path, wire, seconds, recorded))
    return Recorded(case, digest, request, reply_from_data(row.get("reply")), recorded, wire)


def tools_line(catalogue: str, tools: Iterable[Tool]) -> str:
    """Say a catalogue of tools, and its digest, in one line."""
    plain: list[Json] = [
        {"name": tool.name, "description": tool.description, "parameters": tool.parameters} for tool in tools
    ]
    return readable({"catalogue": catalogue, "tools": plain})


def tools_of(row: Mapping[str, Json]) -> tuple[Tool, ...]:
    """Read the tools of what `tools_line` wrote. Any other data is `Damaged`."""
    return tuple(_tool(as_mapping(tool, "a tool")) for tool in required(row, "tools", list))


def _tool(fields: Mapping[str, Json]) -> Tool:
    return Tool(
        name=required(fields, "name", str),
        description=optional(fields, "description", str) or "",
        parameters=required(fields, "parameters", dict),
    )


def row_of(line: bytes) -> Mapping[str, Json]:
    """Take a line apart. Whatever is no JSON object is `Damaged`."""
    try:
        row: Json = json.loads(line)
    except UnicodeDecodeError:
        raise Damaged("this line is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise Damaged(f"this line is not JSON: {error.msg} at column {error.colno}") from None
    except (ValueError, RecursionError):
        raise Damaged("this line nests too deeply or holds a number that is too long") from None
    return as_mapping(row, "this line")
