"""Expected arguments against the tool's schema: a case that no model can pass is a mistake in the case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TypeGuard

from yaml import MappingNode, Node, ScalarNode

from pytest_fcall.cases.faults import closest, did_you_mean, one_of, shown
from pytest_fcall.cases.fields import node_at
from pytest_fcall.cases.scope import Scope
from pytest_fcall.core import Json, Operator, Pattern
from pytest_fcall.core.glob import glob_matches
from pytest_fcall.schema import Finding
from pytest_fcall.schema.words import place as written
from pytest_fcall.schema.words import types_in_words

_FITTING: Mapping[str, Sequence[Json]] = MappingProxyType(
    {
        **dict.fromkeys(("regex", "text", "number", "normalised", "rouge", "date", "datetime", "json"), ("",)),
        **dict.fromkeys(("approx", "gt", "ge", "lt", "le", "between"), (0,)),
        **dict.fromkeys(("each", "unordered", "ordered"), ([],)),
    }
)
_OF_TYPE: Mapping[str, Json] = MappingProxyType(
    {"null": None, "boolean": True, "integer": 0, "number": 0, "string": "", "array": [], "object": {}}
)
_CODES = {"missing_argument": "missing-argument", "unexpected_argument": "unknown-argument"}


def check_arguments(place: Node, node: Node, tool: str, arguments: Mapping[str, Pattern], scope: Scope) -> None:
    """Note unknown and missing arguments, and values that the schema forbids."""
    schema = scope.toolbox.schema(tool)
    if schema is None:
        return
    meant = check_values(node, tool, arguments, scope)
    for name in sorted(schema.required - arguments.keys() - meant):
        if not any(glob_matches(rule.path, f"{tool}.{name}") for rule in scope.match if rule.operator):
            hint = f"name it, or write `{name}: {{$ignore: true}}`"
            scope.faults.add("missing-argument", place, f"{shown(tool)} requires the argument {shown(name)}", hint)


def check_values(node: Node, tool: str, arguments: Mapping[str, Pattern], scope: Scope) -> set[str]:
    """Note unknown arguments, and values that the schema forbids. Gives the names that were probably meant.

    To the official checker a value of another type than the declared one is the name of a variable, so that under its
    profile no value is forbidden.
    """
    schema = scope.toolbox.schema(tool)
    if schema is None:
        return set()
    checker = _Checker(tool, node, scope)
    for name, expected in arguments.items() if scope.profile == "strict" else ():  # else it may name a variable
        if name in schema.parameters:
            checker.check((name,), expected, (name,))
    return set() if schema.open else _unknown_names(node, tool, arguments, scope, schema.parameters)


def _unknown_names(
    node: Node, tool: str, arguments: Mapping[str, Pattern], scope: Scope, known: Mapping[str, object]
) -> set[str]:
    meant: set[str] = set()
    for name in arguments:
        if name not in known and not name.startswith("$"):
            likely = closest(name, [other for other in known if other not in arguments])
            hint = f"did you mean {shown(likely)}?" if likely else _others(known)
            scope.faults.add("unknown-argument", _key(node, name), f"{shown(tool)} has no argument {shown(name)}", hint)
            meant |= {likely} if likely else set()
    return meant


class _Checker:
    """Walks an expected value; `trail` leads to the same place through the nodes, operators included."""

    def __init__(self, tool: str, node: Node, scope: Scope) -> None:
        self._tool = tool
        self._node = node
        self._scope = scope

    def check(self, path: tuple[str | int, ...], expected: Pattern, trail: tuple[str | int, ...]) -> None:
        if isinstance(expected, Operator):
            self._operator(path, expected, (*trail, f"${expected.name}"))
        elif _is_plain(expected):
            self._literal(path, expected, trail)
        elif isinstance(expected, Mapping):
            for name, item in expected.items():
                self.check((*path, name), item, (*trail, name))
        elif isinstance(expected, Sequence) and not isinstance(expected, str):
            for index, item in enumerate(expected):
                self.check((*path, index), item, (*trail, index))

    def _operator(self, path: tuple[str | int, ...], operator: Operator, trail: tuple[str | int, ...]) -> None:
        name, operand = operator.name, operator.operand
        if self._never_fits(path, operator, trail):
            return
        if name in {"any", "all"} and isinstance(operand, list):
            for index, item in enumerate(operand):
                self.check(path, item, (*trail, index))
        elif name in {"optional", "literal", "approx"} or (name == "not" and operand is not None):
            self.check(path, operand, trail)
        elif name == "each" or (name == "contains" and not self._is_text(path, operand)):
            self.check((*path, 0), operand, trail)
        elif name in {"unordered", "ordered", "subset"} and isinstance(operand, list):
            for index, item in enumerate(operand):
                self.check((*path, 0), item, (*trail, index))
        elif name == "subset" and isinstance(operand, Mapping):
            for key, item in operand.items():
                self.check((*path, key), item, (*trail, key))

    def _never_fits(self, path: tuple[str | int, ...], operator: Operator, trail: tuple[str | int, ...]) -> bool:
        """Note an operator on values of a type that the schema does not let in, or where it lets in nothing."""
        examples = _examples(operator)
        found = [finding for example in examples for finding in self._against(path, example)]
        if unknown := [finding for finding in found if finding.kind == "unexpected_argument"]:
            self._note(unknown[0], path, trail)
        elif found and len(found) == len(examples):
            types = found[0].expected if isinstance(found[0].expected, list) else [found[0].expected]
            message = f"{shown(self._tool)}: {written(path)} must be {types_in_words(map(str, types))}"
            place = node_at(self._node, trail)
            self._scope.faults.add("forbidden-value", place, f"{message}, and `${operator.name}` never fits that")
        else:
            return False
        return True

    def _is_text(self, path: tuple[str | int, ...], operand: Pattern) -> bool:
        """Whether `$contains` may be about a part of a text here, and not about an item of a list."""
        return isinstance(operand, str) and not self._against(path, "")

    def _against(self, path: tuple[str | int, ...], example: Json) -> list[Finding]:
        """What the schema has against any value of this type at this place."""
        found = self._scope.toolbox.check(self._tool, path, example)
        return [each for each in found if each.kind in {"wrong_type", "unexpected_argument"} and each.path == path]

    def _literal(self, path: tuple[str | int, ...], value: Json, trail: tuple[str | int, ...]) -> None:
        for finding in self._scope.toolbox.check(self._tool, path, value):
            self._note(finding, path, trail)

    def _note(self, finding: Finding, path: tuple[str | int, ...], trail: tuple[str | int, ...]) -> None:
        place = node_at(self._node, (*trail, *finding.path[len(path) :]))
        code = _CODES.get(finding.kind, "forbidden-value")
        self._scope.faults.add(code, place, f"{shown(self._tool)}: {finding.message}", _hint(finding, place))


def _examples(operator: Operator) -> Sequence[Json]:
    """A value of each type that an operator fits; none where it may fit values of any."""
    name, operand = operator.name, operator.operand
    if name == "type":
        wanted = operand if isinstance(operand, list) else [operand]
        return [_OF_TYPE[kind] for kind in wanted if isinstance(kind, str) and kind in _OF_TYPE]
    if name == "subset":
        return [{}] if isinstance(operand, Mapping) else [[]]
    if name == "structure":
        return [] if isinstance(operand, Operator) else [_like(operand)]
    if name == "contains":
        return ["", []] if isinstance(operand, str) else [[]]
    return _FITTING.get(name, ())


def _like(operand: Pattern) -> Json:
    """A value that may have the structure of the operand; every integer may stand for a number."""
    if isinstance(operand, Mapping):
        return {}
    if isinstance(operand, list):
        return []
    return 0 if isinstance(operand, float) or not _is_plain(operand) else operand


def _hint(finding: Finding, place: Node) -> str:
    options = finding.expected if isinstance(finding.expected, list) else [finding.expected]
    if finding.kind == "wrong_type" and "string" in options and isinstance(place, ScalarNode):
        return f'put it in quotes: "{place.value[:40]}"'
    asked = finding.path[-1] if finding.kind == "unexpected_argument" else finding.got
    return did_you_mean(str(asked), [option for option in options if isinstance(option, str)])


def _others(parameters: Mapping[str, object]) -> str:
    return one_of(parameters) if parameters else "it takes none"


def _is_plain(expected: Pattern) -> TypeGuard[Json]:
    """Whether it is a value, with no operator anywhere inside."""
    if isinstance(expected, Operator):
        return False
    if isinstance(expected, Mapping):
        return all(map(_is_plain, expected.values()))
    return not isinstance(expected, list) or all(map(_is_plain, expected))


def _key(node: Node, name: str) -> Node:
    pairs: list[tuple[Node, Node]] = node.value if isinstance(node, MappingNode) else []
    return next((key for key, _ in pairs if key.value == name), node)
