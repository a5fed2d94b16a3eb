"""Messages in OpenAI's form: written from replies and results of calls, and read from the trail of an app.

Backends convert them to the wire format of their server.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count, repeat
from typing import Final, NamedTuple

from pytest_fcall.core.conversation import CallResult, Step
from pytest_fcall.core.json_data import read_json, refuse_constant
from pytest_fcall.core.reply import Call, Calls, Reply, call_source
from pytest_fcall.core.values import Json, Message

_NO_RESULT: Final = CallResult(error="the messages of the app do not say what it gave")  # baselines may contain it


def with_call_ids(calls: Sequence[Call], made: int) -> list[Call]:
    """The calls with unique ids: the id of the wire where no other call of the reply has it, else a numbered one.

    `made` is the number of calls before these.
    """
    by_id: dict[str, Call] = {}
    own = {call.id for call in calls}
    for number, call in enumerate(calls, made + 1):
        ids = chain([call.id], (f"call_{each}" for each in count(number) if f"call_{each}" not in own))
        unique = next(each for each in ids if each and each not in by_id)
        by_id[unique] = call if unique == call.id else Call(call.name, call.arguments, unique)
    return [*by_id.values()]


def reply_message(reply: Reply, calls: Calls) -> Message:
    """The reply as a message. Where a decoder read the calls out of the text, the message has calls and no text."""
    extra = reply.extra or {}
    if not calls.calls:
        return {**extra, "role": "assistant", "content": reply.text}
    if reply.decoder is not None:
        return {
            **extra,
            "role": "assistant",
            "content": None,
            "tool_calls": [_tool_call(call) for call in calls.calls],
        }
    extras = chain((raw.extra or {} for raw in reply.tool_calls), repeat({}))
    called = [{**extra, **_tool_call(call)} for call, extra in zip(calls.calls, extras, strict=False)]
    return {**extra, "role": "assistant", "content": reply.text or None, "tool_calls": called}


def reply_text_message(reply: Reply) -> Message:
    """The text of the reply as a message, without calls."""
    return {"role": "assistant", "content": reply.text}


def results_text_message(calls: Iterable[Call], results: Iterable[CallResult]) -> Message:
    """All results in one message, as a Python list: for models whose tools are described in messages."""
    lines = [
        {"role": "tool", "name": call_source(call), "content": _content(result)}
        for call, result in zip(calls, results, strict=True)
    ]
    return {"role": "user", "content": repr(lines)}


def result_messages(calls: Iterable[Call], results: Iterable[CallResult]) -> list[Message]:
    """One message for each result, in the order of the calls."""
    return [
        {"role": "tool", "tool_call_id": call.id, "content": _content(result)}
        for call, result in zip(calls, results, strict=True)
    ]


def _tool_call(call: Call) -> dict[str, Json]:
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)},
    }


def _content(result: CallResult) -> str:
    value: Json = result.value if result.error is None else {"error": result.error}
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def steps_of_trail(step: Step) -> list[Step]:
    """The steps that the app took, read from its trail; the step itself where calls and messages do not match."""
    messages = _call_messages(step.reply.trail[len(step.request.messages) :])
    if sum(len(each.calls) for each in messages) != len(step.calls.calls):
        return [step]
    results = [each.results() for each in messages]
    while results and not results[-1]:
        results.pop()
    calls, steps = iter(step.calls.calls), []
    for number, each in enumerate(messages):
        given = () if number >= len(results) else results[number] or (_NO_RESULT,) * len(each.calls)
        steps.append(replace(step, calls=Calls(tuple(next(calls) for _ in each.calls)), results=given))
    if not steps:
        return [step]
    *before, last = steps
    unpaid = replace(step.reply, text="", usage=None, seconds=None)  # text, tokens and time count once
    return [
        *(replace(each, reply=unpaid) for each in before),
        replace(last, calls=replace(step.calls, calls=last.calls.calls)),
    ]


def messages_after_trail(step: Step) -> list[Message]:
    """All messages so far: those of the request, and those that the app added."""
    sent = step.request.messages
    return [*sent, *step.reply.trail[len(sent) :]]


class _ReportedResult(NamedTuple):
    """A result in the messages of an app, and the id of its call."""

    call_id: Json
    result: CallResult


@dataclass(slots=True)
class _CallMessage:
    """The ids of the calls in one message, and the results before the next message with calls."""

    calls: list[Json]
    reported: list[_ReportedResult] = field(default_factory=list)

    def results(self) -> tuple[CallResult, ...]:
        """For each call the result with its id, else the next one; nothing where there are too few."""
        left = [*self.reported]
        if len(left) < len(self.calls):
            return ()
        places = (next((n for n, each in enumerate(left) if each.call_id == call), 0) for call in self.calls)
        return tuple(left.pop(place).result for place in places)


def _call_messages(messages: Sequence[Message]) -> list[_CallMessage]:
    found: list[_CallMessage] = []
    for message in messages:
        if message.get("role") != "assistant":
            if found:
                found[-1].reported += _reported_results(message)
        elif calls := [*_call_ids(message)]:
            found.append(_CallMessage(calls))
    return found


def _call_ids(message: Message) -> Iterator[Json]:
    """The ids of the calls in a message; a call may have none."""
    for part in _parts(message, "tool_use"):
        yield part.get("id")
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list | tuple) else ():
        yield call.get("id") if isinstance(call, Mapping) else None
    if message.get("function_call") is not None:
        yield None


def _reported_results(message: Message) -> Iterator[_ReportedResult]:
    for part in _parts(message, "tool_result"):
        content = _text(part.get("content"))
        yield _ReportedResult(part.get("tool_use_id"), _result(content, failed=part.get("is_error") is True))
    if message.get("role") in ("tool", "function"):
        yield _ReportedResult(message.get("tool_call_id"), _result(_text(message.get("content"))))


def _parts(message: Message, kind: str) -> Iterator[Mapping[str, Json]]:
    """The content parts of one type, in Anthropic's form."""
    content = message.get("content")
    for part in content if isinstance(content, list | tuple) else ():
        if isinstance(part, Mapping) and part.get("type") == kind:
            yield part


def _text(content: Json) -> Json:
    """The content, with parts of text joined."""
    if not isinstance(content, list | tuple) or not content:
        return content
    texts = [part.get("text") for part in content if isinstance(part, Mapping) and part.get("type") == "text"]
    strings = [text for text in texts if isinstance(text, str)]
    return "".join(strings) if len(strings) == len(content) else content


def _result(content: Json, *, failed: bool = False) -> CallResult:
    if failed:
        return CallResult(error=content if isinstance(content, str) else json.dumps(content))
    if not isinstance(content, str):
        return CallResult(content)
    try:
        value = read_json(content, refuse_constant)
    except ValueError:
        return CallResult(content)
    if isinstance(value, Mapping) and value.keys() == {"error"}:
        return CallResult(error=str(value["error"]))
    return CallResult(value)
