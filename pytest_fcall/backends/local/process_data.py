"""The JSON that goes to the process of a local model: its specification, then requests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from pytest_fcall.backends.processes.protocol import Frame
from pytest_fcall.core import Json, Request, Tool
from pytest_fcall.core.json_fields import as_mapping, optional_field, required_field


@dataclass(frozen=True, slots=True)
class ProcessSpec:
    """The model of a process. Equal specifications share one process."""

    maker: str
    """The module:function that loads the model: it takes the options and returns an Answerer."""
    options: Mapping[str, Json] = field(default_factory=dict)
    batch: int = 16

    def to_data(self) -> dict[str, Json]:
        """The specification as JSON."""
        return {"maker": self.maker, "options": self.options, "batch": self.batch}


def process_spec_from_data(data: Json) -> ProcessSpec:
    """Read what `to_data` wrote. Raises DamagedData."""
    fields = as_mapping(data, "the specification")
    return ProcessSpec(
        required_field(fields, "maker", str),
        required_field(fields, "options", dict),
        required_field(fields, "batch", int),
    )


def request_to_data(request: Request) -> Frame:
    """The parts of a request that a model needs, as JSON."""
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
    """Read what `request_to_data` wrote. Raises DamagedData."""
    fields = as_mapping(data, "the request")
    return Request(
        messages=tuple(required_field(fields, "messages", list)),
        tools=tuple(_tool(as_mapping(each, "a tool")) for each in required_field(fields, "tools", list)),
        settings=required_field(fields, "settings", dict),
        sample=optional_field(fields, "sample", int) or 0,
        now=datetime.fromisoformat(now) if (now := optional_field(fields, "now", str)) else None,
    )


def _tool(fields: Frame) -> Tool:
    return Tool(
        required_field(fields, "name", str),
        required_field(fields, "description", str),
        required_field(fields, "parameters", dict),
    )
