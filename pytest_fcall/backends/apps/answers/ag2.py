"""AG2: replies of agents, and the events of their history."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

from pytest_fcall.backends.apps.answers.errors import AnswerError, inside, not_understood
from pytest_fcall.backends.apps.answers.message import Answer, AnswerMessage, call_from, result_of
from pytest_fcall.backends.apps.answers.values import (
    Fields,
    as_text,
    fields_of,
    kind_of,
    names,
    numbered,
    required_fields,
)
from pytest_fcall.backends.openai.answer_fields import count
from pytest_fcall.core import Usage

_CALLS = frozenset({"ToolCallEvent", "BuiltinToolCallEvent", "ClientToolCallEvent"})
_HARMLESS = frozenset(
    {
        *("AggregationCompleted", "AggregationFailed", "AggregationStarted", "AudioInterruptedEvent"),
        *("AudioPlaybackCompletedEvent", "AudioPlaybackStartedEvent", "CompactionCompleted", "CompactionFailed"),
        *("CompactionStarted", "EventLogFailed", "HumanInputRequest", "HumanMessage", "ModelMessageChunk"),
        *("ModelReasoning", "ObserverAlert", "ObserverCompleted", "ObserverStarted", "RecordedAudioEvent"),
        *("SynthesizedAudioEvent", "TaskCancelled", "TaskCompleted", "TaskExpired", "TaskFailed", "TaskProgress"),
        *("TaskStarted", "ToolApprovalRequest", "ToolResultsEvent", "TranscriptionChunkEvent", "UsageEvent"),
        *("ModelMessage", "MessageEnqueued", "HaltEvent"),
    }
)
_READ = frozenset({"ModelResponse", "ModelRequest", "ToolCallsEvent", "ToolResultEvent", "ToolErrorEvent"})
EVENT_CLASSES = frozenset({*_CALLS, *_HARMLESS, *_READ})


def read_reply(reply: Any, place: str = "") -> Answer:
    """The actions of an agent, by the history of its conversation."""
    where = inside(place, "history")
    events = _at_once(reply.history.get_events())
    messages = [
        message
        for event, event_place in numbered(list(events), where)
        for message in read_event(event, event_place).messages
    ]
    return Answer(messages, is_trail=True)


def _at_once(events: Coroutine[Any, Any, Any]) -> Any:
    """The result of the coroutine, which waits for nothing where the history is in memory."""
    try:
        events.send(None)
    except StopIteration as done:
        return done.value
    events.close()
    raise AnswerError(
        "the app returned a reply whose history is kept elsewhere; return `await reply.history.get_events()`"
    )


def read_event(event: object, place: str = "") -> Answer:
    """The meaning of an event. Calls are told twice, by the model's response and by themselves."""
    data = required_fields(event, place, "an event")
    classes = [each.__name__ for each in type(event).__mro__]
    kind = next((name for name in classes if name in EVENT_CLASSES), "")
    if kind == "ModelResponse":
        return Answer([_response(data, place)])
    if kind == "ModelRequest":
        parts = [fields_of(part) or {} for part in data.get("parts") or ()]
        return Answer([AnswerMessage("user", "".join(as_text(part.get("content")) for part in parts))])
    if kind == "ToolCallsEvent":
        calls = [call_from(call, each) for call, each in numbered(data.get("calls"), inside(place, "calls"))]
        return Answer([AnswerMessage("assistant", calls=tuple(calls), is_repeated=True)])
    if kind in _CALLS:
        return Answer([AnswerMessage("assistant", calls=(call_from(data, place),), is_repeated=True)])
    if kind in ("ToolResultEvent", "ToolErrorEvent"):
        parts = [fields_of(part) or {} for part in (fields_of(data.get("result")) or {}).get("parts") or ()]
        told = "".join(as_text(part.get("content", part.get("data"))) for part in parts)
        return Answer([result_of(data.get("parent_id"), {"error": told} if kind == "ToolErrorEvent" else told)])
    if kind in _HARMLESS:
        return Answer([])
    raise not_understood(place, kind_of(event), f"the events {names(EVENT_CLASSES)}")


def _response(data: Fields, place: str) -> AnswerMessage:
    said = fields_of(data.get("message")) or {}
    made = fields_of(data.get("tool_calls")) or {}
    calls = [call_from(call, each) for call, each in numbered(made.get("calls"), inside(place, "tool_calls"))]
    tokens = fields_of(data.get("usage")) or {}
    usage = Usage(count(tokens.get("prompt_tokens")), count(tokens.get("completion_tokens")))
    return AnswerMessage(
        "assistant", as_text(said.get("content")), tuple(calls), usage=None if usage == Usage() else usage
    )
