"""Agents and teams of AutoGen: reset, given the conversation and run; the messages and events of a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from pytest_fcall.backends.apps.agents.agent import UnreadTool
from pytest_fcall.backends.apps.agents.messages import HistoryCall, HistoryMessage, MessageHistory, read_history
from pytest_fcall.backends.apps.answers.errors import inside, not_understood
from pytest_fcall.backends.apps.answers.message import (
    AnswerMessage,
    AppAnswer,
    call_from,
    call_list,
    call_of,
    result_of,
)
from pytest_fcall.backends.apps.answers.values import (
    Fields,
    check_ignored,
    field,
    fields_of,
    kind_of,
    list_items,
    names,
    numbered_items,
    required_fields,
    said,
)
from pytest_fcall.backends.openai.answer_fields import count
from pytest_fcall.core.reply import Usage
from pytest_fcall.core.request import AppRequest


async def call(agent: Any, request: AppRequest) -> object:
    """Run the agent or the team."""
    from autogen_core import CancellationToken

    history = read_history(request, "AutoGen")
    task = [_agent_message(history, history.question())]
    if hasattr(agent, "reset"):
        await agent.reset()
    else:
        await agent.on_reset(CancellationToken())
    if hasattr(agent, "model_context"):
        for message in _context(history, agent.name):
            await agent.model_context.add_message(message)
    else:
        task = [*_earlier_messages(history), *task]
    return await agent.run(task=task)


def tools(agent: Any) -> list[object]:
    """The tools of the agent, or of all who take part in the team."""
    found: dict[str, object] = {}
    for name, tool in _tools_of(agent):
        found.setdefault(name, tool)
    return [*found.values()]


def _agent_message(history: MessageHistory, message: HistoryMessage) -> Any:
    """A message as agents send it to each other."""
    from autogen_agentchat.messages import MultiModalMessage, TextMessage

    if message.images:
        return MultiModalMessage(content=_content(history, message), source=message.role)
    return TextMessage(content=message.text, source=message.role)


def _earlier_messages(history: MessageHistory) -> Iterator[Any]:
    """The conversation so far, for teams, which take messages and no calls."""
    if history.system:
        raise history.refused("a system message where the agent is no AssistantAgent")
    for message in history.earlier:
        if message.role not in ("user", "assistant") or message.calls:
            raise history.refused("earlier calls or system messages where the agent is no AssistantAgent")
        yield _agent_message(history, message)


def _context(history: MessageHistory, name: str) -> Iterator[Any]:
    """The conversation so far as messages of the agent's model."""
    from autogen_core.models import SystemMessage, UserMessage

    if history.system:
        yield SystemMessage(content=history.system)
    for message in history.earlier:
        if message.role == "system":
            yield SystemMessage(content=message.text)
        elif message.role == "user":
            content = _content(history, message) if message.images else message.text
            yield UserMessage(content=content, source="user")
        elif message.call:
            yield _execution_result(message.call, message.text)
        else:
            yield _answer(message, name)


def _answer(message: HistoryMessage, name: str) -> Any:
    from autogen_core import FunctionCall
    from autogen_core.models import AssistantMessage

    if not message.calls:
        return AssistantMessage(content=message.text, source=name)
    calls = [FunctionCall(id=each.id, name=each.name, arguments=each.json) for each in message.calls]
    return AssistantMessage(content=calls, thought=message.text or None, source=name)


def _execution_result(call: HistoryCall, text: str) -> Any:
    from autogen_core.models import FunctionExecutionResult, FunctionExecutionResultMessage

    result = FunctionExecutionResult(content=text, name=call.name, call_id=call.id, is_error=False)
    return FunctionExecutionResultMessage(content=[result])


def _content(history: MessageHistory, message: HistoryMessage) -> list[Any]:
    from autogen_core import Image

    images = [Image.from_base64(history.image_inside(url)[1]) for url in message.images]
    return [*([message.text] if message.text else ()), *images]


def _tools_of(agent: Any) -> Iterator[tuple[str, object]]:
    for participant in getattr(agent, "_participants", None) or ():
        yield from _tools_of(participant)
    for workbench in getattr(agent, "_workbench", None) or ():
        held = getattr(workbench, "_tools", None)
        if held is None:
            name = type(workbench).__name__
            yield name, UnreadTool(name, "its tools are known to a server only, which `mcp:` can name")
        for tool in held or ():
            yield tool.name, _data(tool)
    for tool in getattr(agent, "_handoff_tools", None) or ():
        yield tool.name, _data(tool)


def _data(tool: Any) -> dict[str, Any]:
    schema = tool.schema
    return {
        "name": schema["name"],
        "description": schema.get("description", ""),
        "parameters": schema.get("parameters"),
    }


