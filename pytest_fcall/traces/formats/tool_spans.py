"""Spans of tools that ran: OpenTelemetry's own, MCP's, and those of OpenInference, Langfuse, Traceloop, the AI SDK."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pytest_fcall.core import Json
from pytest_fcall.traces.record import ToolRun
from pytest_fcall.traces.values import first, first_text, mapping, parsed, text

_KINDS: Final = (
    ("gen_ai.operation.name", "execute_tool"),
    ("openinference.span.kind", "TOOL"),
    ("langfuse.observation.type", "tool"),
    ("ai.operationId", "ai.toolCall"),
    ("mcp.method.name", "tools/call"),
    ("traceloop.span.kind", "tool"),
)
_NAMES: Final = ("gen_ai.tool.name", "mcp.tool.name", "tool.name", "ai.toolCall.name", "traceloop.entity.name")
_BEFORE_NAMES: Final = ("execute_tool ", "tools/call ")
"""Prefixes of the names of spans that go on with the name of the tool."""
_IDS: Final = ("gen_ai.tool.call.id", "ai.toolCall.id", "tool_call.id", "tool.id")
_ARGUMENTS: Final = (
    "gen_ai.tool.call.arguments",
    "tool_arguments",  # pydantic-ai, before it had the name above
    "gcp.vertex.agent.tool_call_args",  # Google's ADK
    "ai.toolCall.args",
    "input.value",
    "langfuse.observation.input",
    "traceloop.entity.input",
)


def trace_id(span: Mapping[str, Json]) -> str:
    """The id of the trace that a span belongs to; empty without one."""
    return first_text(span, "traceId", "trace_id") or first_text(mapping(span.get("context")), "trace_id")


def tool_run(span: Mapping[str, Json], attributes: Mapping[str, Json], time: str) -> ToolRun | None:
    """The run of a tool that the span is about. None where it is about anything else."""
    if not any(attributes.get(name) == value for name, value in _KINDS):
        return None
    return ToolRun(
        trace=trace_id(span),
        name=first_text(attributes, *_NAMES) or _name_in(first_text(span, "name")),
        id=first_text(attributes, *_IDS),
        arguments=_arguments(parsed(first(attributes, *_ARGUMENTS))),
        time=time,
        failed=_is_failed(span, attributes),
    )


def _name_in(span_name: str) -> str:
    for beginning in _BEFORE_NAMES:
        span_name = span_name.removeprefix(beginning)
    return span_name


def _arguments(given: Json) -> Mapping[str, Json] | None:
    """The arguments by their names. None where they are not told, or are told without names."""
    if not isinstance(given, Mapping):
        return None
    if isinstance(given.get("args"), list) and isinstance(given.get("kwargs"), Mapping):  # decorators; smolagents
        return None if given["args"] else mapping(given["kwargs"])
    return None if "input_str" in given else given  # what Traceloop keeps of LangChain's tools


def _is_failed(span: Mapping[str, Json], attributes: Mapping[str, Json]) -> bool:
    status = mapping(span.get("status"))
    code = status.get("code", status.get("status_code"))
    return (
        code in (2, "STATUS_CODE_ERROR", "ERROR")
        or attributes.get("langfuse.observation.level") == "ERROR"
        or text(attributes.get("error.type")) is not None
    )
