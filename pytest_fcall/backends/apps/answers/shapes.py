"""The families of shapes, told apart by the fields of a value, and lists of such values.

The module of a family is imported when it is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from importlib import import_module
from typing import Any, TypeAlias

from pytest_fcall.backends.apps.answers.chat import messages_of
from pytest_fcall.backends.apps.answers.errors import AnswerError, inside, not_understood
from pytest_fcall.backends.apps.answers.message import AnswerMessage, AppAnswer
from pytest_fcall.backends.apps.answers.values import Fields, as_text, check_ignored, fields_of, kind_of, list_items
from pytest_fcall.core.values import Message

Reader: TypeAlias = Callable[[str], AppAnswer]
"""Reads a value that stands at a place."""
_KNOWN = (
    "messages, items, events, steps and results of OpenAI, Anthropic, Gemini, LangChain, pydantic-ai, openai-agents, "
    "the AI SDK, smolagents, LlamaIndex, AutoGen, AG2 and its Classic, Google ADK, DSPy and CrewAI"
)
_ROOM = "pytest_fcall.backends.apps"


def find_reader(data: Fields, value: object) -> Reader | None:
    """The reader of the value, whose fields are `data`; None where no family has its shape."""
    for name, is_one in _OBJECTS.items():
        if is_one(value, data):
            return partial(_function(name), value)
    for name, has_shape in _SHAPES.items():
        if has_shape(data):
            return partial(_function(name), data)
    return None


def _function(name: str) -> Callable[[Any, str], AppAnswer]:
    module, _, function = name.partition(":")
    found: Callable[[Any, str], AppAnswer] = getattr(import_module(f"{_ROOM}.{module}"), function)
    return found


def _has(*names: str) -> Callable[[Fields], bool]:
    wanted = frozenset(names)
    return lambda data: wanted <= data.keys()


def _kind(data: Fields) -> str:
    kind = data.get("type")
    return kind if isinstance(kind, str) else ""


def _is_response(data: Fields) -> bool:
    return isinstance(data.get("output"), list) and (data.get("object") == "response" or "status" in data)


def _is_model_response(data: Fields) -> bool:
    return isinstance(data.get("output"), list) and "response_id" in data and "usage" in data


def _is_completion(data: Fields) -> bool:
    return isinstance(data.get("choices"), (list, tuple)) and bool(data["choices"])


def _is_pydantic_message(data: Fields) -> bool:
    return data.get("kind") in ("request", "response") and "parts" in data


def _is_ui_message(data: Fields) -> bool:
    parts = data.get("parts")
    if "role" not in data or not (isinstance(parts, list) or "toolInvocations" in data):
        return False
    return "toolInvocations" in data or any("type" in (fields_of(part) or {}) for part in parts or ())


def _is_content(data: Fields) -> bool:
    return "parts" in data and "content" not in data


def _is_crew_output(data: Fields) -> bool:
    return "raw" in data and ("tasks_output" in data or _has("messages", "tool_failures")(data) or "agent_role" in data)


def _is_autogen_message(data: Fields) -> bool:
    kind = _kind(data)
    return "role" not in data and (kind.endswith(("Message", "Event")) or kind.startswith("StructuredMessage"))


def _is_event(data: Fields) -> bool:
    return "author" in data and "content" in data and bool({"invocation_id", "invocationId"} & data.keys())


def _is_step(data: Fields) -> bool:
    if "step_number" in data:
        return "tool_calls" in data or "model_output" in data
    return _has("task", "task_images")(data) or data.keys() == {"system_prompt"} or _has("plan", "timing")(data)


def _is_generated(data: Fields) -> bool:
    if "role" in data:
        return False
    steps = data.get("steps")
    step = fields_of(steps[0]) or {} if isinstance(steps, list) and steps else {}
    response = fields_of(data.get("response")) or {}
    own = {"toolCalls", "finishReason", "totalUsage", "responseMessages"}
    return bool(own & data.keys() or own & step.keys() or isinstance(response.get("messages"), list))


def _is_langchain_message(data: Fields) -> bool:
    kind = _kind(data)
    if "lc" in data:
        return kind == "constructor"
    known = kind in ("ai", "human", "system", "tool", "function", "chat", "remove") or kind.endswith("MessageChunk")
    return known and ("content" in data or "data" in data)


def _is_item(data: Fields) -> bool:
    from pytest_fcall.backends.apps.answers.responses import ITEM_TYPES

    return _kind(data) in ITEM_TYPES and (
        "role" not in data or (_kind(data) == "message" and "stop_reason" not in data)
    )


def _is_enclosed(data: Fields) -> bool:
    held = fields_of(data.get("output")) if "message" not in data else data
    message = fields_of((held or {}).get("message"))
    return message is not None and "role" in message


def _is_message(data: Fields) -> bool:
    return bool({"role", "tool_calls", "content", "function_call"} & data.keys())


_SHAPES: dict[str, Callable[[Fields], bool]] = {
    "answers.chat:read_completion": _is_completion,
    "answers.gemini:read_response": _has("candidates"),
    "agents.ag2_classic:read_chat": _has("chat_history", "summary", "cost"),
    "agents.openai_agents:read_result": _has("new_items", "raw_responses"),
    "agents.openai_agents:read_item": _has("raw_item"),
    "agents.openai_agents:read_model_response": _is_model_response,
    "answers.responses:read_response": _is_response,
    "agents.pydantic_ai:read_message": _is_pydantic_message,
    "answers.ai_sdk:read_ui_message": _is_ui_message,
    "answers.gemini:read_content": _is_content,
    "agents.llama_index:read_message": _has("role", "blocks"),
    "agents.llama_index:read_output": _has("response", "tool_calls", "current_agent_name"),
    "agents.llama_index:read_chat_response": _has("response", "sources", "source_nodes"),
    "agents.llama_index:read_llm_response": _has("message", "raw", "delta"),
    "agents.crewai:read_output": _is_crew_output,
    "agents.autogen:read_response": _has("chat_message", "inner_messages"),
    "agents.autogen:read_result": _has("finish_reason", "content", "usage", "cached"),
    "agents.autogen:read_message": _is_autogen_message,
    "agents.google_adk:read_event": _is_event,
    "agents.smolagents:read_result": _has("output", "state", "steps"),
    "agents.smolagents:read_step": _is_step,
    "answers.ai_sdk:read_result": _is_generated,
    "agents.dspy:read_prediction": _has("_store", "_completions"),
    "agents.langchain:read_message": _is_langchain_message,
    "answers.responses:read_item": _is_item,
    "answers.chat:read_enclosed": _is_enclosed,
    "answers.chat:read_message": _is_message,
}
"""In the order in which they are tried: a shape with more fields comes before one with less."""


def _is_run(value: object, _data: Fields) -> bool:
    return callable(getattr(value, "new_messages", None)) and callable(getattr(value, "all_messages", None))


def _is_agent_reply(value: object, data: Fields) -> bool:
    return "response" in data and "context" in data and hasattr(getattr(value, "history", None), "get_events")


def _is_agent_event(value: object, data: Fields) -> bool:
    return any(each.__name__ == "BaseEvent" for each in type(value).__mro__) and "created_at" in data


def _is_last_event(value: object, _data: Fields) -> bool:
    return any(each.__name__ == "StopEvent" and "workflow" in each.__module__ for each in type(value).__mro__)


_OBJECTS: dict[str, Callable[[object, Fields], bool]] = {
    "agents.pydantic_ai:read_result": _is_run,
    "agents.ag2:read_reply": _is_agent_reply,
    "agents.ag2:read_event": _is_agent_event,
    "agents.llama_index:refuse_event": _is_last_event,
}
"""Objects that show what they hold by methods, or what they are by their class."""


def read_list(items: Sequence[object], sent: Sequence[Message], place: str = "") -> AppAnswer:
    """The meaning of a list as a whole. What was sent is not read where the list repeats it."""
    messages: list[AnswerMessage] = []
    repeats = True
    for number, item in enumerate(items):
        repeats = repeats and number < len(sent) and item == sent[number]
        if repeats:
            role = sent[number].get("role")
            messages.append(AnswerMessage(role if isinstance(role, str) else "", original=sent[number]))
        else:
            messages += _read(item, inside(place, number)).messages
    return AppAnswer(without_output_tool(messages), is_trail=True)


_CHAT = frozenset({"role", "content", "tool_calls", "tool_call_id", "name"})


def _read(item: object, place: str) -> AppAnswer:
    if isinstance(item, dict) and "role" in item and _CHAT.issuperset(item):  # by far the most
        return AppAnswer(messages_of(item, place))
    data = fields_of(item)
    reader = None if data is None else find_reader(data, item)
    if reader is None:
        raise not_understood(place, kind_of(item), _KNOWN)
    return reader(place)


def read_state(data: Fields, sent: Sequence[Message]) -> AppAnswer:
    """The messages in the state of a graph, or in the result of a team. The rest may hold anything but calls."""
    answer = read_list(list_items(data["messages"], "messages"), sent, "messages")
    structured = data.get("structured_response")
    hidden = _hidden(answer.messages) if structured is not None else set[str | None]()
    check_ignored(data, ("messages", "structured_response"), "")
    for message in answer.messages:
        left = tuple(call for call in message.calls if call.id not in hidden)
        if left != message.calls:
            message.calls, message.finish = left, None
    answer.messages = [each for each in answer.messages if each.role != "tool" or each.call_id not in hidden]
    if not answer.messages:
        raise AnswerError("the app returned no message: its `messages` are empty")
    return answer


def _hidden(messages: Sequence[AnswerMessage]) -> set[str | None]:
    """The calls in which LangChain's agents give a structured response: the library itself says so in their results."""
    return {each.call_id for each in messages if each.role == "tool" and each.text.startswith(_RETURNED)}


