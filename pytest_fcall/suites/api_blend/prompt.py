"""The prompts: the publication's instruction, and demonstrations with calls in the notation of a data set."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from pytest_fcall.core.reply import Call
from pytest_fcall.core.values import Json
from pytest_fcall.suites.api_blend.data_sets import NAMELESS_ARGUMENT, Notation, Sample

# As section 4.2 of the publication prints it (arXiv 2402.15491, CC BY 4.0).
_TASK: Final = (
    "Given the APIs and Slots below, sequence them in the order in which they have to be called to answer the "
    "following query."
)
_FORMS: Final[Mapping[Notation, str]] = MappingProxyType(
    {
        "json": '[{"API": "name", "Parameters": {"slot": ["value"]}}]',
        "topv2": 'NAME(SLOT = "value"), NAME(SLOT = "value")',
        "sgd": "Name(slot = value ; slot = value) [SEP] Name(slot = value)",
        "toolqa": "Name[slot=value, slot=value], Name[slot=value]",
        "python": "[name(slot='value'), name(slot='value')]",
        "lines": "name(slot=value), a call on each line",
    }
)


def instruction_text(
    notation: Notation, apis: Sequence[str], slots: Sequence[str], examples: Sequence[Sample], question: str
) -> str:
    """Return a prompt: the APIs, the slots in one list, demonstrations, and the question.

    Without demonstrations it says the form of answers: the publication asks so only models that were trained on it.
    """
    lines = [_TASK, f"Possible APIs: {', '.join(apis)}"]
    if slots:
        lines.append(f"Possible Slots: {', '.join(slots)}")
    if examples:
        shown = [f"Query: {each.text}\nAnswer: {calls_text(notation, each.paths[0])}" for each in examples]
        lines.append("\n".join(("Here are some examples:", *shown)))
    else:
        lines.append(f"Answer with nothing else, in this form: {_FORMS[notation]}")
    return "\n".join((*lines, f"Query: {question}", "Answer:"))


def calls_text(notation: Notation, calls: Sequence[Call]) -> str:
    """Return calls in a notation."""
    return _WRITERS[notation](calls)


def _json(calls: Sequence[Call]) -> str:
    return json.dumps([{"API": call.name, "Parameters": dict(call.arguments)} for call in calls], ensure_ascii=False)


def _topv2(calls: Sequence[Call]) -> str:
    return ", ".join(f"{call.name}({', '.join(_slot(*pair) for pair in call.arguments.items())})" for call in calls)


def _slot(name: str, value: Json) -> str:
    return name if value is None else f"{name} = {json.dumps(str(value), ensure_ascii=False)}"


def _sgd(calls: Sequence[Call]) -> str:
    slots = (" ; ".join(map(_sgd_slot, call.arguments, call.arguments.values())) for call in calls)
    return " [SEP] ".join(f"{call.name}({inside})" for call, inside in zip(calls, slots, strict=True))


def _sgd_slot(name: str, value: Json) -> str:
    return name if value is None else f"{name} = {value}"


def _toolqa(calls: Sequence[Call]) -> str:
    slots = (", ".join(map(_toolqa_slot, call.arguments, call.arguments.values())) for call in calls)
    return ", ".join(f"{call.name}[{inside}]" for call, inside in zip(calls, slots, strict=True))


def _toolqa_slot(name: str, value: Json) -> str:
    return str(value) if name == NAMELESS_ARGUMENT else f"{name}={value}"


def _python(calls: Sequence[Call]) -> str:
    return f"[{', '.join(map(_call, calls))}]"


def _lines(calls: Sequence[Call]) -> str:
    return "\n".join(map(_call, calls))


def _call(call: Call) -> str:
    return f"{call.name}({', '.join(f'{name}={value!r}' for name, value in call.arguments.items())})"


_WRITERS: Final[Mapping[Notation, Callable[[Sequence[Call]], str]]] = MappingProxyType(
    {"json": _json, "topv2": _topv2, "sgd": _sgd, "toolqa": _toolqa, "python": _python, "lines": _lines}
)
