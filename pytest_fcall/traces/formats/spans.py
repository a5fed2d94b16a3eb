"""Spans of OpenTelemetry: attributes that are typed or flattened into names with dots, and tools that ran."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pytest_fcall.core.values import Json
from pytest_fcall.traces.record import ToolRun
from pytest_fcall.traces.values import first_field, first_text, items, mapping, parse_json_text, text

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
_MOST_ITEMS: Final = 10_000
"""The longest list that is put together from attributes: a larger number in a name is no index."""


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
        arguments=_arguments(parse_json_text(first_field(attributes, *_ARGUMENTS))),
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


def flat_attributes(attributes: Json) -> Mapping[str, Json]:
    """Attributes by name, from a mapping or from OTLP's list of typed values."""
    if isinstance(attributes, Mapping):
        return attributes
    pairs = (mapping(each) for each in items(attributes))
    return {name: typed_value(pair.get("value")) for pair in pairs if (name := text(pair.get("key")))}


def nested_attributes(attributes: Mapping[str, Json], prefix: str) -> Json:
    """The value that was flattened into attributes such as `PREFIX.0.role`. None without such attributes."""
    tree: dict[str, Json] = {}
    for name, value in attributes.items():
        if name.startswith(f"{prefix}."):
            _insert(tree, name[len(prefix) + 1 :].split("."), value)
    return _with_lists(tree) if tree else None


def _insert(tree: dict[str, Json], steps: list[str], value: Json) -> None:
    for step in steps[:-1]:
        inner = tree.setdefault(step, {})
        if not isinstance(inner, dict):
            return
        tree = inner
    tree.setdefault(steps[-1], value)


def _with_lists(value: Json) -> Json:
    """The value with lists in place of mappings whose keys are numbers."""
    if not isinstance(value, Mapping):
        return value
    if value and all(key.isascii() and key.isdecimal() and len(key) < 6 for key in value):
        return [_with_lists(value[key]) for key in sorted(value, key=int)[:_MOST_ITEMS]]
    return {key: _with_lists(inner) for key, inner in value.items()}


def typed_value(data: Json) -> Json:
    """The value of one of OTLP's typed values."""
    if not isinstance(data, Mapping):
        return data
    for name, value in data.items():
        match name:
            case "intValue" | "int_value":
                is_number = isinstance(value, str) and value.lstrip("-").isdecimal() and len(value) < 25
                return int(str(value)) if is_number else value
            case "arrayValue" | "array_value":
                return [typed_value(each) for each in items(mapping(value).get("values"))]
            case "kvlistValue" | "kvlist_value":
                return dict(flat_attributes(mapping(value).get("values")))
            case "stringValue" | "string_value" | "boolValue" | "bool_value" | "doubleValue" | "double_value":
                return value
    return dict(data)
