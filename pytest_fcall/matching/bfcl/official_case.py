"""Cases in the form of the official checker, functions, ground truth and category, and its rulings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

from pytest_fcall.core.expectation import Expectation, Language
from pytest_fcall.core.operators import Operator, Pattern
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.schema.tool_schema import tool_schema
from pytest_fcall.schema.traversal import applied_schemas


@dataclass(frozen=True, slots=True)
class OfficialCase:
    """One case in the official form, with values as in the official files.

    The rules follow from words in `category`: `relevance`, `parallel`, `multiple`. The category of a case about
    sensitivity to formats is the one that its id ends in.
    """

    category: str
    functions: Sequence[Mapping[str, Any]]
    truth: Sequence[Mapping[str, Any]]
    """The expected calls, with a list of alternatives for each argument; empty if only calling or not counts."""
    language: Language = "python"
    dots_as_underscores: bool = False
    """Whether the model had to write `_` for each dot in the names of functions."""


_OFFICIAL_TYPES: Mapping[Json, str] = MappingProxyType(
    {
        "string": "string",
        "integer": "integer",
        "number": "float",
        "boolean": "boolean",
        "array": "array",
        "object": "dict",
    }
)


def official_tool(tool: Tool) -> dict[str, Any]:
    """The tool's name and parameters, as they were declared if that was in the leaderboard's dialect."""
    declared = tool.declared
    if declared is not None and declared.get("type") == "dict":
        return {"name": tool.name, "parameters": {"properties": {}, "required": [], **declared}}
    root, known = tool.parameters, tool_schema(tool)
    properties = {name: _declared(root, part) for name, part in known.parameters.items()}
    return {"name": tool.name, "parameters": {"properties": properties, "required": sorted(known.required)}}


def _declared(root: Mapping[str, Json], part: Json) -> dict[str, Any]:
    items = next((piece["items"] for piece, _ in applied_schemas(root, part) if "items" in piece), None)
    return {"type": _official_type(root, part), "items": {"type": _official_type(root, items)}}


def _official_type(root: Mapping[str, Json], part: Json) -> str:
    """The one type that is declared beside null; `any` if there are several or none."""
    named = (piece.get("type") for piece, _ in applied_schemas(root, part))
    types = {word for each in named for word in (each if isinstance(each, list) else [each]) if word is not None}
    (word, *more) = types - {"null"} or {None}
    return "any" if more else _OFFICIAL_TYPES.get(word, "any")


_OMITTABLE = ""


def official_case(expectation: Expectation, tools: Sequence[Tool], language: Language) -> OfficialCase:
    """The official form of an expectation that the official checker supports."""
    truth = [
        {call.tool: {name: _alternatives(pattern) for name, pattern in (call.arguments or {}).items()}}
        for stage in expectation.stages
        for call in stage
    ]
    return OfficialCase(_category(expectation, len(truth), len(tools)), [*map(official_tool, tools)], truth, language)


def _category(expectation: Expectation, calls: int, tools: int) -> str:
    if expectation.kind != "calls":
        return "irrelevance" if expectation.kind == "no_call" else "relevance"
    if calls != 1:
        return "parallel"
    return "multiple" if tools > 1 else "simple"


def _alternatives(pattern: Pattern, *, is_deep: bool = False) -> list[Any]:
    """The alternatives for a value; an empty string, if it may be left out, comes last."""
    match pattern:
        case Operator("optional", inner):
            return [*_alternatives(inner, is_deep=is_deep), _OMITTABLE]
        case Operator("any", list() | tuple() as options):
            return [value for option in options for value in _alternatives(option, is_deep=is_deep)]
    return [_value(pattern, is_deep=is_deep)]


def _value(pattern: Pattern, *, is_deep: bool) -> Any:
    """One alternative. Objects, and objects in a list, have alternatives for each key; what is in these is plain."""
    match pattern:
        case Operator("literal", value):
            return value
        case Mapping():
            read = _value if is_deep else _alternatives
            return {key: read(value, is_deep=True) for key, value in pattern.items()}
        case list() | tuple():
            return [_value(item, is_deep=is_deep or not isinstance(item, Mapping)) for item in pattern]
    return pattern


class Ruling(NamedTuple):
    """Valid or not, the official name of the error, and our sentences about it.

    Where the official checker raises an exception, `error_type` is `case_error:` with its name. The last fields locate
    the error: the argument, the pairs of expected and made calls before it, and for an expected call without a match
    the rejected calls by index.
    """

    valid: bool
    error_type: str | None = None
    errors: tuple[str, ...] = ()
    argument: str | None = None
    pairs: tuple[tuple[int, int], ...] = ()
    rejected: tuple[tuple[int, Ruling], ...] = ()


Objection: TypeAlias = Ruling | None
"""A ruling with an error, or None."""

VALID = Ruling(True)

_LONGEST = 200


def objection(error_type: str, *errors: str, argument: object = None) -> Ruling:
    """A ruling with an error."""
    return Ruling(False, error_type, errors, argument if isinstance(argument, str) else None)


def short_repr(value: object) -> str:
    """The beginning of the `repr` of a value, which is written in full: where it fails, the official checker does."""
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
