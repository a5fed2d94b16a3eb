"""AutoGen: the messages and events of a run, and messages of its models."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from pytest_fcall.backends.apps.answers.errors import inside, not_understood
from pytest_fcall.backends.apps.answers.message import Answer, AnswerMessage, call_from, call_list, call_of, result_of
from pytest_fcall.backends.apps.answers.values import (
    Fields,
    check_ignored,
    field,
    fields_of,
    kind_of,
    listed,
    names,
    numbered,
    required_fields,
    said,
)
from pytest_fcall.backends.openai.answer_fields import count
from pytest_fcall.core import Usage

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


def read_response(data: Fields, place: str = "") -> Answer:
    """The answer of an agent of a team, after its actions."""
    check_ignored(data, ("chat_message", "inner_messages"), place)
    own = data.get("chat_message")
    messages = [
        message
        for each, each_place in numbered([*listed(data.get("inner_messages"), place), own], inside(place, "messages"))
        for message in read_message(required_fields(each, each_place, "a message"), each_place).messages
    ]
    return Answer(messages, is_trail=True)


def read_result(data: Fields, place: str = "") -> Answer:
    """The result of a client of a model."""
    where = inside(place, "content")
    content = data.get("content")
    check_ignored(data, ("content", "finish_reason", "thought", "logprobs"), place)
    calls = call_list(content, where) if isinstance(content, (list, tuple)) else ()
    text = "" if calls or isinstance(content, list) else said(content, where)
    return Answer([AnswerMessage("assistant", text, calls, usage=_usage(fields_of(data.get("usage"))))])


def read_message(data: Fields, place: str = "") -> Answer:
    """The meaning of a message or an event."""
    kind = str(data.get("type"))
    check_ignored(data, ("type", "content", *_READ.get(kind, ())), place)
    where = inside(place, "content")
    content = data.get("content")
    if kind in _HARMLESS:
        check_ignored({"content": content}, (), place)
        return Answer([])
    if kind in _RESULTS:
        told = [required_fields(each, each_place, "what a call gave") for each, each_place in numbered(content, where)]
        return Answer([_result(each) for each in told])
    role = "user" if data.get("source") == "user" or kind == "UserMessage" else "assistant"
    message = AnswerMessage(role, usage=_usage(fields_of(data.get("models_usage"))))
    if kind in (_CALLS, _SUMMARY) and not (content if kind == _CALLS else data.get("tool_calls")):
        raise not_understood(place, f"a {kind} without calls", "one with calls")
    if kind == _CALLS or (kind == "AssistantMessage" and isinstance(content, (list, tuple))):
        message.calls = tuple(call_from(each, each_place) for each, each_place in numbered(content, where))
    elif kind == _SUMMARY:
        repeated = AnswerMessage("assistant", calls=call_list(data.get("tool_calls"), inside(place, "tool_calls")))
        repeated.is_repeated = True
        return Answer([repeated, AnswerMessage("assistant", said(content, where), usage=message.usage)])
    elif kind == _CODE:
        blocks = [fields_of(each) or {} for each in listed(data.get("code_blocks"), inside(place, "code_blocks"))]
        message.calls = tuple(call_of("code_execution", block) for block in blocks)
    elif kind == "MultiModalMessage" or (kind == "UserMessage" and isinstance(content, (list, tuple))):
        message.text = "".join(each for each in listed(content, where) if isinstance(each, str))
        check_ignored({"content": [each for each in listed(content, where) if not isinstance(each, str)]}, (), place)
    elif kind == "SystemMessage":
        message.role, message.text = "system", said(content, where)
    elif kind in _SAID or kind in _MODELS or is_message(kind):
        message.text = said(content, where)
    else:
        raise not_understood(place, kind_of(data), f"the messages {names({*MESSAGE_TYPES, _STRUCTURED})}")
    return Answer([message])


def _result(data: Fields) -> AnswerMessage:
    told = data.get("content")
    return result_of(field(data, "call_id"), {"error": told} if data.get("is_error") else told)


def _usage(data: Fields | None) -> Usage | None:
    return Usage(count(data.get("prompt_tokens")), count(data.get("completion_tokens"))) if data else None
