"""Messages in OpenAI's form: made of replies and of results of calls, and read back out of what an app returns.
Backends convert them to their wire.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count, repeat
from typing import Final, NamedTuple, NoReturn

from pytest_fcall.core.conversation import CallResult, Step
from pytest_fcall.core.reply import Call, Calls, Reply
from pytest_fcall.core.values import Json, Message


def with_call_ids(calls: Sequence[Call], made: int) -> list[Call]:
    """Give every call a name that its result can repeat: the wire's, if no other call of the reply has that one.

    Else one by the number of calls made before.
    """
    named: dict[str, Call] = {}
    own = {call.id for call in calls}
    for number, call in enumerate(calls, made + 1):
        names = chain([call.id], (f"call_{each}" for each in count(number) if f"call_{each}" not in own))
        name = next(name for name in names if name and name not in named)
        named[name] = call if name == call.id else Call(call.name, call.arguments, name)
    return [*named.values()]


def reply_message(reply: Reply, calls: Calls) -> Message:
    """What the model said. Text that calls were read out of is written anew by whoever tells it to a model."""
    beside = reply.extra or {}
    if not calls.calls:
        return {**beside, "role": "assistant", "content": reply.text}
    if reply.decoder is not None:
        return {
            **beside,
            "role": "assistant",
            "content": None,
            "tool_calls": [_tool_call(call) for call in calls.calls],
        }
    extras = chain((raw.extra or {} for raw in reply.tool_calls), repeat({}))
    called = [{**extra, **_tool_call(call)} for call, extra in zip(calls.calls, extras, strict=False)]
    return {**beside, "role": "assistant", "content": reply.text or None, "tool_calls": called}


def reply_text_message(reply: Reply) -> Message:
    """What the model said, as it said it."""
    return {"role": "assistant", "content": reply.text}


def results_text_message(calls: Iterable[Call], results: Iterable[CallResult]) -> Message:
    """What came of all calls, for a model that knows of tools by what the messages say: a list in Python."""
    lines = [
        {"role": "tool", "name": _call_source(call), "content": _content(result)}
        for call, result in zip(calls, results, strict=True)
    ]
    return {"role": "user", "content": repr(lines)}


def _call_source(call: Call) -> str:
    return f"{call.name}({', '.join(f'{name}={value!r}' for name, value in call.arguments.items())})"


def result_messages(calls: Iterable[Call], results: Iterable[CallResult]) -> list[Message]:
    """What came of each call, in the order of the calls."""
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


_NO_RESULT: Final = CallResult(error="the messages of the app do not say what it gave")


class _ReportedResult(NamedTuple):
    """What came of a call, and which call that was, in the words of the app."""

    call: Json
    result: CallResult


@dataclass(slots=True)
class _CallMessage:
    """The calls of one message, as the app names them, and what was told before the next that makes any."""

    calls: list[Json]
    told: list[_ReportedResult] = field(default_factory=list)

    def results(self) -> tuple[CallResult, ...]:
        """Of each call that one which goes by its name, else the next; nothing where there are too few."""
        left = [*self.told]
        if len(left) < len(self.calls):
            return ()
        places = (next((n for n, each in enumerate(left) if each.call == call), 0) for call in self.calls)
        return tuple(left.pop(place).result for place in places)


def steps_of_trail(step: Step) -> list[Step]:
    """The one step that the test saw, as the steps that the app took.

    Calls that cannot be told apart by messages stay in one step.
    """
    made = _call_messages(step.reply.trail[len(step.request.messages) :])
    if sum(len(each.calls) for each in made) != len(step.calls.calls):
        return [step]
    results = [each.results() for each in made]
    while results and not results[-1]:
        results.pop()
    calls, steps = iter(step.calls.calls), []
    for number, each in enumerate(made):
        told = () if number >= len(results) else results[number] or (_NO_RESULT,) * len(each.calls)
        steps.append(replace(step, calls=Calls(tuple(next(calls) for _ in each.calls)), results=told))
    if not steps:
        return [step]
    *before, last = steps
    unpaid = replace(step.reply, text="", usage=None, seconds=None)  # what the app said and took counts once
    return [
        *(replace(each, reply=unpaid) for each in before),
        replace(last, calls=replace(step.calls, calls=last.calls.calls)),
    ]


def messages_after_trail(step: Step) -> list[Message]:
    """All messages so far."""
    asked = step.request.messages
    return [*asked, *step.reply.trail[len(asked) :]]


def _call_messages(messages: Sequence[Message]) -> list[_CallMessage]:
    found: list[_CallMessage] = []
    for message in messages:
        if message.get("role") != "assistant":
            if found:
                found[-1].told += _reported_results(message)
        elif calls := [*_call_ids(message)]:
            found.append(_CallMessage(calls))
    return found


def _call_ids(message: Message) -> Iterator[Json]:
    """The names of the calls in a message; a call may have none."""
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
    """The parts of a content that are of one type, as Anthropic has them."""
    content = message.get("content")
    for part in content if isinstance(content, list | tuple) else ():
        if isinstance(part, Mapping) and part.get("type") == kind:
            yield part


def _text(content: Json) -> Json:
    """The content; where it is made of parts of text, what they say."""
    if not isinstance(content, list | tuple) or not content:
        return content
    texts = [part.get("text") for part in content if isinstance(part, Mapping) and part.get("type") == "text"]
    said = [text for text in texts if isinstance(text, str)]
    return "".join(said) if len(said) == len(content) else content


def _result(content: Json, *, failed: bool = False) -> CallResult:
    if failed:
        return CallResult(error=content if isinstance(content, str) else json.dumps(content))
    if not isinstance(content, str):
        return CallResult(content)
    try:
        value = json.loads(content, parse_constant=_no_number)
    except (ValueError, RecursionError):
        return CallResult(content)
    if isinstance(value, Mapping) and value.keys() == {"error"}:
        return CallResult(error=str(value["error"]))
    return CallResult(value)


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")
