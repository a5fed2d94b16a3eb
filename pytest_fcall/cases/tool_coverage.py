"""The arguments and enum values of tools that a set of cases names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, TypeAlias

from pytest_fcall.core import Case, ExpectedCall, Json, Operator, Pattern, Tool, canonical
from pytest_fcall.core.identity_key import IdentityKey
from pytest_fcall.schema.tool_schema import ToolSchema, tool_schema
from pytest_fcall.schema.traversal import applied_schemas, resolve_references

Path: TypeAlias = tuple[str | int, ...]

_DEEPEST: Final = 6
_MOST: Final = 1000
"""Schemas may go on without end; arguments hardly ever go deeper, or are more."""


@dataclass(slots=True)
class Coverage:
    """One tool: what a case could name, and what is named."""

    tool: Tool
    cases: int = 0
    """How many cases expect a call of it."""
    optional: tuple[Path, ...] = ()
    values: tuple[tuple[Path, str], ...] = ()
    """The values of enums, as JSON."""
    named: set[Path] = field(default_factory=set)
    told: set[tuple[Path, str]] = field(default_factory=set)

    @property
    def arguments_left(self) -> list[Path]:
        """Optional arguments that no case names."""
        return [path for path in self.optional if path not in self.named]

    @property
    def values_left(self) -> dict[Path, list[str]]:
        """Values that no case names, by their arguments; of those that no case names at all, none."""
        left: dict[Path, list[str]] = {}
        for path, value in self.values:
            if (path, value) not in self.told and (path in self.named or path not in self.optional):
                left.setdefault(path, []).append(value)
        return left


def coverage(cases: Iterable[Case]) -> list[Coverage]:
    """What these cases name, tool by tool, in the order in which tools are first offered.

    A tool is one and the same wherever it has the same name and parameters.
    """
    found: dict[str, Coverage] = {}
    known: dict[IdentityKey[Tool], Coverage] = {}
    for case in cases:
        offered: dict[str, Coverage] = {}
        for tool in case.tools:
            if IdentityKey(tool) not in known:
                key = canonical([tool.name, tool.parameters])
                known[IdentityKey(tool)] = found[key] if key in found else found.setdefault(key, _coverage(tool))
            offered[tool.name] = known[IdentityKey(tool)]
        expected: set[str] = set()
        for call in case.expected_calls:
            if call.tool in offered:
                expected.add(call.tool)
                _note(offered[call.tool], call)
        for name in expected:
            offered[name].cases += 1
    return list(found.values())


def _coverage(tool: Tool) -> Coverage:
    optional: list[Path] = []
    values: list[tuple[Path, str]] = []
    for path, schema, needed in islice(_arguments(tool_schema(tool), ()), _MOST):
        optional += [] if needed else [path]
        values += [(path, canonical(value)) for value in _choices(tool.parameters, schema)]
    return Coverage(tool, optional=tuple(optional), values=tuple(values))


def _arguments(schema: ToolSchema, at: Path) -> Iterator[tuple[Path, Mapping[str, Json], bool]]:
    """All arguments, those inside others too: where, its schema, and whether it must be given."""
    found = schema.properties_at(at)
    for name, inner in found.schemas.items():
        yield (*at, name), inner, name in found.required
        if len(at) < _DEEPEST:
            yield from _arguments(schema, (*at, name))
            yield from _arguments(schema, (*at, name, 0))


def _choices(root: Mapping[str, Json], schema: Mapping[str, Json]) -> Iterator[Json]:
    """The values that an enum allows, also one in an alternative or of the items of a list. Null is none to name."""
    for piece, _ in applied_schemas(root, schema):
        items = piece.get("items")
        for each in (piece, *((resolve_references(root, items),) if isinstance(items, Mapping) else ())):
            yield from (value for value in _list(each.get("enum")) if value is not None)


def _list(value: Json) -> Sequence[Json]:
    return value if isinstance(value, list | tuple) else ()


def _note(covered: Coverage, call: ExpectedCall) -> None:
    for path, value in _named((), call.arguments or {}):
        covered.named.add(path)
        if value is not None:
            covered.told.add((path, value))


def _named(at: Path, pattern: Pattern) -> Iterator[tuple[Path, str | None]]:
    """The places that a pattern names, and the values at them; those inside operators count."""
    match pattern:
        case Operator():
            for inner in (pattern.operand, *pattern.options.values()):
                yield from _named(at, inner)
                yield from _spread(at, inner)
        case Mapping():
            for name, inner in pattern.items():
                yield (*at, name), None
                yield from _named((*at, name), inner)
        case list() | tuple():
            yield from _spread(at, pattern)
            for inner in pattern:
                yield from _named((*at, 0), inner)
        case str() | int() | float():
            yield at, canonical(pattern)


def _spread(at: Path, pattern: Pattern) -> Iterator[tuple[Path, str | None]]:
    """The items of a list as values of the place itself: alternatives, or members of a list of an enum."""
    if isinstance(pattern, list | tuple):
        for inner in pattern:
            yield from _named(at, inner)
