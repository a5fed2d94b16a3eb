"""An expectation as the official checker is told of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_fcall.core.expectation import Expectation
from pytest_fcall.core.pattern import Operator, Pattern
from pytest_fcall.core.rules import Language
from pytest_fcall.core.tool import Tool
from pytest_fcall.matching.bfcl.document import document
from pytest_fcall.matching.bfcl.exam import Exam

_OMITTABLE = ""


def exam_of(expectation: Expectation, tools: Sequence[Tool], language: Language) -> Exam:
    """Translate an expectation in which nothing is beyond the official checker."""
    truth = [
        {call.tool: {name: _alternatives(pattern) for name, pattern in (call.arguments or {}).items()}}
        for stage in expectation.stages
        for call in stage
    ]
    return Exam(_category(expectation, len(truth), len(tools)), [*map(document, tools)], truth, language)


def _category(expectation: Expectation, calls: int, tools: int) -> str:
    if expectation.kind != "calls":
        return "irrelevance" if expectation.kind == "no_call" else "relevance"
    if calls != 1:
        return "parallel"
    return "multiple" if tools > 1 else "simple"


def _alternatives(pattern: Pattern, level: int = 1) -> list[Any]:
    """Give what may stand in a place, the mark for leaving out last."""
    match pattern:
        case Operator("optional", inner):
            return [*_alternatives(inner, level), _OMITTABLE]
        case Operator("any", list() | tuple() as options):
            return [value for option in options for value in _alternatives(option, level)]
        case Operator("literal", value):
            return [value]
    return [_value(pattern, level)]


def _value(pattern: Pattern, level: int) -> Any:
    """Give one alternative: objects, and objects in a list, hold alternatives by key; below that all is plain."""
    match pattern:
        case Operator():
            return pattern.operand
        case Mapping():
            return {key: _alternatives(value, 0) if level else _value(value, 0) for key, value in pattern.items()}
        case list() | tuple():
            return [_value(item, level if isinstance(item, Mapping) else 0) for item in pattern]
    return pattern
