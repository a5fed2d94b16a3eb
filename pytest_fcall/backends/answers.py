"""What an app may return, as a Reply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from pytest_fcall.core import Call, Finish, Json, Message, RawCall, Reply, Usage

FORMS = (
    "text, a list of calls ({'name': ..., 'arguments': {...}}), an OpenAI or Anthropic message, "
    "or the list of all messages"
)
_FINISH: Mapping[str, Finish] = {
    "stop": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_calls": "tool_calls",
    "tool_use": "tool_calls",
    "function_call": "tool_calls",
    "length": "length",
    "max_tokens": "length",
    "refusal": "refusal",
    "content_filter": "content_filter",
}


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
        reply = replace(_message(message), usage=_usage(answer.get("usage")), engine=_engine(answer))
        return _finished(reply, choice.get("finish_reason"))
    if "role" in answer or "tool_calls" in answer or "content" in answer or "function_call" in answer:
        reply = replace(_message(answer), usage=_usage(answer.get("usage")), engine=_engine(answer))
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
    return replace(reply, finish=_FINISH.get(reason, "unknown")) if isinstance(reason, str) else reply


def _message(message: Mapping[str, Any]) -> Reply:
    content = message.get("content")
    text, calls = _content(content)
    tool_calls = message.get("tool_calls") or ()
    if not isinstance(tool_calls, (list, tuple)):
        raise AnswerError(f"the app returned a message whose tool_calls are a {type(tool_calls).__name__}, not a list")
    calls += map(_raw, tool_calls)
    if (legacy := message.get("function_call")) is not None:
        calls.append(_raw(legacy))
    refusal = message.get("refusal")
    return Reply(
        text=text,
        tool_calls=tuple(calls),
        refusal=refusal if isinstance(refusal, str) else None,
        finish="tool_calls" if calls else "stop",
    )


def _content(content: object) -> tuple[str, list[RawCall]]:
    """Text and calls of a message's content: a string, or OpenAI's or Anthropic's list of parts."""
    if not isinstance(content, Sequence) or isinstance(content, str):
        return content if isinstance(content, str) else "", []
    parts = [part for part in content if isinstance(part, Mapping)]
    text = "".join(str(part.get("text", "")) for part in parts if part.get("type") in ("text", "output_text"))
    calls = [
        RawCall(part.get("name"), part.get("input"), _id(part)) for part in parts if part.get("type") == "tool_use"
    ]
    return text, calls


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
            return RawCall(call["name"], _arguments(call), _id(item))
    raise AnswerError(f"the app returned a list with {item!r:.80} in it; it may return {FORMS}")


def _arguments(call: Mapping[str, Any]) -> Json:
    for key in ("arguments", "args", "input"):
        if key in call:
            return cast("Json", call[key])
    return {}


def _id(item: Mapping[str, Any]) -> str | None:
    found = item.get("id")
    return found if isinstance(found, str) else None


def _trail(messages: list[object], asked: Sequence[Message]) -> Reply:
    """Calls of all new assistant messages, in order, and the text of the last one.

    A trail may begin with the messages that were asked, or leave them out.
    """
    trail = cast("list[Mapping[str, Any]]", messages)
    repeated = [_said(message) for message in trail[: len(asked)]] == [_said(message) for message in asked]
    added = trail[len(asked) :] if repeated else trail
    new = [_message(message) for message in added if message["role"] == "assistant"]
    if not new:
        raise AnswerError("the app returned messages without a new one of role 'assistant'")
    calls = tuple(call for reply in new for call in reply.tool_calls)
    return replace(new[-1], tool_calls=calls, trail=tuple(trail))


def _said(message: Mapping[str, Any]) -> tuple[object, object]:
    return message.get("role"), message.get("content")


def _usage(usage: object) -> Usage | None:
    if not isinstance(usage, Mapping):
        return None

    def count(*names: str) -> int | None:
        return next((n for name in names if isinstance(n := usage.get(name), int)), None)

    return Usage(count("prompt_tokens", "input_tokens"), count("completion_tokens", "output_tokens"))


def _engine(answer: Mapping[str, Any]) -> Mapping[str, str]:
    model = answer.get("model")
    return {"model": model} if isinstance(model, str) else {}
