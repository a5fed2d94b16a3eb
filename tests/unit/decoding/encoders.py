"""Writes calls as models do, for tests of the way back. A function a format."""

from __future__ import annotations

import json
from collections.abc import Sequence

from pytest_fcall.core import Call


def python(calls: Sequence[Call]) -> str:
    return f"[{', '.join(map(python_call, calls))}]"


def python_lines(calls: Sequence[Call]) -> str:
    return "\n".join(map(python_call, calls))


def python_call(call: Call) -> str:
    return f"{call.name}({', '.join(f'{key}={value!r}' for key, value in call.arguments.items())})"


def json_list(calls: Sequence[Call]) -> str:
    return json.dumps([{"name": call.name, "arguments": call.arguments} for call in calls])


def json_lines(calls: Sequence[Call]) -> str:
    return "\n".join(json.dumps({"tool": call.name, "args": call.arguments}) for call in calls)


def openai(calls: Sequence[Call]) -> str:
    functions = [{"name": call.name, "arguments": json.dumps(call.arguments)} for call in calls]
    made = [{"id": f"call_{each['name']}", "type": "function", "function": each} for each in functions]
    return json.dumps({"role": "assistant", "content": None, "tool_calls": made})


def anthropic(calls: Sequence[Call]) -> str:
    made = [{"type": "tool_use", "id": "toolu_1", "name": call.name, "input": call.arguments} for call in calls]
    return json.dumps({"role": "assistant", "content": [{"type": "text", "text": "Let me see."}, *made]})


def gorilla(calls: Sequence[Call]) -> str:
    return "".join(f"<<function>>{python_call(call)}" for call in calls)


def toolbench(calls: Sequence[Call]) -> str:
    """Arguments by position, as there."""
    return "\n".join(f"API.{call.name}({', '.join(map(repr, call.arguments.values()))})" for call in calls)


def topv2(calls: Sequence[Call]) -> str:
    return ", ".join(f"{call.name}({', '.join(_slot(*slot) for slot in call.arguments.items())})" for call in calls)


def sgd(calls: Sequence[Call]) -> str:
    made = (f"{call.name}({' ; '.join(f'{key} = {value}' for key, value in call.arguments.items())})" for call in calls)
    return " [SEP] ".join(made)


def toolqa(calls: Sequence[Call]) -> str:
    made = (f"{call.name}[{', '.join(f'{key}={value}' for key, value in call.arguments.items())}]" for call in calls)
    return json.dumps(list(made))


def atis(calls: Sequence[Call]) -> str:
    return json.dumps([{"API": call.name, "Parameters": call.arguments} for call in calls])


def _slot(name: str, value: object) -> str:
    if value is None:
        return name
    escaped = str(value).replace("\\", "\\\\").replace('"', '\\"')
    return f'{name} = "{escaped}"'
