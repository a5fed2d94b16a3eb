"""What is not understood of an answer is told; it is never an answer without calls."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_fcall.backends.apps.answers.answer import reply_of
from pytest_fcall.backends.apps.answers.errors import AnswerError
from pytest_fcall.core import Message, Reply

ASKED: list[Message] = [{"role": "user", "content": "Weather?"}]
CALL = {"name": "get_weather", "arguments": {"city": "Oslo"}}
LAST = {"role": "assistant", "content": "Cold."}


def said(*parts: object, **more: object) -> dict[str, object]:
    return {"role": "assistant", "content": [{"type": "text", "text": "Cold."}, *parts], **more}


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (
            said({"type": "toolInvocation", "name": "x"}),
            r"content\[1\] is of the type 'toolInvocation'.*understood: the parts of text",
        ),
        ([*ASKED, LAST, said({"type": "foo"})], r"messages\[2\].content\[1\] is of the type 'foo'"),
        (said(SimpleNamespace(type="bar")), r"content\[1\] is of the type 'bar' \(SimpleNamespace\)"),
        (said({"tool": "get_weather"}), r"content\[1\] is a dict with 'tool'"),
        (said(17), r"content\[1\] is a value of type int"),
        (said({"type": "text", "text": "x", "tool_use": {"name": "x"}}), r"content\[1\].tool_use is not read"),
        (said({"type": "reasoning", "tool_calls": [CALL]}), "tool_calls is not read, and may hold a call"),
        (said({"type": "tool-input-start", "toolCallId": "c"}), "a stream is read when its messages are whole"),
        ({**LAST, "toolInvocation": [CALL]}, "toolInvocation is not read, and may hold a call"),
        ({**LAST, "extra": {"deep": [{"function_calls": [CALL]}]}}, "extra is not read, and holds 'function_calls'"),
        ({**LAST, "events": [{"type": "tool-use", "name": "x"}]}, "the type 'tool-use'"),
        ({**LAST, "made": SimpleNamespace(tool_calls=[CALL])}, "made is not read, and holds 'tool_calls'"),
        ({"role": "bot", "content": "Cold."}, "a message with the role 'bot'.*understood: the roles assistant"),
        ([*ASKED, {"role": "tool-call", "content": "x"}], r"messages\[1\] is a message with the role 'tool-call'"),
        ({"role": "user", "content": "x", "tool_calls": [CALL]}, "the role 'user' that holds calls"),
        ([*ASKED, {"role": "assistant", "parts": [{"type": "fly"}]}], r"messages\[1\].parts\[0\] is of the type 'fly'"),
        ({"choices": [{"message": LAST}, {"message": {**LAST, "tool_calls": [CALL]}}]}, r"choices\[1\] is not read"),
        (
            {"choices": [{"message": LAST, "finish_reason": "tool_calls"}]},
            "ended with calls of tools, but none is in it",
        ),
        ({"text": "Cold.", "toolCalls": [], "finishReason": "tool-calls"}, "ended with calls of tools"),
        ({"messages": [LAST], "worker_messages": [{"tool_calls": [CALL]}]}, "worker_messages is not read"),
        ({"messages": []}, "its `messages` are empty"),
        ({"messages": "x"}, "a dict with 'messages'"),
        ({"parts": [{"unknownCall": {}}], "role": "model"}, r"parts\[0\] is a dict with 'unknownCall'"),
        ({"parts": [{"text": "x"}], "role": "bot"}, "a content with the role 'bot'"),
        (
            {
                "candidates": [
                    {"content": {"parts": [{"text": "a"}]}},
                    {"content": {"parts": [{"functionCall": {"name": "x"}}]}},
                ]
            },
            "a second candidate",
        ),
        (
            {"output": [{"type": "novel_call"}], "object": "response", "status": "completed"},
            r"output\[0\] is of the type 'novel_call'",
        ),
        (
            {"output": [], "object": "response", "status": "in_progress"},
            "did not come to an end: its status is 'in_progress'",
        ),
        ([{"type": "ai", "content": [{"type": "novel"}]}], r"messages\[0\].content\[0\] is of the type 'novel'"),
        ([{"type": "human", "content": "x", "tool_calls": [CALL]}], "a message of the user that holds calls"),
        ([{"lc": 1, "type": "constructor", "id": ["BotMessage"], "kwargs": {}}], "an object of the class 'BotMessage'"),
        ([{"type": "NovelEvent", "source": "a", "content": "x"}], "of the type 'NovelEvent'"),
        ([{"kind": "response", "parts": [{"part_kind": "novel"}]}], "of the part_kind 'novel'"),
        ([{"role": "assistant", "blocks": [{"block_type": "novel"}]}], "of the block_type 'novel'"),
        (SimpleNamespace(raw="Cold.", tasks_output=[SimpleNamespace(raw="Cold.", messages=[])]), "with `wire:`"),
        (
            SimpleNamespace(_store={"trajectory": {"step": 1}}, _completions=None),
            "trajectory.step is a value of type int",
        ),
        ([{"name": "get_weather", "description": "x", "parameters": {}}], "in it; allowed"),
        ([CALL, {"role": "assistant", "content": "x"}], r"messages\[0\]"),
        (SimpleNamespace(tool_calls=5), "tool_calls"),
        (
            [*ASKED, {"role": "tool", "tool_call_id": "1", "content": "cold"}, LAST],
            "results of tools, but none of their calls",
        ),
        ({"role": "assistant", "says": "x"}, "of the role 'assistant'"),
        (SimpleNamespace(output="x", state="success", steps=[{"number": 1}]), r"steps\[0\] is a dict with 'number'"),
        (SimpleNamespace(_store={"steps": {"tool_args_0": {}}}, _completions=None), "tool_name_0 is missing"),
        (iter(()), "a value of type .*iterator"),
        (object(), "a value of type object"),
    ],
)
def test_what_is_not_understood_is_named_with_its_place(answer: object, message: str) -> None:
    with pytest.raises(AnswerError, match=message):
        reply_of(answer, ASKED)


@pytest.mark.parametrize(
    "answer",
    [
        said({"type": "tool_use", "name": "get_weather", "input": {"city": "Oslo"}}),
        said({"type": "server_tool_use", "name": "get_weather", "input": {"city": "Oslo"}}),
        said({"type": "mcp_tool_use", "name": "get_weather", "input": {"city": "Oslo"}, "server_name": "x"}),
        said({"type": "tool_call", "name": "get_weather", "args": {"city": "Oslo"}}),
        said({"type": "tool-call", "toolName": "get_weather", "args": {"city": "Oslo"}}),
        said({"type": "dynamic-tool", "toolName": "get_weather", "input": {"city": "Oslo"}}),
        said({"type": "tool-get_weather", "toolCallId": "1", "state": "input-available", "input": {"city": "Oslo"}}),
        said({"toolUse": {"name": "get_weather", "input": {"city": "Oslo"}}}),
        said(toolCalls=[{"function": CALL}]),
        said(tool_calls=[SimpleNamespace(function=SimpleNamespace(**CALL))]),
        [
            SimpleNamespace(type="text", text="Cold."),
            SimpleNamespace(type="tool_use", name="get_weather", input={"city": "Oslo"}),
        ],
        [SimpleNamespace(tool_name="get_weather", args={"city": "Oslo"}, part_kind="tool-call")],
        [SimpleNamespace(name="get_weather", arguments={"city": "Oslo"}, id="1")],
        SimpleNamespace(**CALL),
        {
            "output": {"message": said({"toolUse": {"name": "get_weather", "input": {"city": "Oslo"}}})},
            "stopReason": "tool_use",
        },
        {
            "message": {"role": "assistant", "content": "", "tool_calls": [{"function": CALL}]},
            "done": True,
            "model": "llama",
        },
        {"response": {"messages": [said({"type": "tool-call", "toolName": "get_weather", "input": {"city": "Oslo"}})]}},
    ],
)
def test_a_part_or_a_field_that_names_a_call_is_one(answer: object) -> None:
    calls = [(call.name, call.arguments) for call in reply_of(answer).tool_calls]
    assert calls == [("get_weather", {"city": "Oslo"})]


@pytest.mark.parametrize(
    ("item", "name", "arguments"),
    [
        ({"type": "web_search_call", "id": "1", "action": {"query": "x"}}, "web_search", {"action": {"query": "x"}}),
        ({"type": "file_search_call", "id": "1", "queries": ["x"], "results": None}, "file_search", {"queries": ["x"]}),
        ({"type": "code_interpreter_call", "id": "1", "code": "1"}, "code_interpreter", {"code": "1"}),
        ({"type": "mcp_call", "id": "1", "name": "x", "arguments": "{}", "server_label": "y"}, "x", "{}"),
        ({"type": "custom_tool_call", "call_id": "1", "name": "x", "input": "text"}, "x", "text"),
    ],
)
def test_tools_of_the_provider_are_calls_too(item: dict[str, Any], name: str, arguments: object) -> None:
    (call,) = reply_of([*ASKED, item, LAST], ASKED).tool_calls
    assert (call.name, call.arguments) == (name, arguments)


@pytest.mark.parametrize(
    "part",
    [
        *({"type": kind} for kind in ("thinking", "redacted_thinking", "reasoning", "image_url", "file", "document")),
        *({"type": kind} for kind in ("source", "step-start", "data-chart", "citation", "search_result", "compaction")),
        {"type": "web_search_tool_result", "tool_use_id": "1", "content": []},
        {"type": "tool-approval-request", "approvalId": "1", "toolCallId": "1"},
        {"reasoningContent": {"reasoningText": {"text": "hm"}}},
        None,
        "",
    ],
)
def test_parts_that_are_known_to_hold_no_calls_are_passed_over(part: object) -> None:
    reply = reply_of(said(part))
    assert (reply.text, reply.tool_calls) == ("Cold.", ())


def test_fields_that_hold_no_calls_are_passed_over() -> None:
    about = {"usage": {"tool_use_tokens": {"x": 1}}, "logprobs": [1], "parallel_tool_calls": True, "tool_calls": []}
    assert reply_of({**LAST, **about, "annotations": [{"type": "url_citation"}]}).text == "Cold."


def test_what_was_sent_is_not_read_where_it_is_repeated() -> None:
    sent: list[Message] = [{"role": "user", "content": [{"type": "novel"}]}]
    assert reply_of([*sent, LAST], sent).text == "Cold."


def test_what_an_agent_gives_as_its_structured_response_is_no_call() -> None:
    made = [{"name": "get_weather", "args": {}, "id": "1"}]
    report = [{"name": "Report", "args": {"temperature": -3}, "id": "2"}]
    ended = {"response_metadata": {"finish_reason": "tool_calls"}}
    messages = [
        {"type": "ai", "content": "", "tool_calls": made, **ended},
        {"type": "tool", "content": "cold", "tool_call_id": "1"},
        {"type": "ai", "content": "", "tool_calls": report, **ended},
        {"type": "tool", "content": "Returning structured response: temperature=-3", "tool_call_id": "2"},
    ]
    shaped = reply_of({"messages": messages, "structured_response": SimpleNamespace(temperature=-3)}, ASKED)
    assert [call.name for call in shaped.tool_calls] == ["get_weather"]
    assert [call.name for call in reply_of({"messages": messages}, ASKED).tool_calls] == ["get_weather", "Report"]


def test_a_tool_for_output_is_no_call_where_the_library_itself_says_so() -> None:
    def response(name: str) -> SimpleNamespace:
        part = SimpleNamespace(part_kind="tool-call", tool_name=name, args='{"temperature": -3}', tool_call_id="o")
        return SimpleNamespace(kind="response", parts=[part])

    def request(content: str) -> SimpleNamespace:
        part = SimpleNamespace(part_kind="tool-return", tool_name="x", content=content, tool_call_id="o")
        return SimpleNamespace(kind="request", parts=[part])

    processed = request("Final result processed.")
    reply = reply_of([response("final_result"), processed], ASKED)
    assert (reply.text, reply.tool_calls) == ('{"temperature": -3}', ())
    for name, told in (("final_result", request("cold")), ("report", processed)):
        assert [call.name for call in reply_of([response(name), told], ASKED).tool_calls] == [name]
    result = SimpleNamespace(output="x", _output_tool_name="report", all_messages=list)
    result.new_messages = lambda: [response("report"), processed]
    assert reply_of(result, ASKED).tool_calls == ()


def test_code_agents_call_their_interpreter_unless_it_only_answers() -> None:
    def step(code: str) -> dict[str, object]:
        call = {"id": "1", "type": "function", "function": {"name": "python_interpreter", "arguments": code}}
        return {"step_number": 1, "tool_calls": [call], "model_output": "x", "is_final_answer": True}

    assert reply_of([step('final_answer("Cold.")')]).tool_calls == ()
    for code in ('final_answer(get_weather("Oslo"))', 'get_weather("Oslo")\nfinal_answer("x")', "final_answer("):
        (call,) = reply_of([step(code)]).tool_calls
        assert (call.name, call.arguments) == ("python_interpreter", {"code": code})


def test_what_a_library_has_for_nothing_is_nothing() -> None:
    class Unset(SimpleNamespace):
        def __bool__(self) -> bool:
            return False

    message = SimpleNamespace(role="assistant", content="Cold.", tool_calls=Unset(), prefix=Unset())
    assert reply_of(SimpleNamespace(choices=[SimpleNamespace(message=message, finish_reason="stop")])).text == "Cold."


@pytest.mark.parametrize(
    "stream", [{"new_items": [], "raw_responses": []}, {"new_messages": list, "all_messages": list}]
)
def test_a_stream_that_was_not_read_to_its_end_is_an_error(stream: dict[str, Any]) -> None:
    with pytest.raises(AnswerError, match="streamed run before its end"):
        reply_of(SimpleNamespace(is_complete=False, **stream), ASKED)


def test_a_streamed_run_of_openai_agents_says_who_was_at_work_and_that_is_no_call() -> None:
    call = {"type": "function_call", "call_id": "c", "name": "get_weather", "arguments": "{}"}
    agent = SimpleNamespace(name="clerk", tool_use_behavior="run_llm_again", tools=[SimpleNamespace(name="a")])
    run = SimpleNamespace(
        is_complete=True,
        new_items=[SimpleNamespace(type="tool_call_item", raw_item=call, agent=agent)],
        raw_responses=[],
        final_output="Cold.",
        current_agent=agent,
        trace=SimpleNamespace(tool_calls=["x"]),
    )
    reply = reply_of(run, ASKED)
    assert [call.name for call in reply.tool_calls] == ["get_weather"]


def test_a_state_is_read_by_its_messages_whatever_else_is_in_it() -> None:
    state = {"messages": [*ASKED, LAST], "content": "Other.", "response": "x", "output": ["y"], "steps": []}
    assert reply_of(state, ASKED).text == "Cold."


def test_a_call_is_new_whatever_follows_it() -> None:
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "function": CALL}]}
    told = {"role": "tool", "tool_call_id": "1", "content": "cold"}
    repeated = [{"role": "system", "content": "My own."}, *ASKED, call, told, *ASKED, LAST]
    assert [made.name for made in reply_of(repeated, ASKED).tool_calls] == ["get_weather"]
    again: list[Message] = [*ASKED, LAST, *ASKED]
    assert [made.name for made in reply_of([*ASKED, call, told, *ASKED, LAST], again).tool_calls] == ["get_weather"]


def test_fields_of_subclasses_are_seen_where_their_base_is_declared() -> None:
    from pydantic import BaseModel

    class Base(BaseModel):
        type: str
        content: str

    class Said(Base):
        tool_calls: list[dict[str, Any]]

    class State(BaseModel):
        messages: list[Base]

    state = State(messages=[Said(type="ai", content="", tool_calls=[{**CALL, "id": "1"}])])
    assert "tool_calls" not in str(state.model_dump())
    assert [call.name for call in reply_of(state, ASKED).tool_calls] == ["get_weather"]


def test_an_answer_that_contains_itself_is_no_crash() -> None:
    answer: dict[str, Any] = {**LAST, "extra": {}}
    answer["extra"]["self"] = answer
    assert reply_of(answer).text == "Cold."
    answer["content"] = [answer]
    with pytest.raises(AnswerError):
        reply_of(answer)
    call: dict[str, Any] = {"name": "x", "arguments": {}}
    call["arguments"]["self"] = call["arguments"]
    with pytest.raises(AnswerError, match="nested deeper"):
        reply_of([*ASKED, {"role": "assistant", "tool_calls": [SimpleNamespace(**call)]}], ASKED)


SUSPICIOUS = re.compile(r"tool.?(call|use|invocation)|function.?call", re.IGNORECASE)
KINDS = ("type", "kind", "part_kind", "block_type")
WORDS = [
    *("role", "content", "text", "messages", "message", "parts", "blocks", "choices", "candidates", "output", "steps"),
    *("name", "arguments", "input", "args", "id", "type", "kind", "part_kind", "block_type", "function", "data", "raw"),
    *("tool_calls", "toolCalls", "tool_use", "toolUse", "function_call", "functionCall", "toolInvocations"),
    *("new_items", "raw_item", "raw_responses", "response", "finishReason", "status", "object", "source", "author"),
    *("step_number", "model_output", "invocation_id", "tasks_output", "_store", "_completions", "additional_kwargs"),
    *("chat_message", "inner_messages", "current_agent_name", "sources", "source_nodes", "trajectory", "lc", "kwargs"),
]
STRINGS = [
    *("assistant", "user", "system", "model", "text", "thinking", "ai", "human", "message", "request", "response"),
    *("tool_use", "tool-call", "toolCall", "function_call", "functionCall", "tool_invocation", "tool-x", "reasoning"),
    *(
        "TextMessage",
        "ToolCallRequestEvent",
        "completed",
        "stop",
        "dynamic-tool",
        "refusal",
        "image",
        "web_search_call",
    ),
]
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.sampled_from(STRINGS) | st.text("a{", max_size=3) | st.binary(max_size=1),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(WORDS), inner, max_size=4)
        | st.dictionaries(st.sampled_from(WORDS), inner, max_size=4).map(lambda fields: SimpleNamespace(**fields))
        | st.fixed_dictionaries(
            {"role": st.just("assistant"), "content": inner}, optional={"x": inner, "tool_calls": inner}
        )
        | st.fixed_dictionaries({"type": st.sampled_from(STRINGS), "content": inner}, optional={"tool_calls": inner})
    ),
    max_leaves=12,
)


def is_suspicious(value: object, name: str = "") -> bool:
    """Whether a key or a type in the value names a call, with something in it."""
    if value is None or isinstance(value, bool | int | bytes) or value in ("", [], {}, SimpleNamespace()):
        return False
    if name in KINDS and isinstance(value, str):
        return SUSPICIOUS.search(value) is not None
    if SUSPICIOUS.search(name):
        return True
    if isinstance(value, list):
        return any(map(is_suspicious, value))
    fields = value if isinstance(value, Mapping) else getattr(value, "__dict__", {})
    return any(is_suspicious(each, str(key)) for key, each in fields.items())


@settings(derandomize=True)
@given(values)
def test_whatever_an_app_returns_is_a_reply_or_told_and_never_without_a_call_that_it_names(answer: object) -> None:
    try:
        reply = reply_of(answer, ASKED)
    except AnswerError:
        return
    assert isinstance(reply, Reply)
    assert reply.tool_calls or not is_suspicious(answer), reply


def _last_event(name: str, **fields: object) -> object:
    """The last event of a workflow of LlamaIndex, with fields of its own or with none."""
    base = type("StopEvent", (SimpleNamespace,), {"__module__": "workflows.events", "model_fields": {}})
    return type(name, (base,), {"model_fields": fields})(**fields)


@pytest.mark.parametrize(
    ("event", "told"),
    [
        (
            _last_event("Done", said="Cold.", called=[CALL]),
            r"the Done, whose fields are its own \(called, said\)",
        ),
        (_last_event("Ended"), r"the Ended, whose fields are its own \(result\)"),
    ],
)
def test_the_last_event_of_a_workflow_is_no_answer_and_the_error_says_what_to_return(event: object, told: str) -> None:
    with pytest.raises(AnswerError, match=told):
        reply_of(event, ASKED)


def test_a_chat_of_ag2_classic_with_an_unknown_part_is_told() -> None:
    chat = {"chat_history": [{"role": "user", "name": "shop", "content": "x", "invocation": {"tool_use": CALL}}]}
    with pytest.raises(AnswerError, match=r"chat_history\[0\].invocation is not read"):
        reply_of({**chat, "summary": "x", "cost": {}}, ASKED)
