"""Messages with `role` and `content`, as OpenAI, Anthropic and the AI SDK write them, and whole completions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pytest_fcall.backends.apps.answers.errors import AnswerError, inside, not_understood
from pytest_fcall.backends.apps.answers.message import AnswerMessage, AppAnswer, call_from, call_list
from pytest_fcall.backends.apps.answers.parts import content_of
from pytest_fcall.backends.apps.answers.values import (
    Fields,
    check_ignored,
    field,
    fields_of,
    kind_of,
    plain,
    said,
    word,
)
from pytest_fcall.backends.openai.answer_fields import engine, finish, text, usage
from pytest_fcall.core.reply import RawCall
from pytest_fcall.core.values import Message

_ROLES = frozenset({"assistant", "user", "system", "developer", "tool", "function"})
_READ = frozenset({"role", "content", "text", "tool_calls", "toolCalls", "function_call"})

_SAID = frozenset(
    {*("content", "text", "tool_calls", "toolCalls", "function_call", "refusal"), *("audio", "reasoning_content")}
)


def read_message(data: Fields, place: str = "") -> AppAnswer:
    """A message, alone or with what a completion says of it: Anthropic's messages are whole answers."""
    messages = messages_of(data, place)
    reason = data.get("stop_reason")
    if messages and messages[0].role == "assistant":
        first = replace(messages[0], usage=usage(data.get("usage")), engine=engine(data))
        messages[0] = replace(first, finish=finish(reason)) if isinstance(reason, str) else first
    return AppAnswer(messages)


def read_completion(data: Fields, place: str = "") -> AppAnswer:
    """The message of a completion's first choice."""
    place = inside(place, "choices") + "[0]"
    choice = _object(data["choices"][0], place)
    inner = inside(place, "message")
    messages = messages_of(_object(choice.get("message"), inner), inner)
    check_ignored(choice, ("message",), place)
    rest = {f"choices[{number}]": each for number, each in enumerate(data["choices"]) if number}
    check_ignored({**data, **rest}, ("choices",), "")
    reason = field(choice, "finish_reason", "finishReason")
    whole = replace(messages[0], usage=usage(_plain_fields(data.get("usage"))), engine=engine(data))
    return AppAnswer([replace(whole, finish=finish(reason)) if isinstance(reason, str) else whole, *messages[1:]])


def _object(value: object, place: str) -> Fields:
    if (data := fields_of(value)) is not None:
        return data
    raise AnswerError(f"the app returned an answer whose {place} is a {type(value).__name__}, not an object")


def _plain_fields(value: object) -> Any:
    return value if isinstance(value, Mapping) else plain(value)


def messages_of(data: Fields, place: str) -> list[AnswerMessage]:
    """The messages that a message is: itself, and the results that its content holds in forms other than OpenAI's."""
    role = word(data.get("role")) or ("assistant" if data.get("role") is None else "")
    if role not in _ROLES:
        what = f"a message with the role {str(data.get('role'))[:80]!r}"
        raise not_understood(place, what, f"the roles {', '.join(sorted(_ROLES))}")
    if role in ("tool", "function"):
        return _results(data, role, place)
    if not _READ.issuperset(data):
        check_ignored(data, _READ, place)
    if not _SAID & data.keys():
        raise not_understood(place, kind_of(data), f"a message with one of {', '.join(sorted(_SAID))}")
    given, beside = data.get("content"), data.get("text")
    content = content_of(beside if given is None else given, inside(place, "content"))
    if beside is not None and given is not None:
        said(beside, inside(place, "text"))
    calls = content.calls
    for name in ("tool_calls", "toolCalls"):
        if held := data.get(name):
            calls = _with_more(calls, call_list(held, inside(place, name)))
    if (legacy := data.get("function_call")) is not None:
        calls = [*calls, call_from(legacy, inside(place, "function_call"))]
    if calls and role != "assistant":
        raise not_understood(place, f"a message with the role {role!r} that holds calls", "calls of the assistant")
    message = AnswerMessage(
        role,
        content.text,
        tuple(calls),
        original=None if content.is_foreign else _original(data),
        refusal=text(data.get("refusal")) or content.refusal,
    )
    return [message, *content.results]


def _with_more(calls: Sequence[RawCall], more: Sequence[RawCall]) -> list[RawCall]:
    """The calls, and those of the others that have other ids: a content and `tool_calls` may both have a call."""
    known = {call.id for call in calls if call.id}
    return [*calls, *(call for call in more if call.id not in known)]


def _original(data: Fields) -> Message:
    """The message as it came. Objects have fields for whatever their API may send; those that it did not send go."""
    if isinstance(data, dict) and not any(each is None for each in data.values()):
        return data
    return {name: each for name, each in data.items() if each is not None or name == "content"}


def _results(data: Fields, role: str, place: str) -> list[AnswerMessage]:
    """The results that a message tells. In the AI SDK one message tells several."""
    content = data.get("content")
    if isinstance(content, (list, tuple)) and any(_is_foreign(part) for part in content):
        return content_of(content, inside(place, "content")).results
    return [AnswerMessage(role, "", original=_original(data))]


def _is_foreign(part: object) -> bool:
    data = fields_of(part)
    kind = None if data is None else data.get("type")
    return isinstance(kind, str) and kind.startswith("tool-")


def read_enclosed(data: Fields, place: str = "") -> AppAnswer:
    """The message that stands beside what is said about it, as Cohere, Ollama and Bedrock answer."""
    held, where = data, place
    for name in ("output", "message"):
        if name in held:
            held, where = _object(held[name], inside(where, name)), inside(where, name)
    check_ignored(data, ("output", "message"), place)
    answer = read_message(held, where)
    reason = field(data, "finish_reason", "stopReason", "done_reason")
    if isinstance(reason, str):
        answer.messages[0].finish = finish(reason)
    return answer
