"""Spans and their attributes, as OTLP and other exports of OpenTelemetry write them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from pytest_fcall.core import Json
from pytest_fcall.traces.values import items, mapping, text

_MOST: Final = 10_000
"""No request has more messages; a number beyond it in a name is no index."""


def spans_of(told: Mapping[str, Json]) -> Iterator[Mapping[str, Json]]:
    """The spans of a batch, or the span itself. Log records stand for the span that they belong to."""
    for resource in items(told.get("resourceSpans") or told.get("resource_spans")):
        for scope in _scopes(mapping(resource), "Spans"):
            yield from (mapping(span) for span in items(scope.get("spans")))
    logs: dict[str, list[Json]] = {}
    for resource in items(told.get("resourceLogs") or told.get("resource_logs")):
        for scope in _scopes(mapping(resource), "Logs"):
            for number, record in enumerate(items(scope.get("logRecords") or scope.get("log_records"))):
                span = mapping(record).get("spanId") or mapping(record).get("span_id")
                logs.setdefault(text(span) or f"#{len(logs)}.{number}", []).append(record)
    yield from ({"events": records} for records in logs.values())
    if "attributes" in told:
        yield told


def _scopes(resource: Mapping[str, Json], what: str) -> Iterator[Mapping[str, Json]]:
    for name in (f"scope{what}", f"scope_{what.lower()}", f"instrumentationLibrary{what}"):
        yield from (mapping(scope) for scope in items(resource.get(name)))


def events_of(span: Mapping[str, Json]) -> Iterator[tuple[str, Mapping[str, Json]]]:
    """The events of a span by name, each with its attributes and whatever its body says."""
    for each in items(span.get("events")):
        event = mapping(each)
        told = flat(event.get("attributes"))
        name = text(event.get("eventName")) or text(event.get("name")) or text(told.get("event.name")) or ""
        body = _value(event["body"]) if isinstance(event.get("body"), Mapping) else None
        yield name, {**told, **mapping(body)}


def flat(attributes: Json) -> Mapping[str, Json]:
    """Attributes by name, whether they come as a mapping or as OTLP's list of typed values."""
    if isinstance(attributes, Mapping):
        return attributes
    found = (mapping(each) for each in items(attributes))
    return {name: _value(each.get("value")) for each in found if (name := text(each.get("key")))}


def nested(told: Mapping[str, Json], prefix: str) -> Json:
    """What was taken apart into attributes such as `PREFIX.0.role`, put together again; None where there is none."""
    tree: dict[str, Json] = {}
    for name, value in told.items():
        if name.startswith(f"{prefix}."):
            _plant(tree, name[len(prefix) + 1 :].split("."), value)
    return _listed(tree) if tree else None


def _plant(tree: dict[str, Json], steps: list[str], value: Json) -> None:
    for step in steps[:-1]:
        inner = tree.setdefault(step, {})
        if not isinstance(inner, dict):
            return
        tree = inner
    tree.setdefault(steps[-1], value)


def _listed(value: Json) -> Json:
    """Mappings whose keys are numbers are lists."""
    if not isinstance(value, Mapping):
        return value
    if value and all(key.isascii() and key.isdecimal() and len(key) < 6 for key in value):
        return [_listed(value[key]) for key in sorted(value, key=int)[:_MOST]]
    return {key: _listed(inner) for key, inner in value.items()}


def _value(told: Json) -> Json:
    """One of OTLP's typed values."""
    if not isinstance(told, Mapping):
        return told
    for name, value in told.items():
        match name:
            case "intValue" | "int_value":
                return (
                    int(value)
                    if isinstance(value, str) and value.lstrip("-").isdecimal() and len(value) < 25
                    else value
                )
            case "arrayValue" | "array_value":
                return [_value(each) for each in items(mapping(value).get("values"))]
            case "kvlistValue" | "kvlist_value":
                return dict(flat(mapping(value).get("values")))
            case "stringValue" | "string_value" | "boolValue" | "bool_value" | "doubleValue" | "double_value":
                return value
    return dict(told)
