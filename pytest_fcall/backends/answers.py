"""What an app may return, as a Reply."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from pytest_fcall.backends.openai.fields import engine, finish, said, text, usage
from pytest_fcall.core import Call, Json, Message, RawCall, Reply

FORMS = (
    "text, a list of calls ({'name': ..., 'arguments': {...}}), an OpenAI or Anthropic message, "
    "or the list of all messages"
)


class AnswerError(TypeError):
    """An app returned something that is neither text nor calls."""


def reply_of(answer: object, asked: Sequence[Message] = ()) -> Reply:
    """Read what an app returned. `asked` are the messages it was given, to tell the new part of a trail.

    Raises AnswerError, in words, for what cannot be read.
    """
    if isinstance(answer, Reply):
        return answer
    if answer is None or isinstance(answer, str):
        return Reply(text=answer or "")
    if isinstance(answer, Call):
        return _calls([answer])
    if callable(dump := getattr(answer, "model_dump", None)):
        return reply_of(dump(), asked)
    if isinstance(answer, Mapping):
        return _mapping(answer)
    if isinstance(answer, Sequence) and not isinstance(answer, (bytes, bytearray)):
        items = [_plain(item) for item in answer]
        return _trail(items, asked) if items and all(map(_is_message, items)) else _calls(items)
    raise AnswerError(f"the app returned a {type(answer).__name__}; it may return {FORMS}")


def _plain(item: object) -> object:
    dump = getattr(item, "model_dump", None)
    return dump() if callable(dump) else item


def _is_message(item: object) -> bool:
    return isinstance(item, Mapping) and "role" in item


def _mapping(answer: Mapping[str, Any]) -> Reply:
    if isinstance(choices := answer.get("choices"), Sequence) and choices:
        choice = _object(choices[0], "choices[0]")
        message = _object(choice.get("message"), "choices[0].message")
        reply = replace(_message(message), usage=usage(answer.get("usage")), engine=engine(answer))
        return _finished(reply, choice.get("finish_reason"))
    if "role" in answer or "tool_calls" in answer or "content" in answer or "function_call" in answer:
        reply = replace(_message(answer), usage=usage(answer.get("usage")), engine=engine(answer))
        return _finished(reply, answer.get("stop_reason"))
    if "name" in answer:
        return _calls([answer])
    keys = ", ".join(repr(key) for key in list(answer)[:5]) or "no keys"
    raise AnswerError(f"the app returned a dict with {keys}; it may return {FORMS}")


def _object(value: object, where: str) -> Mapping[str, Any]:
    if isinstance(value, Mapping):
        return value
    raise AnswerError(f"the app returned an answer whose {where} is a {type(value).__name__}, not an object")


def _finished(reply: Reply, reason: object) -> Reply:
    return replace(reply, finish=finish(reason)) if isinstance(reason, str) else reply


def _message(message: Mapping[str, Any]) -> Reply:
    content = message.get("content", message.get("text"))
    spoken, refused = said(content)
    calls = list(_calls_within(content))
    tool_calls = message.get("tool_calls") or ()
    if not isinstance(tool_calls, (list, tuple)):
        raise AnswerError(f"the app returned a message whose tool_calls are a {type(tool_calls).__name__}, not a list")
    calls += map(_raw, tool_calls)
    if (legacy := message.get("function_call")) is not None:
        calls.append(_raw(legacy))
    return Reply(
        text=spoken,
        tool_calls=tuple(calls),
        refusal=text(message.get("refusal")) or refused,
        finish="tool_calls" if calls else "stop",
    )


def _calls_within(content: object) -> Iterator[RawCall]:
    """The calls among the parts of a content, as Anthropic has them."""
    for part in content if isinstance(content, list | tuple) else ():
        if isinstance(part, Mapping) and part.get("type") == "tool_use":
            yield RawCall(part.get("name"), part.get("input"), text(part.get("id")))


def _calls(items: Sequence[object]) -> Reply:
    if not items:
        # Said outright, an empty list is a decision to call nothing; an empty text would not be.
        return Reply(text="[]", decoder="json")
    return Reply(tool_calls=tuple(_raw(item) for item in items), finish="tool_calls")


def _raw(item: object) -> RawCall:
    if isinstance(item, Call):
        return RawCall(item.name, item.arguments, item.id)
    if isinstance(item, Mapping):
        inner = item.get("function")
        call = inner if isinstance(inner, Mapping) else item
        if "name" in call:
            return RawCall(call["name"], _arguments(call), text(item.get("id")))
    raise AnswerError(f"the app returned a list with {item!r:.80} in it; it may return {FORMS}")


def _arguments(call: Mapping[str, Any]) -> Json:
    for key in ("arguments", "args", "input"):
        if key in call:
            return cast("Json", call[key])
    return {}


def _trail(messages: list[object], asked: Sequence[Message]) -> Reply:
    """Calls of all new assistant messages, in order, and the text of the last one.

    The trail of the reply begins with what was asked.
    """
    added = _added(cast("list[Message]", messages), asked)
    new = [_message(message) for message in added if message["role"] == "assistant"]
    if not new:
        raise AnswerError("the app returned messages without a new one of role 'assistant'")
    calls = tuple(call for reply in new for call in reply.tool_calls)
    return replace(new[-1], tool_calls=calls, trail=(*asked, *added))


def _added(trail: Sequence[Message], asked: Sequence[Message]) -> Sequence[Message]:
    """What is new in a trail.

    It may begin with the messages that were asked, or leave them out; an app that has a system message of its own, or
    keeps only a part of what was said, repeats at least what was said last.
    """
    said, known = [_said(message) for message in trail], [_said(message) for message in asked]
    if said[: len(known)] == known:
        return trail[len(known) :]
    last = [number for number, each in enumerate(said, 1) if each == known[-1]]
    return trail[last[-1] :] if last else trail


def _said(message: Message) -> tuple[object, object]:
    return message.get("role"), message.get("content")
