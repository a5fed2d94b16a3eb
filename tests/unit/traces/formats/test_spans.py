from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_fcall.core import Json
from pytest_fcall.traces.files import records_of
from pytest_fcall.traces.record import ToolRun
from tests.unit.traces.formats.test_otel import attributes
from tests.unit.traces.support import OSLO, chat_log, saying, user, write_lines

FAILED: Json = {"code": "STATUS_CODE_ERROR", "message": "no such city"}


def run_of(folder: Path, told: dict[str, Json], **span: Json) -> ToolRun:
    """The run of a tool that a span with these attributes tells."""
    whole = {"name": "get_weather", "traceId": "t", "attributes": attributes(told), "startTimeUnixNano": "7", **span}
    path = write_lines(folder / "log.jsonl", whole, chat_log([user("Oslo?")], saying("Cold.")))
    (run, _) = records_of(path)
    assert isinstance(run, ToolRun)
    return run


@pytest.mark.parametrize(
    ("told", "id_"),
    [
        (
            {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "get_weather",
                "gen_ai.tool.call.id": "c1",
                "gen_ai.tool.call.arguments": json.dumps(OSLO),
            },
            "c1",
        ),
        ({"openinference.span.kind": "TOOL", "tool.name": "get_weather", "input.value": json.dumps(OSLO)}, ""),
        ({"langfuse.observation.type": "tool", "langfuse.observation.input": json.dumps(OSLO)}, ""),
        (
            {
                "langfuse.observation.type": "tool",
                "langfuse.observation.input": json.dumps({"args": [], "kwargs": OSLO}),
            },
            "",
        ),
        (
            {
                "ai.operationId": "ai.toolCall",
                "ai.toolCall.name": "get_weather",
                "ai.toolCall.id": "c1",
                "ai.toolCall.args": json.dumps(OSLO),
            },
            "c1",
        ),
        (
            {
                "openinference.span.kind": "TOOL",
                "tool.name": "get_weather",
                "input.value": json.dumps({"args": [], "sanitize_inputs_outputs": True, "kwargs": OSLO}),
            },
            "",
        ),
        (
            {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "get_weather",
                "gcp.vertex.agent.tool_call_args": json.dumps(OSLO),
            },
            "",
        ),
        ({"traceloop.span.kind": "tool", "traceloop.entity.input": json.dumps({"args": [], "kwargs": OSLO})}, ""),
    ],
    ids=[
        *("opentelemetry", "openinference", "langfuse", "langfuse-decorator", "ai-sdk"),
        *("smolagents", "adk", "traceloop"),
    ],
)
def test_a_span_of_a_tool_tells_its_run(tmp_path: Path, told: dict[str, Json], id_: str) -> None:
    assert run_of(tmp_path, told) == ToolRun("t", "get_weather", id_, {"city": "Oslo"}, "7", failed=False)


@pytest.mark.parametrize("given", ["{'city': 'Oslo'}", '{"args": ["Oslo"], "kwargs": {}}'])
def test_arguments_without_names_are_not_known(tmp_path: Path, given: str) -> None:
    told: dict[str, Json] = {"langfuse.observation.type": "tool", "langfuse.observation.input": given}
    assert run_of(tmp_path, told).arguments is None


@pytest.mark.parametrize(
    ("told", "span"),
    [
        ({}, {"status": FAILED}),
        ({}, {"status": {"code": 2}}),
        ({}, {"status": {"status_code": "ERROR"}, "traceId": None, "context": {"trace_id": "t"}}),
        ({"error.type": "ValueError"}, {}),
        ({"langfuse.observation.level": "ERROR"}, {}),
    ],
)
def test_a_span_tells_that_its_tool_failed(tmp_path: Path, told: dict[str, Json], span: dict[str, Json]) -> None:
    run = run_of(tmp_path, {"gen_ai.operation.name": "execute_tool", **told}, **span)
    assert (run.trace, run.name, run.failed) == ("t", "get_weather", True)


@pytest.mark.parametrize(
    ("told", "name"),
    [
        ({"mcp.method.name": "tools/call"}, "tools/call get_weather"),
        ({"gen_ai.operation.name": "execute_tool"}, "execute_tool get_weather"),
        ({"traceloop.span.kind": "tool", "traceloop.entity.input": json.dumps({"input_str": "x"})}, "get_weather"),
    ],
)
def test_a_span_that_tells_no_arguments_tells_the_tool_by_its_name(
    tmp_path: Path, told: dict[str, Json], name: str
) -> None:
    run = run_of(tmp_path, told, name=name)
    assert (run.name, run.arguments) == ("get_weather", None)
