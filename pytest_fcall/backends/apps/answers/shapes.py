"""The families of shapes, told apart by the fields of a value. The module of a family is imported when it is needed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

from pytest_fcall.backends.apps.answers.values import Fields, fields_of

if TYPE_CHECKING:
    from pytest_fcall.backends.apps.answers.message import AppAnswer

Reader: TypeAlias = "Callable[[str], AppAnswer]"
"""Reads a value that stands at a place."""
KNOWN = (
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
