"""What an app may return, in the form of each API and framework: turns of calls, each with results, and a last text."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType, SimpleNamespace
from typing import Any, NamedTuple, TypeAlias

TEXT = "Cold."
ASKED = {"role": "user", "content": "Weather?"}


class Made(NamedTuple):
    """A call, and what it gave."""

    id: str
    name: str
    arguments: dict[str, Any]
    result: str

    @property
    def json(self) -> str:
        return json.dumps(self.arguments)


Turns: TypeAlias = Sequence[Sequence[Made]]


class Part(SimpleNamespace):
    """An object with fields, whose class says nothing."""


def _class(name: str, base: type = Part) -> Callable[..., Any]:
    return type(name, (base,), {})


def _trail(
    turns: Turns, asks: Callable[[Sequence[Made]], list[Any]], tells: Callable[[Sequence[Made]], list[Any]]
) -> Iterator[Any]:
    for turn in turns:
        yield from asks(turn)
        yield from tells(turn)


def _function(made: Made) -> dict[str, Any]:
    return {"id": made.id, "type": "function", "function": {"name": made.name, "arguments": made.json}}


def openai_messages(turns: Turns) -> object:
    def asks(turn: Sequence[Made]) -> list[Any]:
        return [{"role": "assistant", "content": None, "tool_calls": [_function(made) for made in turn]}]

    def tells(turn: Sequence[Made]) -> list[Any]:
        return [{"role": "tool", "tool_call_id": made.id, "content": made.result} for made in turn]

    return [ASKED, *_trail(turns, asks, tells), {"role": "assistant", "content": TEXT}]


def openai_objects(turns: Turns) -> object:
    def asks(turn: Sequence[Made]) -> list[Any]:
        calls = [Part(id=made.id, type="function", function=Part(name=made.name, arguments=made.json)) for made in turn]
        return [Part(role="assistant", content=None, refusal=None, tool_calls=calls, function_call=None)]

    def tells(turn: Sequence[Made]) -> list[Any]:
        return [{"role": "tool", "tool_call_id": made.id, "content": made.result} for made in turn]

    return [ASKED, *_trail(turns, asks, tells), Part(role="assistant", content=TEXT, tool_calls=None)]


def responses_items(turns: Turns) -> object:
    def asks(turn: Sequence[Made]) -> list[Any]:
        calls = [
            {
                "type": "function_call",
                "id": f"f{made.id}",
                "call_id": made.id,
                "name": made.name,
                "arguments": made.json,
            }
            for made in turn
        ]
        return [{"type": "reasoning", "id": "r", "summary": []}, *calls]

    def tells(turn: Sequence[Made]) -> list[Any]:
        return [{"type": "function_call_output", "call_id": made.id, "output": made.result} for made in turn]

    last = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": TEXT, "annotations": []}],
    }
    return [ASKED, *_trail(turns, asks, tells), last]


def anthropic_messages(turns: Turns) -> object:
    def asks(turn: Sequence[Made]) -> list[Any]:
        uses = [{"type": "tool_use", "id": made.id, "name": made.name, "input": made.arguments} for made in turn]
        return [{"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}, *uses]}]

    last = {"role": "assistant", "content": [{"type": "text", "text": TEXT}]}
    return [ASKED, *_trail(turns, asks, _anthropic_results), last]


def _anthropic_results(turn: Sequence[Made]) -> list[Any]:
    told = [{"type": "tool_result", "tool_use_id": made.id, "content": made.result} for made in turn]
    return [{"role": "user", "content": told}]


def anthropic_objects(turns: Turns) -> object:
    def asks(turn: Sequence[Made]) -> list[Any]:
        uses = [Part(type="tool_use", id=made.id, name=made.name, input=made.arguments, caller=None) for made in turn]
        return [{"role": "assistant", "content": [Part(type="text", text="Look.", citations=None), *uses]}]

    last = {"role": "assistant", "content": [Part(type="text", text=TEXT, citations=None)]}
    return [ASKED, *_trail(turns, asks, _anthropic_results), last]


def bedrock_messages(turns: Turns) -> object:
    def asks(turn: Sequence[Made]) -> list[Any]:
        uses = [{"toolUse": {"toolUseId": made.id, "name": made.name, "input": made.arguments}} for made in turn]
        return [{"role": "assistant", "content": [{"text": "Look."}, *uses]}]

    def tells(turn: Sequence[Made]) -> list[Any]:
        told = [{"toolResult": {"toolUseId": made.id, "content": [{"text": made.result}]}} for made in turn]
        return [{"role": "user", "content": told}]

    return [ASKED, *_trail(turns, asks, tells), {"role": "assistant", "content": [{"text": TEXT}]}]


def gemini_contents(turns: Turns) -> list[Any]:
    def asks(turn: Sequence[Made]) -> list[Any]:
        calls = [{"functionCall": {"id": made.id, "name": made.name, "args": made.arguments}} for made in turn]
        return [{"role": "model", "parts": [{"text": "hm", "thought": True}, *calls]}]

    def tells(turn: Sequence[Made]) -> list[Any]:
        told = [
            {"functionResponse": {"id": made.id, "name": made.name, "response": {"result": made.result}}}
            for made in turn
        ]
        return [{"role": "user", "parts": told}]

    user = {"role": "user", "parts": [{"text": ASKED["content"]}]}
    return [user, *_trail(turns, asks, tells), {"role": "model", "parts": [{"text": TEXT}]}]


def gemini_objects(turns: Turns) -> list[Any]:
    def asks(turn: Sequence[Made]) -> list[Any]:
        calls = [
            Part(text=None, function_call=Part(id=made.id, name=made.name, args=made.arguments), thought_signature=b"s")
            for made in turn
        ]
        return [Part(role="model", parts=calls)]

    def tells(turn: Sequence[Made]) -> list[Any]:
        told = [
            Part(text=None, function_response=Part(id=made.id, name=made.name, response={"result": made.result}))
            for made in turn
        ]
        return [Part(role="user", parts=told)]

    user = Part(role="user", parts=[Part(text=ASKED["content"])])
    return [user, *_trail(turns, asks, tells), Part(role="model", parts=[Part(text=TEXT, function_call=None)])]


def gemini_response(turns: Turns) -> object:
    *before, last = gemini_objects(turns)
    return Part(
        candidates=[Part(content=last, finish_reason="STOP")],
        automatic_function_calling_history=before,
        usage_metadata=Part(prompt_token_count=3, candidates_token_count=2, tool_use_prompt_tokens_details=[1]),
        model_version="gemini",
    )


def adk_events(turns: Turns) -> object:
    contents = gemini_objects(turns)
    return [
        Part(author="user" if not number else "shop", invocation_id="i", content=content, partial=None, actions=Part())
        for number, content in enumerate(contents)
    ]


def langchain_messages(turns: Turns) -> list[Any]:
    about: dict[str, Any] = {"additional_kwargs": {}, "response_metadata": {}, "name": None, "id": None}

    def asks(turn: Sequence[Made]) -> list[Any]:
        calls = [{"name": made.name, "args": made.arguments, "id": made.id, "type": "tool_call"} for made in turn]
        return [Part(type="ai", content="", tool_calls=calls, invalid_tool_calls=[], usage_metadata=None, **about)]

    def tells(turn: Sequence[Made]) -> list[Any]:
        return [Part(type="tool", content=made.result, tool_call_id=made.id, artifact=None, **about) for made in turn]

    last = Part(type="ai", content=TEXT, tool_calls=[], invalid_tool_calls=[], usage_metadata=None, **about)
    return [Part(type="human", content=ASKED["content"], **about), *_trail(turns, asks, tells), last]


def langgraph_state(turns: Turns) -> object:
    return {"messages": langchain_messages(turns), "remaining_steps": 20, "documents": [Part(text="x")]}


def langchain_json(turns: Turns) -> object:
    return {"messages": [vars(message) for message in langchain_messages(turns)]}


def langchain_dumped(turns: Turns) -> object:
    names = {"ai": "AIMessage", "human": "HumanMessage", "tool": "ToolMessage"}
    return [
        {"lc": 1, "type": "constructor", "id": ["langchain", "messages", names[message.type]], "kwargs": vars(message)}
        for message in langchain_messages(turns)
    ]


def pydantic_ai_messages(turns: Turns) -> list[Any]:
    def asks(turn: Sequence[Made]) -> list[Any]:
        calls = [
            Part(part_kind="tool-call", tool_name=made.name, args=made.json, tool_call_id=made.id) for made in turn
        ]
        thinking = Part(part_kind="thinking", content="hm")
        return [Part(kind="response", parts=[thinking, *calls], usage=Part(input_tokens=3, output_tokens=2))]

    def tells(turn: Sequence[Made]) -> list[Any]:
        told = [
            Part(part_kind="tool-return", tool_name=made.name, content=made.result, tool_call_id=made.id)
            for made in turn
        ]
        return [Part(kind="request", parts=told, instructions=None)]

    prompts = [
        Part(part_kind="system-prompt", content="Be brief."),
        Part(part_kind="user-prompt", content=ASKED["content"]),
    ]
    last = Part(kind="response", parts=[Part(part_kind="text", content=TEXT)], usage=None)
    return [Part(kind="request", parts=prompts), *_trail(turns, asks, tells), last]


def pydantic_ai_result(turns: Turns) -> object:
    messages = pydantic_ai_messages(turns)
    return Part(
        output=TEXT, _output_tool_name=None, all_messages=lambda: [*messages, *messages], new_messages=lambda: messages
    )


def openai_agents_result(turns: Turns) -> object:
    def asks(turn: Sequence[Made]) -> list[Any]:
        calls = [
            Part(type="function_call", id="f", call_id=made.id, name=made.name, arguments=made.json) for made in turn
        ]
        return [Part(type="tool_call_item", raw_item=call, agent=Part()) for call in calls]

    def tells(turn: Sequence[Made]) -> list[Any]:
        told = [{"type": "function_call_output", "call_id": made.id, "output": made.result} for made in turn]
        return [Part(type="tool_call_output_item", raw_item=each, output=each["output"]) for each in told]

    text = Part(type="output_text", text=TEXT, annotations=[])
    message = Part(type="message", role="assistant", content=[text], status="completed")
    items = [*_trail(turns, asks, tells), Part(type="message_output_item", raw_item=message)]
    return Part(input=ASKED["content"], new_items=items, raw_responses=[], final_output=TEXT)


def ai_sdk_messages(turns: Turns) -> list[Any]:
    def asks(turn: Sequence[Made]) -> list[Any]:
        calls = [
            {"type": "tool-call", "toolCallId": made.id, "toolName": made.name, "input": made.arguments}
            for made in turn
        ]
        return [{"role": "assistant", "content": [{"type": "reasoning", "text": "hm"}, *calls]}]

    def tells(turn: Sequence[Made]) -> list[Any]:
        told = [
            {
                "type": "tool-result",
                "toolCallId": made.id,
                "toolName": made.name,
                "output": {"type": "text", "value": made.result},
            }
            for made in turn
        ]
        return [{"role": "tool", "content": told}]

    last = {"role": "assistant", "content": [{"type": "text", "text": TEXT}]}
    return [*_trail(turns, asks, tells), last]


def ai_sdk_result(turns: Turns) -> object:
    steps = [_ai_sdk_step(turn) for turn in turns]
    last = {"content": [{"type": "text", "text": TEXT}], "finishReason": "stop", "usage": {"inputTokens": 3}}
    return {"steps": [*steps, last], "_output": TEXT, "totalUsage": {"inputTokens": 6, "outputTokens": 4}}


def _ai_sdk_step(turn: Sequence[Made]) -> dict[str, Any]:
    calls = [
        {"type": "tool-call", "toolCallId": made.id, "toolName": made.name, "input": made.arguments} for made in turn
    ]
    told = [
        {"type": "tool-result", "toolCallId": made.id, "toolName": made.name, "output": made.result} for made in turn
    ]
    return {"content": [*calls, *told], "finishReason": "tool-calls", "response": {"messages": calls}, "warnings": []}


def ai_sdk_ui_messages(turns: Turns) -> object:
    parts: list[dict[str, Any]] = []
    for turn in turns:
        parts.append({"type": "step-start"})
        for number, made in enumerate(turn):
            named = {"type": f"tool-{made.name}"} if number % 2 else {"type": "dynamic-tool", "toolName": made.name}
            about = {"toolCallId": made.id, "state": "output-available", "output": made.result}
            parts.append({**named, **about, "input": made.arguments})
    parts += [{"type": "step-start"}, {"type": "text", "text": TEXT, "state": "done"}]
    user = {"id": "1", "role": "user", "parts": [{"type": "text", "text": ASKED["content"]}]}
    return [user, {"id": "2", "role": "assistant", "parts": parts}]


def ai_sdk_old_message(turns: Turns) -> object:
    made = [made for turn in turns for made in turn]
    invocations = [
        {"state": "result", "toolCallId": each.id, "toolName": each.name, "args": each.arguments, "result": each.result}
        for each in made
    ]
    parts = [{"type": "tool-invocation", "toolInvocation": each} for each in invocations]
    said = {"type": "text", "text": TEXT}
    return {"id": "2", "role": "assistant", "content": TEXT, "parts": [*parts, said], "toolInvocations": invocations}


def smolagents_result(turns: Turns) -> object:
    steps = [
        {
            "step_number": number,
            "tool_calls": [
                {"id": made.id, "type": "function", "function": {"name": made.name, "arguments": made.arguments}}
                for made in turn
            ],
            "model_output": "Look.",
            "observations": "\n".join(made.result for made in turn),
            "error": None,
            "is_final_answer": False,
        }
        for number, turn in enumerate(turns)
    ]
    final = {"id": "final", "type": "function", "function": {"name": "final_answer", "arguments": {"answer": TEXT}}}
    last = {"step_number": len(steps), "tool_calls": [final], "model_output": "", "is_final_answer": True}
    return Part(output=TEXT, state="success", steps=[{"task": "Weather?", "task_images": None}, *steps, last])


def smolagents_steps(turns: Turns) -> object:
    steps = [
        Part(
            step_number=number,
            tool_calls=[Part(name=made.name, arguments=made.arguments, id=made.id) for made in turn],
            model_output="Look.",
            observations="seen",
            error=None,
            is_final_answer=False,
        )
        for number, turn in enumerate(turns)
    ]
    final = Part(name="final_answer", arguments=TEXT, id="final")
    last = Part(
        step_number=9, tool_calls=[final], model_output="", error=None, is_final_answer=True, action_output=TEXT
    )
    return [Part(task=ASKED["content"], task_images=None), *steps, last]


def llama_index_output(turns: Turns) -> object:
    calls = [
        Part(
            tool_name=made.name,
            tool_kwargs=made.arguments,
            tool_id=made.id,
            tool_output=Part(blocks=[Part(block_type="text", text=made.result)], is_error=False),
        )
        for turn in turns
        for made in turn
    ]
    message = Part(role="assistant", blocks=[Part(block_type="text", text=TEXT)], additional_kwargs={})
    return Part(response=message, tool_calls=calls, current_agent_name="shop", structured_response=None)


def llama_index_messages(turns: Turns) -> object:
    def asks(turn: Sequence[Made]) -> list[Any]:
        blocks = [
            Part(block_type="tool_call", tool_call_id=made.id, tool_name=made.name, tool_kwargs=made.arguments)
            for made in turn
        ]
        return [
            Part(role="assistant", blocks=[Part(block_type="thinking", content="hm"), *blocks], additional_kwargs={})
        ]

    def tells(turn: Sequence[Made]) -> list[Any]:
        return [
            Part(
                role="tool",
                blocks=[Part(block_type="text", text=made.result)],
                additional_kwargs={"tool_call_id": made.id},
            )
            for made in turn
        ]

    user = Part(role="user", blocks=[Part(block_type="text", text=ASKED["content"])], additional_kwargs={})
    last = Part(role="assistant", blocks=[Part(block_type="text", text=TEXT)], additional_kwargs={})
    return [user, *_trail(turns, asks, tells), last]


def autogen_result(turns: Turns) -> object:
    def asks(turn: Sequence[Made]) -> list[Any]:
        calls = [Part(id=made.id, name=made.name, arguments=made.json) for made in turn]
        return [
            Part(type="ThoughtEvent", source="shop", content="hm"),
            Part(type="ToolCallRequestEvent", source="shop", content=calls, models_usage=None),
        ]

    def tells(turn: Sequence[Made]) -> list[Any]:
        told = [Part(call_id=made.id, name=made.name, content=made.result, is_error=False) for made in turn]
        return [Part(type="ToolCallExecutionEvent", source="shop", content=told)]

    user = Part(type="TextMessage", source="user", content=ASKED["content"])
    calls = [Part(id=made.id, name=made.name, arguments=made.json) for turn in turns for made in turn]
    summary = Part(type="ToolCallSummaryMessage", source="shop", content="seen", tool_calls=calls, results=[])
    last = Part(type="TextMessage", source="shop", content=TEXT, models_usage=None)
    end = [summary, last] if calls else [last]
    return Part(messages=[user, *_trail(turns, asks, tells), *end], stop_reason=None)


_Event = type("BaseEvent", (Part,), {})


def ag2_events(turns: Turns) -> list[Any]:
    def event(kind: str, **fields: Any) -> Any:
        return _class(kind, _Event)(created_at=1.0, **fields)

    def asks(turn: Sequence[Made]) -> list[Any]:
        calls = [event("ToolCallEvent", id=made.id, name=made.name, arguments=made.json) for made in turn]
        held = event("ToolCallsEvent", calls=calls)
        return [event("ModelResponse", message=None, tool_calls=held, usage=Part()), held, *calls]

    def tells(turn: Sequence[Made]) -> list[Any]:
        return [
            event("ToolResultEvent", parent_id=made.id, name=made.name, result=Part(parts=[Part(content=made.result)]))
            for made in turn
        ]

    user = event("ModelRequest", parts=[Part(content=ASKED["content"])])
    message = event("ModelMessage", content=TEXT, metadata={})
    last = event("ModelResponse", message=message, tool_calls=event("ToolCallsEvent", calls=[]), usage=Part())
    return [user, *_trail(turns, asks, tells), last]


def ag2_reply(turns: Turns) -> object:
    events = ag2_events(turns)

    async def get_events() -> list[Any]:
        return events

    return Part(response=events[-1], context=Part(), history=Part(get_events=get_events))


def ag2_classic_chat(turns: Turns) -> object:
    """The history is seen by the one who asks, whose own messages are those of an assistant there."""

    def asks(turn: Sequence[Made]) -> list[Any]:
        return [{"content": None, "role": "assistant", "tool_calls": [*map(_function, turn)]}]

    def tells(turn: Sequence[Made]) -> list[Any]:
        told = [{"tool_call_id": made.id, "role": "tool", "content": made.result} for made in turn]
        content = "\n\n".join(made.result for made in turn)
        return [{"content": content, "tool_responses": told, "role": "tool", "name": "user"}]

    user = {"content": ASKED["content"], "role": "assistant", "name": "user"}
    last = {"content": TEXT, "role": "user", "name": "shop"}
    cost = {"usage_including_cached_inference": {"total_cost": 0}}
    history = [user, *_trail(turns, asks, tells), last]
    return Part(chat_id=1, chat_history=history, summary=TEXT, cost=cost, human_input=[])


def dspy_prediction(turns: Turns) -> object:
    made = [made for turn in turns for made in turn]
    trajectory: dict[str, Any] = {}
    for number, each in enumerate(made):
        trajectory |= {f"thought_{number}": "hm", f"tool_name_{number}": each.name}
        trajectory |= {f"tool_args_{number}": each.arguments, f"observation_{number}": each.result}
    end = len(made)
    trajectory |= {f"thought_{end}": "", f"tool_name_{end}": "finish", f"tool_args_{end}": {}}
    trajectory |= {f"observation_{end}": "Completed."}
    store = {"trajectory": trajectory, "reasoning": "hm", "answer": TEXT}
    return Part(_store=store, _completions=None, _lm_usage=None)


def crewai_output(turns: Turns) -> object:
    messages = openai_messages(turns)
    return Part(raw=TEXT, pydantic=None, json_dict=None, tasks_output=[Part(raw=TEXT, messages=messages, agent="shop")])


def crewai_text_output(turns: Turns) -> object:
    said = [
        {
            "role": "assistant",
            "content": f"Thought: hm\nAction: {made.name}\nAction Input: {made.json}\nObservation: {made.result}",
        }
        for turn in turns
        for made in turn
    ]
    last = {"role": "assistant", "content": f"Thought: hm\nFinal Answer: {TEXT}"}
    return Part(raw=TEXT, pydantic=None, agent_role="shop", messages=[ASKED, *said, last], tool_failures=[])


FORMS: Mapping[str, Callable[[Turns], object]] = MappingProxyType(
    {
        form.__name__: form
        for form in (
            openai_messages,
            openai_objects,
            responses_items,
            anthropic_messages,
            anthropic_objects,
            bedrock_messages,
            gemini_contents,
            gemini_objects,
            gemini_response,
            adk_events,
            langchain_messages,
            langgraph_state,
            langchain_json,
            langchain_dumped,
            pydantic_ai_messages,
            pydantic_ai_result,
            openai_agents_result,
            ai_sdk_messages,
            ai_sdk_result,
            ai_sdk_ui_messages,
            ai_sdk_old_message,
            smolagents_result,
            smolagents_steps,
            llama_index_output,
            llama_index_messages,
            autogen_result,
            ag2_events,
            ag2_reply,
            ag2_classic_chat,
            dspy_prediction,
            crewai_output,
            crewai_text_output,
        )
    }
)
