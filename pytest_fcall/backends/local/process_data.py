"""The JSON that goes to the process of a local model: its specification, then requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from pytest_fcall.backends.processes.protocol import MessageFrame
from pytest_fcall.core.json_data import as_mapping, optional_field, required_field
from pytest_fcall.core.request import INTERFACES, Interface, Request, Tool
from pytest_fcall.core.values import Json, Message


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


@dataclass(frozen=True, slots=True, eq=False)
class WrittenFunctions:
    """A wording that has been written: messages stay as they are, and functions are known by their names."""

    functions: Mapping[str, Mapping[str, Json]]

    def messages(self, messages: Sequence[Message], _interface: Interface) -> Sequence[Message]:
        """Return the messages."""
        return messages

    def function(self, tool: Tool, _interface: Interface) -> Mapping[str, Json]:
        """Return the function of a tool."""
        return self.functions[tool.name]


def written_request(request: Request) -> Request:
    """The request as it is sent: in the words of its wording, and without a temperature that only a suite proposes.

    Benchmarks propose one next to nothing, to have the likeliest token, which local models take anyway.
    """
    settings = {key: value for key, value in request.settings.items() if key not in request.proposed & {"temperature"}}
    if request.wording is None:
        return replace(request, settings=settings)
    interface: Interface = next((each for each in INTERFACES if each == settings.get("handler")), "local")
    functions = {tool.name: request.wording.function(tool, interface) for tool in request.tools}
    messages = tuple(request.wording.messages(request.messages, interface))
    return replace(request, messages=messages, settings=settings, wording=WrittenFunctions(functions))


def request_to_data(request: Request) -> MessageFrame:
    """The parts of a request that a model needs, as JSON."""
    request = written_request(request)
    return {
        "messages": list(request.messages),
        "tools": [
            {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
            for tool in request.tools
        ],
        "functions": dict(request.wording.functions) if isinstance(request.wording, WrittenFunctions) else None,
        "settings": dict(request.settings),
        "sample": request.sample,
        "now": request.now.isoformat() if request.now else None,
    }


def request_from_data(data: Json) -> Request:
    """Read what `request_to_data` wrote. Raises DamagedData."""
    fields = as_mapping(data, "the request")
    functions = optional_field(fields, "functions", dict)
    return Request(
        messages=tuple(required_field(fields, "messages", list)),
        tools=tuple(_tool(as_mapping(each, "a tool")) for each in required_field(fields, "tools", list)),
        settings=required_field(fields, "settings", dict),
        sample=optional_field(fields, "sample", int) or 0,
        now=datetime.fromisoformat(now) if (now := optional_field(fields, "now", str)) else None,
        wording=WrittenFunctions(functions) if functions is not None else None,
    )


def _tool(fields: MessageFrame) -> Tool:
    return Tool(
        required_field(fields, "name", str),
        required_field(fields, "description", str),
        required_field(fields, "parameters", dict),
    )
