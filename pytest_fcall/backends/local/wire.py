"""What workers tell the answering process of a request, in JSON values."""

from __future__ import annotations

from datetime import datetime
from typing import cast

from pytest_fcall.backends.fields import as_mapping, optional, required
from pytest_fcall.backends.shared.frames import Frame
from pytest_fcall.core import Json, Message, Request, Tool


def request_to_data(request: Request) -> Frame:
    """Say what a model has to know of a request."""
    return {
        "messages": list(request.messages),
        "tools": [
            {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
            for tool in request.tools
        ],
        "settings": dict(request.settings),
        "sample": request.sample,
        "now": request.now.isoformat() if request.now else None,
    }


def request_from_data(data: Json) -> Request:
    """Read what `request_to_data` wrote. Raises Damaged."""
    fields = as_mapping(data, "the request")
    return Request(
        messages=tuple(cast("list[Message]", required(fields, "messages", list))),
        tools=tuple(_tool(as_mapping(each, "a tool")) for each in required(fields, "tools", list)),
        settings=required(fields, "settings", dict),
        sample=optional(fields, "sample", int) or 0,
        now=datetime.fromisoformat(now) if (now := optional(fields, "now", str)) else None,
    )


def _tool(fields: Frame) -> Tool:
    return Tool(
        required(fields, "name", str), required(fields, "description", str), required(fields, "parameters", dict)
    )
