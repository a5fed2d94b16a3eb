from __future__ import annotations

import json
from typing import Any

from pytest_fcall.backends.spans.inbox import CollectedSpans
from pytest_fcall.backends.spans.otlp import ReceivedSpan
from pytest_fcall.core import Json
from pytest_fcall.core.app import AppSpans, RanTool
from pytest_fcall.session.ask.app_spans import span_facts

OSLO = RanTool("get_weather", {"city": "Oslo"})


def span(name: str, parent: str = "", start: int = 0, end: int = 100, **attributes: Json) -> ReceivedSpan:
    data: dict[str, Json] = {
        "name": name,
        "attributes": {key.replace("__", "."): attributes[key] for key in attributes},
    }
    return ReceivedSpan("t" * 32, f"{name}{start}", parent, "shop", start, end, data)


def tool(parent: str = "", start: int = 0, end: int = 100, **attributes: Json) -> ReceivedSpan:
    return span("get_weather", parent, start, end, gen_ai__operation__name="execute_tool", **attributes)


def told(*spans: ReceivedSpan) -> AppSpans:
    return span_facts(CollectedSpans(spans, "", ()), 5.0, ())


def arguments(city: str) -> dict[str, Any]:
    return {"gen_ai__tool__call__arguments": json.dumps({"city": city})}


def test_tools_are_told_in_the_order_in_which_they_began() -> None:
    first, second = tool(start=1, **arguments("Oslo")), tool(start=2, **arguments("Rome"))
    assert told(second, first).tools == (OSLO, RanTool("get_weather", {"city": "Rome"}))


def test_a_call_that_client_and_server_trace_is_one_run() -> None:
    client = span("tools/call get_weather", "get_weather1", 2, mcp__method__name="tools/call")
    server = span("tools/call get_weather", client.id, 3, mcp__method__name="tools/call")
    assert told(server, client, tool(start=1, **arguments("Oslo"))).tools == (OSLO,)
    assert told(server, client).tools == (RanTool("get_weather", None),)


def test_a_tool_that_calls_itself_with_other_arguments_ran_twice() -> None:
    inner = tool("get_weather1", 2, **arguments("Rome"))
    assert len(told(tool(start=1, **arguments("Oslo")), inner).tools) == 2


def test_spans_of_two_libraries_side_by_side_are_one_run_where_the_call_has_an_id() -> None:
    first = tool(start=1, end=9, gen_ai__tool__call__id="c1", **arguments("Oslo"))
    twin = span("get_weather", "", 2, 8, openinference__span__kind="TOOL", tool_call__id="c1")
    again = tool(start=20, gen_ai__tool__call__id="c1", **arguments("Oslo"))
    assert told(first, twin).tools == (OSLO,)
    assert told(first, twin, again).tools == (OSLO, OSLO)


def test_spans_that_are_their_own_ancestors_are_read() -> None:
    assert len(told(tool("get_weather2", 1), tool("get_weather1", 2)).tools) == 2


def test_models_are_told_once_each_by_the_names_that_the_app_used() -> None:
    asked = span(
        "chat", gen_ai__operation__name="chat", gen_ai__request__model="tiny", gen_ai__response__model="tiny-7"
    )
    other = span("LLM", "", 1, openinference__span__kind="LLM", llm__model_name="large")
    assert told(asked, other, asked).models == ("tiny", "large")


def test_arguments_that_are_no_json_are_not_told() -> None:
    spans = (tool(gen_ai__tool__call__arguments="city=Oslo"), tool(start=1, input__value={"city": float("nan")}))
    assert {each.arguments for each in told(*spans).tools} == {None}


def test_why_nothing_can_be_judged_is_told() -> None:
    nothing = CollectedSpans((), "", ("shop", "mesh"))
    assert "OTEL_X is set" in span_facts(nothing, 5.0, ("OTEL_X",)).fault
    assert "from shop, mesh: let the app go on" in span_facts(nothing, 5.0, ()).fault
    assert "OpenTelemetry's SDK" in span_facts(nothing._replace(foreign=()), 5.0, ()).fault
    assert "cannot be unpacked" in span_facts(nothing._replace(fault="it cannot be unpacked"), 5.0, ()).fault
    assert "fc_spans_wait" in span_facts(CollectedSpans((tool(),), "some are missing", ()), 5.0, ()).fault
    assert span_facts(CollectedSpans((span("GET /", http__method="GET"),), "", ()), 5.0, ()).fault


def test_values_that_are_nested_deeply_are_read_or_refused() -> None:
    value: Json = {"stringValue": "x"}
    for _ in range(2_000):
        value = {"kvlistValue": {"values": [{"key": "a", "value": value}]}}
    deep = span("chat")._replace(data={"attributes": [{"key": "gen_ai.tool.name", "value": value}]})
    assert "nested too deeply" in told(deep).fault