_RETURNED = "Returning structured response: "


def without_output_tool(messages: list[AnswerMessage], own: AbstractSet[Any] = frozenset()) -> list[AnswerMessage]:
    """The messages, where the calls of pydantic-ai's own tools for output have become text."""
    hidden = {
        call.id
        for message in messages
        for call in message.calls
        if call.name in own or (_is_output_tool(call.name) and _is_processed(messages, call.id))
    }
    if not hidden:
        return messages
    kept = [each for each in messages if each.role != "tool" or each.call_id not in hidden]
    for message in kept:
        said = [as_text(call.arguments) for call in message.calls if call.id in hidden]
        message.text += "".join(said)
        message.calls, message.finish = tuple(call for call in message.calls if call.id not in hidden), None
    return kept


def _is_output_tool(name: object) -> bool:
    return isinstance(name, str) and (name == _OUTPUT_TOOL or name.startswith(f"{_OUTPUT_TOOL}_"))


def _is_processed(messages: list[AnswerMessage], call_id: str | None) -> bool:
    return any(each.role == "tool" and each.call_id == call_id and each.text == _PROCESSED for each in messages)


_OUTPUT_TOOL = "final_result"
_PROCESSED = "Final result processed."
"""The name of pydantic-ai's own tool for structured output, and its result. Together they show the origin."""
