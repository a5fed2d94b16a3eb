"""Coverage of tools: the arguments and enum values that a set of cases uses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pytest_fcall.core.case import Case
from pytest_fcall.core.digests import IdentityKey, canonical
from pytest_fcall.core.expectation import ExpectedCall
from pytest_fcall.core.operators import Operator, Pattern
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.schema.tool_schema import tool_schema
from pytest_fcall.schema.traversal import Path, applied_schemas, resolve_references


@dataclass(slots=True)
class Coverage:
    """The coverage of one tool."""

    tool: Tool
    cases: int = 0
    """The number of cases that expect a call of the tool."""
    optional: tuple[Path, ...] = ()
    """Its optional arguments."""
    values: tuple[tuple[Path, str], ...] = ()
    """The values of its enums, as JSON, each with its argument."""
    named_arguments: set[Path] = field(default_factory=set)
    named_values: set[tuple[Path, str]] = field(default_factory=set)

    @property
    def unnamed_arguments(self) -> list[Path]:
        """Optional arguments that no case names."""
        return [path for path in self.optional if path not in self.named_arguments]

    @property
    def unnamed_values(self) -> dict[Path, list[str]]:
        """Values that no case names, by argument, without optional arguments that no case names."""
        unnamed: dict[Path, list[str]] = {}
        for path, value in self.values:
            is_used = path in self.named_arguments or path not in self.optional
            if is_used and (path, value) not in self.named_values:
                unnamed.setdefault(path, []).append(value)
        return unnamed


def coverage(cases: Iterable[Case]) -> list[Coverage]:
    """The coverage of each tool, in the order in which the cases first offer them.

    Tools with the same name and parameters are the same tool.
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
    for path, schema, needed in tool_schema(tool).arguments():
        optional += [] if needed else [path]
        values += [(path, canonical(value)) for value in _choices(tool.parameters, schema)]
    return Coverage(tool, optional=tuple(optional), values=tuple(values))


def _choices(root: Mapping[str, Json], schema: Mapping[str, Json]) -> Iterator[Json]:
    """The values of an enum, also in an alternative or in the items of a list, without null."""
    for piece, _ in applied_schemas(root, schema):
        items = piece.get("items")
        for each in (piece, *((resolve_references(root, items),) if isinstance(items, Mapping) else ())):
            yield from (value for value in _list(each.get("enum")) if value is not None)


def _list(value: Json) -> Sequence[Json]:
    return value if isinstance(value, list | tuple) else ()


def _note(covered: Coverage, call: ExpectedCall) -> None:
    for path, value in _named((), call.arguments or {}):
        covered.named_arguments.add(path)
        if value is not None:
            covered.named_values.add((path, value))


def _named(at: Path, pattern: Pattern) -> Iterator[tuple[Path, str | None]]:
    """The arguments that a pattern names, and their values. Those inside operators count."""
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
    """The items of a list as values of the argument itself: alternatives, or items that have an enum."""
    if isinstance(pattern, list | tuple):
        for inner in pattern:
            yield from _named(at, inner)
