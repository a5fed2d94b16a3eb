"""A reply, and what came of its calls, as messages in OpenAI's form; back ends write them as their wire wants them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import chain, count, repeat

from pytest_fcall.core.call import Call, Calls
from pytest_fcall.core.environment import Executed
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.values import Json, Message


def named_calls(calls: Sequence[Call], made: int) -> list[Call]:
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


def spoken(reply: Reply, calls: Calls) -> Message:
    """What the model said. Text that calls were read out of is written anew by whoever tells it to a model."""
    beside = reply.extra or {}
    if not calls.calls:
        return {**beside, "role": "assistant", "content": reply.text}
    if reply.decoder is not None:
        return {**beside, "role": "assistant", "content": None, "tool_calls": [_called(call) for call in calls.calls]}
    extras = chain((raw.extra or {} for raw in reply.tool_calls), repeat({}))
    called = [{**extra, **_called(call)} for call, extra in zip(calls.calls, extras, strict=False)]
    return {**beside, "role": "assistant", "content": reply.text or None, "tool_calls": called}


def spoken_as_text(reply: Reply) -> Message:
    """What the model said, as it said it."""
    return {"role": "assistant", "content": reply.text}


def told_as_text(calls: Iterable[Call], results: Iterable[Executed]) -> Message:
    """What came of all calls, for a model that knows of tools by what the messages say: a list in Python."""
    lines = [
        {"role": "tool", "name": _source(call), "content": _content(result)}
        for call, result in zip(calls, results, strict=True)
    ]
    return {"role": "user", "content": repr(lines)}


def _source(call: Call) -> str:
    return f"{call.name}({', '.join(f'{name}={value!r}' for name, value in call.arguments.items())})"


def told(calls: Iterable[Call], results: Iterable[Executed]) -> list[Message]:
    """What came of each call, in the order of the calls."""
    return [
        {"role": "tool", "tool_call_id": call.id, "content": _content(result)}
        for call, result in zip(calls, results, strict=True)
    ]


def _called(call: Call) -> dict[str, Json]:
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)},
    }


def _content(result: Executed) -> str:
    value: Json = result.value if result.error is None else {"error": result.error}
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
