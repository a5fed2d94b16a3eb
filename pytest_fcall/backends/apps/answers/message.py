"""Messages and calls of an answer in whatever form they came, and the Reply that they make together."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_fcall.backends.apps.answers.common_call import common_call
from pytest_fcall.backends.apps.answers.errors import AnswerError, inside, not_understood
from pytest_fcall.backends.apps.answers.values import Fields, as_json, as_text, fields_of, plain
from pytest_fcall.core.reply import Finish, RawCall, Reply, Usage, total_usage
from pytest_fcall.core.values import Json, Message


@dataclass(slots=True)
class AnswerMessage:
    """One message of an answer."""

    role: str
    """One of OpenAI's roles."""
    text: str = ""
    calls: tuple[RawCall, ...] = ()
    call_id: str | None = None
    """The call whose result a message with the role `tool` is."""
    original: Message | None = None
    """The message as it came, where it may go on to the next turn like this: in OpenAI's or Anthropic's form."""
    is_piece: bool = False
    """Whether it is a part of the assistant's message before it, if there is one: an item of OpenAI's Responses."""
    is_repeated: bool = False
    """Whether its calls may have been told before: those with the name and id of an earlier call are no others."""
    finish: Finish | None = None
    refusal: str | None = None
    malformed: str | None = None
    usage: Usage | None = None
    engine: Mapping[str, Json] = field(default_factory=dict)

    @property
    def form(self) -> Message:
        """The message as JSON: as it came, or in OpenAI's form."""
        if self.original is not None:
            form: Message = plain(self.original)
            return form
        if self.role == "tool":
            return {"role": "tool", "tool_call_id": self.call_id, "content": self.text}
        if not self.calls:
            return {"role": self.role, "content": self.text}
        calls: list[Json] = [_call_form(call) for call in self.calls]
        return {"role": self.role, "content": self.text or None, "tool_calls": calls}


def _call_form(call: RawCall) -> dict[str, Json]:
    arguments = call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments, ensure_ascii=False)
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def call_of(name: object, arguments: object, call_id: object = None) -> RawCall:
    """A call whose arguments are JSON text, or any values that an object of a framework may hold."""
    return RawCall(as_json(name), as_json(arguments), call_id if isinstance(call_id, str) and call_id else None)


def result_of(call_id: object, content: object) -> AnswerMessage:
    """The result of a call."""
    return AnswerMessage("tool", as_text(content), call_id=call_id if isinstance(call_id, str) else None)


@dataclass(slots=True)
class AppAnswer:
    """The answer of an app: messages, and the fields beside them."""

    messages: list[AnswerMessage]
    is_trail: bool = False
    """Whether the messages tell what the app did; otherwise there is one, the answer to the request."""
    is_new: bool = False
    """Whether nothing of what was sent is among the messages for certain."""
    text: str | None = None
    """The last text, where it stands apart from the messages."""

    def reply(self, sent: Sequence[Message], seconds: float | None) -> Reply:
        """The calls of all new messages of the assistant, in order, and the text of the last one.

        Raises AnswerError where there is no such message.
        """
        messages = _joined(self.messages)
        added = new_messages(messages, sent) if self.is_trail and not self.is_new else messages
        said = [message for message in added if message.role == "assistant"]
        if not said:
            raise AnswerError("the app returned no new message with the role 'assistant'")
        last = said[-1]
        for message in said:
            if message.finish == "tool_calls" and not message.calls:
                raise AnswerError("the app returned an answer that ended with calls of tools, but none is in it")
        if not any(message.calls for message in said) and any(map(_tells, added)) and not any(map(_calls, sent)):
            raise AnswerError("the app returned an answer with results of tools, but none of their calls is in it")
        return Reply(
            text=last.text if self.text is None else self.text,
            tool_calls=tuple(call for message in said for call in message.calls),
            finish=last.finish or ("tool_calls" if last.calls else "stop"),
            refusal=last.refusal,
            malformed=next((message.malformed for message in said if message.malformed), None),
            usage=last.usage if len(said) == 1 else total_usage(message.usage for message in said),
            engine=last.engine,
            seconds=seconds,
            trail=(*sent, *(message.form for message in added)) if self.is_trail else (),
        )


def _joined(messages: Iterable[AnswerMessage]) -> list[AnswerMessage]:
    """The messages, with the pieces of one joined: calls that were made at once are in one message."""
    whole: list[AnswerMessage] = []
    for message in _without_repeats(messages):
        before = whole[-1] if whole else None
        if before and before.role == message.role == "assistant" and before.is_piece and message.is_piece:
            whole[-1] = AnswerMessage(
                "assistant",
                before.text + message.text,
                before.calls + message.calls,
                is_piece=True,
                refusal=before.refusal or message.refusal,
            )
        else:
            whole.append(message)
    return whole


def _tells(message: AnswerMessage) -> bool:
    """Whether it tells what a call gave."""
    return message.role in ("tool", "function") or _has_part(message.original, "tool_result")


def _calls(message: Message) -> bool:
    """Whether it is one with calls, in OpenAI's or Anthropic's form."""
    return bool(message.get("tool_calls") or message.get("function_call")) or _has_part(message, "tool_use")


