"""The rules of the lint of tools, and what they find in a catalogue of tools that are offered together."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import combinations
from types import MappingProxyType
from typing import Final, Literal

from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.schema.lint import words
from pytest_fcall.schema.tool_schema import tool_schema
from pytest_fcall.schema.traversal import Path, applied_schemas, parameter_path
from pytest_fcall.schema.wire_tools import wire_name

_MOST_WORDS: Final = 8
_MOST_TOOLS: Final = 20
_ALIKE: Final = 0.5
"""The share of the words of a tool that stand in another one from which the two are alike.

Chosen among others by the answers that it was measured on: docs/how-to/mcp-servers.md says what that is worth.
"""
_LEAST_COMMON: Final = 2
_VAGUE: Final = frozenset(
    [
        "arg",
        "argument",
        "attr",
        "body",
        "config",
        "context",
        "data",
        "details",
        "extra",
        "field",
        "flag",
        "info",
        "input",
        "item",
        "key",
        "kind",
        "obj",
        "object",
        "opt",
        "option",
        "options",
        "param",
        "parameter",
        "params",
        "payload",
        "prop",
        "props",
        "request",
        "setting",
        "settings",
        "str",
        "string",
        "thing",
        "type",
        "val",
        "value",
        "values",
        "var",
    ]
)


@dataclass(frozen=True, slots=True)
class ToolRule:
    """One rule. `python -m benchmarks.tool_lint` measures whether models err more often where it applies."""

    summary: str
    effect: Literal["fact", "measured", "unmeasured", "none"]
    """Whether models are known to err more often: a run is refused anyway, measured, too few answers to tell, not."""
    severity: Literal["error", "warning"] = "warning"
    is_default: bool = False
    """Whether it is checked without being named."""


RULES: Mapping[str, ToolRule] = MappingProxyType(
    {
        "same-name": ToolRule("two tools have the same name on the wire", "fact", "error", is_default=True),
        "no-description": ToolRule(
            "a tool has no description, or one that repeats its name", "unmeasured", is_default=True
        ),
        "alike": ToolRule("two tools share half of their words", "measured", is_default=True),
        "many-tools": ToolRule("more than 20 tools are offered at once", "unmeasured"),
        "unexplained": ToolRule(
            "a parameter has no description, and a name that says nothing", "unmeasured", is_default=True
        ),
        "unused": ToolRule("an optional parameter without description is in no case", "unmeasured"),
        "contradiction": ToolRule("the description calls a required parameter optional", "unmeasured", is_default=True),
        "choices-in-words": ToolRule("the description lists the values of a free string", "none"),
        "bounds-in-words": ToolRule("the description bounds a number that the schema does not bound", "none"),
        "format-in-words": ToolRule(
            "the description names the format of a string, and the schema does not", "measured", is_default=True
        ),
        "default-in-words": ToolRule("the description names a default, and the schema does not", "none"),
        "no-type": ToolRule("a parameter has no type", "unmeasured"),
        "open-object": ToolRule("an object has no properties, or takes any others", "unmeasured"),
    }
)
"""The rules by their names."""


@dataclass(frozen=True, slots=True)
class ToolFinding:
    """A finding of a rule about a tool, or about one of its arguments."""

    rule: str
    tool: str
    argument: str
    """The path of the argument, such as `filter.unit`; empty for the tool itself."""
    message: str
    hint: str
    other: str = ""
    """The other tool, where the finding is about two."""


def tool_findings(tools: Sequence[Tool], named: Mapping[str, Collection[Path]] | None = None) -> Iterator[ToolFinding]:
    """All findings about tools that are offered together.

    `named` holds the arguments that cases name, by tool; without it no argument is called unused.
    """
    yield from _same_names(tools)
    if len(tools) > _MOST_TOOLS:
        yield ToolFinding(
            "many-tools",
            "",
            "",
            f"{len(tools)} tools are offered at once",
            "offer fewer (`only:`), split the server, or let a retriever choose (`retrieve:`)",
        )
    for tool in tools:
        yield from _description(tool)
        yield from argument_findings(tool, None if named is None else named.get(tool.name, ()))
    yield from _alike(tools)


def _same_names(tools: Sequence[Tool]) -> Iterator[ToolFinding]:
    first: dict[str, str] = {}
    for tool in tools:
        sent = wire_name(tool.name)
        if sent in first:
            other = first[sent]
            yield ToolFinding(
                "same-name",
                tool.name,
                "",
                f"is sent as `{sent}`, like `{other}`" if other != tool.name else "stands there twice",
                "rename one of them, or give a source a prefix (`as:`)",
            )
        first.setdefault(sent, tool.name)


def _description(tool: Tool) -> Iterator[ToolFinding]:
    described = words.content_words(tool.description)
    if described - words.content_words(tool.name):
        return
    what = "has no description" if not tool.description.strip() else "has a description that repeats its name"
    yield ToolFinding(
        "no-description",
        tool.name,
        "",
        what,
        "say what it does, when to use it, and when another tool is the right one",
    )


def _tool_words(tool: Tool) -> frozenset[str]:
    return words.content_words(f"{tool.name} {tool.description}")


def _alike(tools: Sequence[Tool]) -> Iterator[ToolFinding]:
    tool_words = [(tool, _tool_words(tool)) for tool in tools]
    for (one, first), (other, second) in combinations(tool_words, 2):
        both, fewest = first & second, min(len(first), len(second))
        if len(both) < max(_ALIKE * fewest, _LEAST_COMMON) or one.name == other.name:
            continue
        yield ToolFinding(
            "alike",
            one.name,
            "",
            f"shares {len(both)} of {fewest} words with `{other.name}`: {_some(both)}",
            f"{_only(one, first - second)}; {_only(other, second - first)}: "
            "say in both when to use this one and not the other",
            other=other.name,
        )


def _some(found: Collection[str]) -> str:
    shown = sorted(found)[:_MOST_WORDS]
    return ", ".join(shown) + (" …" if len(found) > len(shown) else "")


def _only(tool: Tool, own: Collection[str]) -> str:
    return f"only `{tool.name}` says {_some(own)}" if own else f"`{tool.name}` says nothing of its own"


def argument_findings(tool: Tool, named: Collection[Path] | None) -> Iterator[ToolFinding]:
    """The findings about the arguments of a tool. `named` are those that cases name, where there are cases."""
    for path, own, is_required in tool_schema(tool).arguments():
        for rule, message, hint in _of_argument(tool.parameters, path, own, is_required):
            yield ToolFinding(rule, tool.name, parameter_path(path), message, hint)
        if named is not None and not is_required and not _text(own) and path not in named:
            yield ToolFinding(
                "unused",
                tool.name,
                parameter_path(path),
                "is optional, has no description, and no case names it",
                "describe it and write a case that needs it, or take it away",
            )


_Said = tuple[str, str, str]
"""A rule, a message and a hint."""


def _of_argument(root: Mapping[str, Json], path: Path, own: Mapping[str, Json], is_required: bool) -> Iterator[_Said]:
    pieces = [piece for piece, _ in applied_schemas(root, own)]
    description, name = _text(own), str(path[-1])
    types = {str(each) for piece in pieces for each in _listed(piece.get("type"))}
    name_words = words.content_words(name)
    if not description and (len(name) < 3 or name_words <= _VAGUE):
        yield "unexplained", "has no description, and its name says nothing", "describe what to give, with an example"
    if not any({"type", "enum", "const"} & piece.keys() for piece in pieces):
        yield "no-type", "has no type: any value is allowed", "give its `type`"
    if is_required and (found := words.optional_words(description)):
        yield "contradiction", f"is required, and described as `{found}`", "take it out of `required`, or say otherwise"
    yield from _of_object(pieces, types)
    if description:
        yield from _in_words(description, pieces, types, is_required)


def _of_object(pieces: Sequence[Mapping[str, Json]], types: Collection[str]) -> Iterator[_Said]:
    if "object" not in types:
        return
    if any(piece.get("additionalProperties") is True and piece.get("properties") for piece in pieces):
        yield "open-object", "takes properties of any other name", "set `additionalProperties: false`"
    elif not any(piece.get(key) for piece in pieces for key in _SHAPES):
        yield "open-object", "is an object without properties", "list its `properties`"


_SHAPES: Final = ("properties", "patternProperties", "additionalProperties", "enum", "const")


def _in_words(
    description: str, pieces: Sequence[Mapping[str, Json]], types: AbstractSet[str], is_required: bool
) -> Iterator[_Said]:
    """The findings about facts that the description states and the schema does not."""
    known = {key for piece in pieces for key in piece}
    if "string" in types and not known & {"enum", "const", "pattern", "format"}:
        if values := words.listed_values(description):
            shown = ", ".join(values[:_MOST_WORDS])
            yield "choices-in-words", f"may be any string; the description lists {shown}", f"write enum: [{shown}]"
        elif found := words.named_format(description):
            hint = f"write `format: {found[1]}`" if found[1] else "write a `pattern`"
            yield "format-in-words", f"may be any string; the description says {found[0]}", hint
    is_unbounded = types & {"integer", "number"} and not known & {*_BOUNDS, "enum", "const"}
    if is_unbounded and (limits := words.bounds(description)):
        hint = "write `minimum` and `maximum`, or one of them"
        yield "bounds-in-words", f"has no bounds; the description says `{limits}`", hint
    if not is_required and "default" not in known and (given := words.named_default(description)):
        yield "default-in-words", f"has no default; the description says {given}", f"write `default: {given}`"


_BOUNDS: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")


def _text(schema: Mapping[str, Json]) -> str:
    text = schema.get("description")
    return text.strip() if isinstance(text, str) else ""


def _listed(value: Json) -> Sequence[Json]:
    return value if isinstance(value, list | tuple) else () if value is None else (value,)
