"""The environment variables that lead OpenTelemetry's exporters of spans to the run, and each span to its case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

SPANS_VARIABLE = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
_PATH = "v1/traces"
_SETTINGS: Mapping[str, str] = MappingProxyType(
    {
        "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/protobuf",
        "OTEL_BSP_SCHEDULE_DELAY": "100",  # milliseconds, where 5,000 are usual: tests wait for what is sent
    }
)
SPANS_SETTINGS: Mapping[str, str] = MappingProxyType({SPANS_VARIABLE: "", **_SETTINGS})
"""All that are set, with the values that are the same for each run."""
_GENERAL_ENDPOINT, _GENERAL_PROTOCOL = "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_PROTOCOL"
SPANS_READ = (*SPANS_SETTINGS, _GENERAL_ENDPOINT, _GENERAL_PROTOCOL)
"""All that decide what is set."""


def span_variables(base: str, environment: Mapping[str, str], *, over: bool) -> dict[str, str]:
    """The variables that lead to the proxy at `base`; `over` those that a person has set, or none where one has."""
    if not over and any(variables_of_person(environment)):
        return {}
    kept = () if over else [name for name in _SETTINGS if environment.get(name)]
    values = {SPANS_VARIABLE: f"{base}/{SPANS_VARIABLE}/{_PATH}", **_SETTINGS}
    return {name: value for name, value in values.items() if name not in kept}


def variables_of_person(environment: Mapping[str, str]) -> Iterator[str]:
    """The variables by which a person has spans sent elsewhere, or in a form that is not read here."""
    yield from (name for name in (SPANS_VARIABLE, _GENERAL_ENDPOINT) if environment.get(name))
    for name in ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", _GENERAL_PROTOCOL):
        if not environment.get(name, "http/").startswith("http/"):
            yield name


def span_of_case(trace: str) -> str:
    """The id of the span that an app finds as the parent of its own, and that nobody exports: half of the trace's."""
    return trace[:16]


def traceparent(trace: str) -> str:
    """The header, or the variable, that has what an app does belong to the trace."""
    return f"00-{trace}-{span_of_case(trace)}-01"
