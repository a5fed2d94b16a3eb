"""Agents of AG2: `ask`, in a stream of events that begins with the conversation; replies, and events of a history."""

from __future__ import annotations

import base64
from collections.abc import Coroutine, Iterator
from typing import Any

from pytest_fcall.backends.apps.agents.agent import UnreadTool, result_without_waiting
from pytest_fcall.backends.apps.agents.messages import HistoryMessage, MessageHistory, read_history
from pytest_fcall.backends.apps.answers.errors import AnswerError, inside, not_understood
from pytest_fcall.backends.apps.answers.message import AnswerMessage, AppAnswer, call_from, result_of
from pytest_fcall.backends.apps.answers.values import (
    Fields,
    as_text,
    fields_of,
    kind_of,
    names,
    numbered_items,
    required_fields,
)
from pytest_fcall.backends.openai.answer_fields import count
from pytest_fcall.core.reply import Usage
from pytest_fcall.core.request import AppRequest


async def call(agent: Any, request: AppRequest) -> list[dict[str, Any]]:
    """Run the agent, and return what it said and called, as messages in OpenAI's form."""
    from ag2 import MemoryStream

    history = read_history(request, "AG2")
    question = _inputs(history, history.question())
    earlier = [*_events(history)]
    stream = MemoryStream()
    await stream.history.replace(earlier)
    await agent.ask(*question, stream=stream, prompt=prompt_of(agent, history.system))
    events = [*await stream.history.get_events()]
    return [message for event in events[len(earlier) :] for message in _messages(event)]


def tools(agent: Any) -> list[object]:
    """The tools of the agent but those of servers."""
    found: list[object] = []
    for tool in (*agent.tools, *getattr(agent, "_additional_tools", ())):
        found += _schemas(tool)
    return found


def prompt_of(agent: Any, system: str) -> list[str]:
    """The agent's own prompt with that of the case; nothing where the agent may make its own."""
    if not system:
        return []
    if agent.dynamic_prompt:
        what = "a system message beside a prompt that is made again for each run"
        raise MessageHistory("AG2", "", (), None).refused(what)
    return [*agent.system_prompt, system]


def _events(history: MessageHistory) -> Iterator[Any]:
    from ag2.events import ModelMessage, ModelRequest, ModelResponse, ToolCallEvent, ToolCallsEvent

    for message in history.earlier:
        if message.role == "system":
            raise history.refused("a system message in the middle of a conversation")
        if message.role == "user":
            yield ModelRequest(_inputs(history, message))
        elif message.call:
            yield _result(message)
        else:
            calls = [ToolCallEvent(each.name, id=each.id, arguments=each.json) for each in message.calls]
            said = ModelMessage(message.text) if message.text or not calls else None
            yield ModelResponse(said, tool_calls=ToolCallsEvent(calls))


def _result(message: HistoryMessage) -> Any:
    from ag2.events import ToolCallEvent, ToolResultEvent, ToolResultsEvent

    call = message.call
    made = ToolCallEvent(call.name if call else "", id=call.id if call else "")
    return ToolResultsEvent([ToolResultEvent.from_call(made, message.text)])


def _inputs(history: MessageHistory, message: HistoryMessage) -> list[Any]:
    from ag2.events import ImageInput, TextInput

    inputs: list[Any] = [TextInput(message.text)] if message.text else []
    for url in message.images:
        kind, data = history.image_inside(url)
        inputs.append(ImageInput(data=base64.b64decode(data), media_type=kind))
    return inputs


def _messages(event: Any) -> Iterator[dict[str, Any]]:
    """The message that an event of a run is: an answer of the model, or the results of its calls."""
    name = type(event).__name__
    if name == "ModelResponse":
        yield event.to_api()
    elif name == "ToolResultsEvent":
        for each in event.results:
            parts = [getattr(part, "content", None) or getattr(part, "data", None) for part in each.result.parts]
            text = "\n".join(str(part) for part in parts if part is not None)
            yield {"role": "tool", "tool_call_id": each.parent_id, "content": text}


def _schemas(tool: Any) -> Iterator[object]:
    from ag2 import MemoryStream
    from ag2.context import ConversationContext

    found = result_without_waiting(tool.schemas(ConversationContext(MemoryStream())))
    if found is None:
        yield UnreadTool(str(tool.name), "its tools are known to a server only, which `mcp:` can name")
    for schema in found or ():
        if schema.type == "function":
            yield {
                "name": schema.function.name,
                "description": schema.function.description or "",
                "parameters": schema.function.parameters,
            }
        else:
            yield UnreadTool(schema.type, "the provider runs it")


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


def read_reply(reply: Any, place: str = "") -> AppAnswer:
    """The actions of an agent, by the history of its conversation."""
    where = inside(place, "history")
    events = _at_once(reply.history.get_events())
    messages = [
        message
        for event, event_place in numbered_items(list(events), where)
        for message in read_event(event, event_place).messages
    ]
    return AppAnswer(messages, is_trail=True)


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


def read_event(event: object, place: str = "") -> AppAnswer:
    """The meaning of an event. Calls are told twice, by the model's response and by themselves."""
    data = required_fields(event, place, "an event")
    classes = [each.__name__ for each in type(event).__mro__]
    kind = next((name for name in classes if name in EVENT_CLASSES), "")
    if kind == "ModelResponse":
        return AppAnswer([_response(data, place)])
    if kind == "ModelRequest":
        parts = [fields_of(part) or {} for part in data.get("parts") or ()]
        return AppAnswer([AnswerMessage("user", "".join(as_text(part.get("content")) for part in parts))])
    if kind == "ToolCallsEvent":
        calls = [call_from(call, each) for call, each in numbered_items(data.get("calls"), inside(place, "calls"))]
        return AppAnswer([AnswerMessage("assistant", calls=tuple(calls), is_repeated=True)])
    if kind in _CALLS:
        return AppAnswer([AnswerMessage("assistant", calls=(call_from(data, place),), is_repeated=True)])
    if kind in ("ToolResultEvent", "ToolErrorEvent"):
        parts = [fields_of(part) or {} for part in (fields_of(data.get("result")) or {}).get("parts") or ()]
        result_text = "".join(as_text(part.get("content", part.get("data"))) for part in parts)
        return AppAnswer(
            [result_of(data.get("parent_id"), {"error": result_text} if kind == "ToolErrorEvent" else result_text)]
        )
    if kind in _HARMLESS:
        return AppAnswer([])
    raise not_understood(place, kind_of(event), f"the events {names(EVENT_CLASSES)}")


def _response(data: Fields, place: str) -> AnswerMessage:
    said = fields_of(data.get("message")) or {}
    made = fields_of(data.get("tool_calls")) or {}
    calls = [call_from(call, each) for call, each in numbered_items(made.get("calls"), inside(place, "tool_calls"))]
    tokens = fields_of(data.get("usage")) or {}
    usage = Usage(count(tokens.get("prompt_tokens")), count(tokens.get("completion_tokens")))
    return AnswerMessage(
        "assistant", as_text(said.get("content")), tuple(calls), usage=None if usage == Usage() else usage
    )