def _has_part(message: Message | None, kind: str) -> bool:
    content = message.get("content") if message else None
    return isinstance(content, list | tuple) and any(
        isinstance(part, Mapping) and part.get("type") == kind for part in content
    )


def _without_repeats(messages: Iterable[AnswerMessage]) -> Iterable[AnswerMessage]:
    """The messages, without calls that are told a second time."""
    told: list[tuple[Json, str | None]] = []
    for message in messages:
        if message.is_repeated:
            message.calls = tuple(call for call in message.calls if (call.name, call.id) not in told)
        told += [(call.name, call.id) for call in message.calls]
        if message.calls or not message.is_repeated:
            yield message


def new_messages(trail: list[AnswerMessage], sent: Sequence[Message]) -> list[AnswerMessage]:
    """The new messages of a trail.

    A trail may begin with the messages that were sent, or leave them out. An app with a system message of its own, or
    one that keeps a part of the conversation, repeats at least the last message that was sent. An app may say that
    again later: a call that was not sent is new, whatever follows it.
    """
    keys, sent_keys = [_key(message.original or message.form) for message in trail], [_key(each) for each in sent]
    if keys[: len(sent_keys)] == sent_keys:
        return trail[len(sent_keys) :]
    start = 0
    for end, (key, message) in enumerate(zip(keys, trail, strict=True), 1):
        if message.calls and key not in sent_keys:
            break
        if key == sent_keys[-1]:
            start = end
    return trail[start:]


def _key(message: Message) -> tuple[object, object, object]:
    """The role, the text and the calls of a message. Text is the same as a list of its parts."""
    role, content, calls = message.get("role"), message.get("content"), message.get("tool_calls")
    if content and isinstance(content, list | tuple) and all(_is_text(part) for part in content):
        content = "".join(str(part["text"]) for part in content if isinstance(part, Mapping))
    called = [_name(each) for each in calls] if calls and isinstance(calls, list | tuple) else []
    return "system" if role == "developer" else role, content or "", called


def _name(call: Json) -> Json:
    function = call.get("function") if isinstance(call, Mapping) else None
    return function.get("name") if isinstance(function, Mapping) else None


def _is_text(part: Json) -> bool:
    return isinstance(part, Mapping) and part.get("type") in ("text", "input_text", "output_text") and "text" in part


@dataclass(slots=True)
class Content:
    """The text and the calls that the parts of a content hold together."""

    text: str = ""
    refusal: str | None = None
    calls: list[RawCall] = field(default_factory=list)
    results: list[AnswerMessage] = field(default_factory=list)
    """Results of calls, in forms that are not those of OpenAI and Anthropic."""
    is_foreign: bool = False
    """Whether there are parts that neither OpenAI nor Anthropic has."""


_NAMES = ("name", "tool_name", "toolName")
_ARGUMENTS = ("arguments", "args", "input", "parameters", "tool_kwargs", "kwargs")
_IDS = ("id", "call_id", "tool_call_id", "toolCallId", "tool_id", "tool_use_id")
_ABOUT = frozenset({*_NAMES, *_IDS, "type", "index", "kind", "extra", "extra_content", "providerExecuted", "dynamic"})
"""The fields that a call without arguments may have. With others it may be anything that has a name."""
_UNDERSTOOD = "a call as {'name': ..., 'arguments': {...}}, or in the form of an API or a framework"


def call_from(value: object, place: str) -> RawCall:
    """The call that the value is. Raises AnswerError."""
    if (call := common_call(value)) is not None:
        return call
    data = value if isinstance(value, dict) else fields_of(value)
    if data is None or not is_call(data):
        raise not_understood(place, f"{value!r:.80}", _UNDERSTOOD)
    inner = _inner(data)
    name: Any = next(inner[key] for key in _NAMES if key in inner)
    arguments: Any = next((inner[key] for key in _ARGUMENTS if key in inner), {})
    call_id: Any = next((data[key] for key in _IDS if isinstance(data.get(key), str) and data[key]), None)
    if inner is value or (isinstance(value, dict) and isinstance(arguments, (dict, str))):
        return RawCall(name, arguments, call_id)
    return RawCall(plain(name), plain(arguments), call_id)


def is_call(data: Fields) -> bool:
    """Whether these are the fields of a call."""
    inner = _inner(data)
    if not any(name in inner for name in _NAMES) or ("description" in inner and "parameters" in inner):
        return False
    return any(name in inner for name in _ARGUMENTS) or all(name in _ABOUT for name in inner)


def _inner(data: Fields) -> Fields:
    """The part that holds name and arguments: the field for the kind of tool, or the call itself."""
    for name in ("function", "custom"):
        if (held := data.get(name)) is not None and not isinstance(held, str):
            inner = held if isinstance(held, dict) else fields_of(held)
            if inner is not None:
                return inner
    return data


def call_list(value: object, place: str) -> tuple[RawCall, ...]:
    """The calls of a message; none where there is nothing, or what a library has for that. Raises AnswerError."""
    if not value:
        return ()
    if not isinstance(value, (list, tuple)):
        raise AnswerError(
            f"the app returned a message whose {place.rpartition('.')[2]} are a {type(value).__name__}, not a list"
        )
    return tuple([call_from(each, inside(place, number)) for number, each in enumerate(value)])
