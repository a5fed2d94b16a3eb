"""The conversation of an app that carries out its calls itself, read out of the messages that it gave back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple, NoReturn

from pytest_fcall.core.call import Calls
from pytest_fcall.core.environment import Executed
from pytest_fcall.core.transcript import Step
from pytest_fcall.core.values import Json, Message

_UNTOLD: Final = Executed(error="the messages of the app do not say what it gave")


class _Told(NamedTuple):
    """What came of a call, and which call that was, in the words of the app."""

    call: Json
    result: Executed


@dataclass(slots=True)
class _Made:
    """The calls of one message, as the app names them, and what was told before the next that makes any."""

    calls: list[Json]
    told: list[_Told] = field(default_factory=list)

    def results(self) -> tuple[Executed, ...]:
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
    made = _made(step.reply.trail[len(step.request.messages) :])
    if sum(len(each.calls) for each in made) != len(step.calls.calls):
        return [step]
    results = [each.results() for each in made]
    while results and not results[-1]:
        results.pop()
    calls, steps = iter(step.calls.calls), []
    for number, each in enumerate(made):
        told = () if number >= len(results) else results[number] or (_UNTOLD,) * len(each.calls)
        steps.append(replace(step, calls=Calls(tuple(next(calls) for _ in each.calls)), results=told))
    if not steps:
        return [step]
    *before, last = steps
    unpaid = replace(step.reply, text="", usage=None, seconds=None)  # what the app said and took counts once
    return [
        *(replace(each, reply=unpaid) for each in before),
        replace(last, calls=replace(step.calls, calls=last.calls.calls)),
    ]


def after_trail(step: Step) -> list[Message]:
    """All messages so far."""
    asked = step.request.messages
    return [*asked, *step.reply.trail[len(asked) :]]


def _made(messages: Sequence[Message]) -> list[_Made]:
    found: list[_Made] = []
    for message in messages:
        if message.get("role") != "assistant":
            if found:
                found[-1].told += _told(message)
        elif calls := [*_calls(message)]:
            found.append(_Made(calls))
    return found


def _calls(message: Message) -> Iterator[Json]:
    """The names of the calls in a message; a call may have none."""
    for part in _parts(message, "tool_use"):
        yield part.get("id")
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list | tuple) else ():
        yield call.get("id") if isinstance(call, Mapping) else None
    if message.get("function_call") is not None:
        yield None


def _told(message: Message) -> Iterator[_Told]:
    for part in _parts(message, "tool_result"):
        content = _text(part.get("content"))
        yield _Told(part.get("tool_use_id"), _result(content, failed=part.get("is_error") is True))
    if message.get("role") in ("tool", "function"):
        yield _Told(message.get("tool_call_id"), _result(_text(message.get("content"))))


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


def _result(content: Json, *, failed: bool = False) -> Executed:
    if failed:
        return Executed(error=content if isinstance(content, str) else json.dumps(content))
    if not isinstance(content, str):
        return Executed(content)
    try:
        value = json.loads(content, parse_constant=_no_number)
    except (ValueError, RecursionError):
        return Executed(content)
    if isinstance(value, Mapping) and value.keys() == {"error"}:
        return Executed(error=str(value["error"]))
    return Executed(value)


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")
