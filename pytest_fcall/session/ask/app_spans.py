"""The spans of an app's answer: waited for, and read as the tools that ran and the models that were asked."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from pytest_fcall.core.app import AppSpans, RanTool

if TYPE_CHECKING:
    from pytest_fcall.backends.spans.inbox import CollectedSpans, SpanInbox
    from pytest_fcall.backends.spans.otlp import ReceivedSpan
    from pytest_fcall.core.values import Json
    from pytest_fcall.traces.record import ToolRun

_LOOK_SECONDS: Final = 0.02
"""Seconds until it is looked again whether all spans are there."""
_ABOUT_MODELS: Final = (
    *("gen_ai.", "openinference.", "llm.", "mcp.", "ai.", "langfuse.observation.", "traceloop.", "gcp.vertex.agent."),
)
"""Prefixes of the names of attributes by which agents, models and tools are traced."""
_REQUESTS: Final = ("chat", "completion", "text_completion", "generate_content")
_MODEL_NAMES: Final = ("gen_ai.request.model", "ai.model.id", "llm.model_name", "gen_ai.response.model")
_MOST_SERVICES: Final = 3


def wait_for_spans(inbox: SpanInbox, trace: str, most: float) -> None:
    """Wait for the spans of an app in this process, which has answered, and `most` seconds at the longest."""
    flush_exporters(most)
    while left := inbox.seconds_left(trace, most):
        time.sleep(min(left, _LOOK_SECONDS))


async def wait_for_spans_async(inbox: SpanInbox, trace: str, most: float) -> None:
    """Wait in an event loop for the spans of an app that has answered."""
    from asyncio import sleep

    while left := inbox.seconds_left(trace, most):
        await sleep(min(left, _LOOK_SECONDS))


def flush_exporters(seconds: float) -> None:
    """Have the exporters of this process send what they hold, where there are any."""
    if (trace := sys.modules.get("opentelemetry.trace")) is None:
        return
    with suppress(Exception):  # what an exporter does not send is missed below
        flush = getattr(trace.get_tracer_provider(), "force_flush", None)
        if flush is not None:
            flush(int(seconds * 1000))


def span_facts(collected: CollectedSpans, seconds: float, of_person: Sequence[str]) -> AppSpans:
    """The facts that the spans of a case tell.

    `seconds` is how long they were waited for, `of_person` names variables of exporters that lead elsewhere.
    """
    if not collected.spans:
        return AppSpans(fault=_why_none(collected, seconds, of_person))
    if collected.fault:
        return AppSpans(fault=f"spans of this case may be missing: {collected.fault}; {_WAIT}")
    try:
        return _read(collected.spans)
    except RecursionError:
        return AppSpans(fault="its spans hold values that are nested too deeply")


def _read(collected: Sequence[ReceivedSpan]) -> AppSpans:
    from pytest_fcall.traces.formats.spans import flat_attributes

    spans = sorted(collected, key=lambda span: span.start)
    attributes = {span.id: flat_attributes(span.data.get("attributes")) for span in spans}
    if not any(name.startswith(_ABOUT_MODELS) for each in attributes.values() for name in each):
        return AppSpans(
            fault="its spans tell of no agent, no model and no tool: have the framework or the library traced, too"
        )
    return AppSpans(tuple(_tools(spans, attributes)), tuple(dict.fromkeys(_models(attributes.values()))))


_WAIT: Final = "fc_spans_wait gives them more time"
_HOW: Final = (
    "the app needs OpenTelemetry's SDK, and an exporter of OTLP over HTTP, such as that of "
    "opentelemetry-exporter-otlp-proto-http, which takes its address from OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
)
_EARLY: Final = "one that is made while a conftest file is imported needs fc_spans = always"


def _why_none(collected: CollectedSpans, seconds: float, of_person: Sequence[str]) -> str:
    none = f"no span of this case came within {seconds:g} s"
    if of_person:
        return f"{none}: {of_person[0]} is set, and leads elsewhere; unset it, or set fc_spans = always"
    if collected.fault:
        return f"{none}, and {collected.fault}"
    if services := collected.foreign[:_MOST_SERVICES]:
        return (
            f"{none}, but spans of other traces did, from {', '.join(services)}: let the app go on with the trace that "
            "the header `traceparent` of the request names"
        )
    return f"{none}: {_HOW}; {_EARLY}"


def _tools(spans: Sequence[ReceivedSpan], attributes: Mapping[str, Mapping[str, Json]]) -> Iterator[RanTool]:
    """The tools that ran. A run that several spans tell, such as those of a client and its server, is one."""
    from pytest_fcall.traces.formats.spans import tool_run

    told = ((span.id, tool_run(span.data, attributes[span.id], str(span.start))) for span in spans)
    runs = {span_id: run for span_id, run in told if run is not None}
    by_id = {span.id: span for span in spans}
    groups: dict[str, list[ToolRun]] = {}
    newest: dict[tuple[str, str], str] = {}
    for span_id, run in runs.items():
        first = _outermost(by_id[span_id], runs, by_id)
        twin = newest.get((run.name, run.id)) if run.id else None
        if twin and first == span_id and by_id[twin].end > by_id[span_id].start:
            first = _outermost(by_id[twin], runs, by_id)  # two libraries trace the same call
        newest[run.name, run.id] = span_id
        groups.setdefault(first, []).append(run)
    for group in groups.values():
        arguments = next((run.arguments for run in group if run.arguments is not None), None)
        yield RanTool(group[0].name, _recordable(arguments))


def _outermost(span: ReceivedSpan, runs: Mapping[str, ToolRun], by_id: Mapping[str, ReceivedSpan]) -> str:
    """The id of the outermost span around this one that tells the same run; its own where there is none."""
    run, found, seen, place = runs[span.id], span.id, {span.id}, span.parent
    while place in by_id and place not in seen:
        seen.add(place)
        if place in runs and _may_be_same(run, runs[place]):
            found = place
        place = by_id[place].parent
    return found


def _may_be_same(run: ToolRun, other: ToolRun) -> bool:
    return run.name == other.name and (None in (run.arguments, other.arguments) or run.arguments == other.arguments)


def _recordable(arguments: Mapping[str, Json] | None) -> Mapping[str, Json] | None:
    try:
        json.dumps(arguments, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return None
    return arguments


def _models(spans: Iterable[Mapping[str, Json]]) -> Iterator[str]:
    """The name of the model of each request."""
    from pytest_fcall.traces.values import first_text

    for attributes in spans:
        is_request = attributes.get("gen_ai.operation.name") in _REQUESTS
        is_request = is_request or attributes.get("openinference.span.kind") == "LLM" or "ai.model.id" in attributes
        if is_request and (name := first_text(attributes, *_MODEL_NAMES)):
            yield name
