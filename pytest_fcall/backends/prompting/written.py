"""Calls that were made earlier in a conversation, as each style has the model write them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from pytest_fcall.core import Call, Json

Written: TypeAlias = Callable[[Sequence[Call]], str]


def tagged(calls: Sequence[Call]) -> str:
    """One JSON object between `<tool_call>` tags for each call."""
    return "\n".join(f"<tool_call>\n{_json(_named(call, 'name', 'arguments'))}\n</tool_call>" for call in calls)


def listed(calls: Sequence[Call]) -> str:
    """A JSON list of calls."""
    return _json([_named(call, "name", "arguments") for call in calls])


def python(calls: Sequence[Call]) -> str:
    """A list of calls in Python."""
    return f"[{', '.join(_python(call) for call in calls)}]"


def _named(call: Call, name: str, arguments: str) -> Mapping[str, Json]:
    return {name: call.name, arguments: call.arguments}


def _python(call: Call) -> str:
    return f"{call.name}({', '.join(f'{name}={value!r}' for name, value in call.arguments.items())})"


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)