_SAID = frozenset({"TextMessage", "MultiModalMessage", "StopMessage", "HandoffMessage"})
_HARMLESS = frozenset(
    {
        *("ThoughtEvent", "MemoryQueryEvent", "ModelClientStreamingChunkEvent", "SelectSpeakerEvent", "SelectorEvent"),
        *("UserInputRequestedEvent", "CodeExecutionEvent"),
    }
)
_CALLS = "ToolCallRequestEvent"
_RESULTS = frozenset({"ToolCallExecutionEvent", "FunctionExecutionResultMessage"})
_SUMMARY = "ToolCallSummaryMessage"
_CODE = "CodeGenerationEvent"
_STRUCTURED = "StructuredMessage"
_MODELS = frozenset({"SystemMessage", "UserMessage", "AssistantMessage"})
MESSAGE_TYPES = frozenset({*_SAID, *_HARMLESS, _CALLS, *_RESULTS, _SUMMARY, _CODE, *_MODELS})
_READ: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {_SUMMARY: ("tool_calls", "results"), _CODE: ("code_blocks",), "HandoffMessage": ("context",)}
)
"""The field that only one of the messages has. What an agent hands over was told before."""


def is_message(kind: object) -> bool:
    """Whether a `type` is that of one of these messages."""
    return isinstance(kind, str) and (kind in MESSAGE_TYPES or kind.startswith(_STRUCTURED))


def read_response(data: Fields, place: str = "") -> AppAnswer:
    """The answer of an agent of a team, after its actions."""
    check_ignored(data, ("chat_message", "inner_messages"), place)
    own = data.get("chat_message")
    messages = [
        message
        for each, each_place in numbered_items(
            [*list_items(data.get("inner_messages"), place), own], inside(place, "messages")
        )
        for message in read_message(required_fields(each, each_place, "a message"), each_place).messages
    ]
    return AppAnswer(messages, is_trail=True)


def read_result(data: Fields, place: str = "") -> AppAnswer:
    """The result of a client of a model."""
    where = inside(place, "content")
    content = data.get("content")
    check_ignored(data, ("content", "finish_reason", "thought", "logprobs"), place)
    calls = call_list(content, where) if isinstance(content, (list, tuple)) else ()
    text = "" if calls or isinstance(content, list) else said(content, where)
    return AppAnswer([AnswerMessage("assistant", text, calls, usage=_usage(fields_of(data.get("usage"))))])


def read_message(data: Fields, place: str = "") -> AppAnswer:
    """The meaning of a message or an event."""
    kind = str(data.get("type"))
    check_ignored(data, ("type", "content", *_READ.get(kind, ())), place)
    where = inside(place, "content")
    content = data.get("content")
    if kind in _HARMLESS:
        check_ignored({"content": content}, (), place)
        return AppAnswer([])
    if kind in _RESULTS:
        outcome = [
            required_fields(each, each_place, "what a call gave") for each, each_place in numbered_items(content, where)
        ]
        return AppAnswer([_result(each) for each in outcome])
    role = "user" if data.get("source") == "user" or kind == "UserMessage" else "assistant"
    message = AnswerMessage(role, usage=_usage(fields_of(data.get("models_usage"))))
    if kind in (_CALLS, _SUMMARY) and not (content if kind == _CALLS else data.get("tool_calls")):
        raise not_understood(place, f"a {kind} without calls", "one with calls")
    if kind == _CALLS or (kind == "AssistantMessage" and isinstance(content, (list, tuple))):
        message.calls = tuple(call_from(each, each_place) for each, each_place in numbered_items(content, where))
    elif kind == _SUMMARY:
        repeated = AnswerMessage("assistant", calls=call_list(data.get("tool_calls"), inside(place, "tool_calls")))
        repeated.is_repeated = True
        return AppAnswer([repeated, AnswerMessage("assistant", said(content, where), usage=message.usage)])
    elif kind == _CODE:
        blocks = [fields_of(each) or {} for each in list_items(data.get("code_blocks"), inside(place, "code_blocks"))]
        message.calls = tuple(call_of("code_execution", block) for block in blocks)
    elif kind == "MultiModalMessage" or (kind == "UserMessage" and isinstance(content, (list, tuple))):
        message.text = "".join(each for each in list_items(content, where) if isinstance(each, str))
        check_ignored(
            {"content": [each for each in list_items(content, where) if not isinstance(each, str)]}, (), place
        )
    elif kind == "SystemMessage":
        message.role, message.text = "system", said(content, where)
    elif kind in _SAID or kind in _MODELS or is_message(kind):
        message.text = said(content, where)
    else:
        raise not_understood(place, kind_of(data), f"the messages {names({*MESSAGE_TYPES, _STRUCTURED})}")
    return AppAnswer([message])


def _result(data: Fields) -> AnswerMessage:
    outcome = data.get("content")
    return result_of(field(data, "call_id"), {"error": outcome} if data.get("is_error") else outcome)


def _usage(data: Fields | None) -> Usage | None:
    return Usage(count(data.get("prompt_tokens")), count(data.get("completion_tokens"))) if data else None
