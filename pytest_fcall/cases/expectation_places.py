"""The places of expectations in case files, for messages about cases that were read without fault.

Expectations know no lines, as few runs need any. So the file is composed once more, when a message needs one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from yaml import MappingNode, Node, ScalarNode, SequenceNode

from pytest_fcall.cases.faults import Faults, SourceFile, UnreadableFile
from pytest_fcall.cases.files import display_path
from pytest_fcall.cases.node_values import Entries, entries, one_or_many
from pytest_fcall.cases.yaml.reader import read_text, read_yaml
from pytest_fcall.core.case import Case, Location

PlacedPart: TypeAlias = Literal["argument", "arguments", "args", "extra", "any_call", "expect", "answer", "match"]
_DEEPEST_INCLUDE = 5


class ExpectationTrail(NamedTuple):
    """The way to an expectation: the turn, the alternative, the number of the call through all stages, the path in it.

    In `path`, `$1` is the second alternative of an operator. For a rule of `match`, `path` is its key.
    """

    part: PlacedPart
    turn: int = 0
    alternative: int = 0
    call: int = 0
    path: tuple[str | int, ...] = ()


class ExpectationPlaces:
    """Finds expectations in case files below a root folder. Each file is read once, when it is first asked for."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._files: dict[Path, tuple[SourceFile, Node | None]] = {}

    def location(self, file: Path, case: Case, trail: ExpectationTrail) -> Location:
        """The place of an expectation, or of the nearest part around it that is found; at worst that of the case."""
        source, root = self._composed(file)
        if root is None:
            return case.location
        if trail.part == "match":
            found = self._rule(file, _case_node(root, case), str(trail.path[0]), 0)
            return found or case.location
        node = _case_node(root, case)
        return case.location if node is None else source.location(_expectation_node(node, trail))

    def _composed(self, file: Path) -> tuple[SourceFile, Node | None]:
        if file not in self._files:
            source = SourceFile(display_path(file, self._root))
            try:
                source = read_text(file, source.path)
                self._files[file] = source, read_yaml(source)
            except UnreadableFile:
                self._files[file] = source, None
        return self._files[file]

    def _rule(self, file: Path, case: Node | None, key: str, depth: int) -> Location | None:
        """The place of a rule: in the case, in its file, or in a file that is included."""
        source, root = self._composed(file)
        for node in (case, root):
            rules = _found(node).node("match") if node is not None else None
            found = _found(rules) if rules is not None else {}
            if key in found:
                return source.location(found[key][0])
        included = _found(root).node("include") if root is not None else None
        nodes = (
            one_or_many(included, Faults(source), "`include`")
            if included is not None and depth < _DEEPEST_INCLUDE
            else ()
        )
        places = (
            self._rule(file.parent / node.value, None, key, depth + 1)
            for _, node in nodes
            if isinstance(node, ScalarNode)
        )
        return next((place for place in places if place is not None), None)


def _found(node: Node) -> Entries:
    return entries(node, Faults(SourceFile("")), "this") if isinstance(node, MappingNode) else Entries()


def _items(node: Node | None) -> Sequence[Node]:
    return node.value if isinstance(node, SequenceNode) else ()


def _case_node(root: Node, case: Case) -> Node | None:
    """The node of a case, which all rows of its matrix share."""
    at = (case.location.line - 1, case.location.column - 1)
    nodes = _items(_found(root).node("cases"))
    return next((node for node in nodes if (node.start_mark.line, node.start_mark.column) == at), None)


def _expectation_node(case: Node, trail: ExpectationTrail) -> Node:
    holder: Node = case
    turns = _items(_found(case).node("turns"))
    if trail.turn < len(turns):
        holder = turns[trail.turn]
    found = _found(holder)
    if trail.part == "answer":
        return _inside(found.node("answer") or holder, trail.path)
    if "expect" not in found:
        return holder
    expect = found["expect"][1]
    alternatives = _items(_found(expect).node("any_of"))
    if 0 <= trail.alternative < len(alternatives):
        expect = alternatives[trail.alternative]
    if trail.part == "extra":
        keys = _found(expect)
        return keys.key("extra") if "extra" in keys else keys.key("never") if "never" in keys else expect
    if trail.part in ("any_call", "expect"):
        return expect
    call = next((node for number, node in enumerate(_calls(expect)) if number == trail.call), None)
    return expect if call is None else _call_part(call, trail)


def _calls(expect: Node) -> Iterator[Node]:
    """The calls of all stages, in order."""
    listed = _found(expect).node("calls") if isinstance(expect, MappingNode) else expect
    for item in _items(listed):
        found = _found(item)
        group = found.node("then") if len(found) == 1 else None
        yield from _items(group) if isinstance(group, SequenceNode) else (item,)


def _call_part(call: Node, trail: ExpectationTrail) -> Node:
    found = _found(call)
    if trail.part == "args" and "args" in found:
        return found.key("args")
    if not found:
        return call
    from pytest_fcall.cases.calls import KEYS_BESIDE_CALL

    tool = next((name for name in found if name not in KEYS_BESIDE_CALL), next(iter(found)))
    if not trail.path:
        return found.key(tool)
    return _inside(found[tool][1], trail.path)


def _inside(node: Node, path: Sequence[str | int]) -> Node:
    """The node at a path, through operators, or the last one on the way."""
    place = node
    for step in path:
        node = _below_operator(node, step)
        wanted = int(step[1:]) if isinstance(step, str) and step[:1] == "$" and step[1:].isdecimal() else step
        if isinstance(wanted, int):
            items = _items(node)
            if wanted >= len(items):
                return place
            node = place = items[wanted]
            continue
        found = _found(node)
        if wanted not in found:
            return place
        place, node = found[wanted]
    return place


def _below_operator(node: Node, step: str | int) -> Node:
    """The operand of an operator, where the step leads through one."""
    while isinstance(node, MappingNode):
        found = _found(node)
        operator = next((name for name in found if name.startswith("$") and name != step), None)
        if operator is None:
            break
        node = found[operator][1]
    return node
