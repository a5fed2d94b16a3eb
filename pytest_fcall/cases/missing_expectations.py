"""Cases and turns without an expectation, and how to write one into their file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from yaml import MappingNode, Node, ScalarNode, SequenceNode

from pytest_fcall.cases.faults import SourceFile
from pytest_fcall.cases.yaml.reader import read_yaml

_CHECKS: Final = frozenset({"expect", "answer", "state", "result"})
_KEEPS_BREAKS: Final = re.compile(r"[|>][0-9]?\+")
_MATRIX: Final = "all rows of its matrix share one `expect`; write it with the names that the matrix declares"

ExpectationText: TypeAlias = str | Sequence[Sequence[str]]
"""An expectation: a word or what stands in braces, or the calls of each step in flow style, step after step."""


@dataclass(frozen=True, slots=True)
class Gap:
    """A case without an expectation, or a turn."""

    id: str
    """The case's."""
    offset: int
    """Where in the text it is put."""
    column: int | None
    """How far its lines are set in; None where the case is in braces, and there is no room for lines."""
    turn: int | None = None
    """Which turn of the case it is, counted from 0."""

    @property
    def name(self) -> str:
        """What people call it."""
        return self.id if self.turn is None else f"{self.id}, turn {self.turn + 1}"


def has_cases(source: SourceFile) -> bool:
    """Whether cases are written down in a file. Raises UnreadableFile for what is no YAML."""
    return any(True for _ in _cases(read_yaml(source)))


def find_gaps(source: SourceFile) -> list[Gap]:
    """What expects nothing in a file, in order. Raises UnreadableFile for what is no YAML."""
    return [gap for node in _cases(read_yaml(source)) for gap in _gaps(node, source.text)]


def find_unfillable_cases(source: SourceFile) -> dict[str, str]:
    """The cases that expect nothing and have no gap that could be filled, each with the reason."""
    found = [_found(node) for node in _cases(read_yaml(source))]
    names = (case.get("id") for case in found if _expects_nothing(case, "matrix"))
    return {name.value: _MATRIX for name in names if isinstance(name, ScalarNode)}


def fill_gaps(text: str, gaps: Sequence[Gap], expectations: Mapping[str, ExpectationText], mark: str) -> str:
    """The text with an expectation for each gap whose name has one, marked; everything else stays as it is."""
    for gap in reversed(gaps):
        if gap.name in expectations:
            said = expectations[gap.name]
            text = _in_lines(text, gap, said, mark) if gap.column is not None else _in_braces(text, gap, said, mark)
    return text


def _cases(root: Node | None) -> Iterator[MappingNode]:
    for key, value in root.value if isinstance(root, MappingNode) else ():
        if key.value == "cases" and isinstance(value, SequenceNode):
            yield from (item for item in value.value if isinstance(item, MappingNode))


def _found(node: MappingNode) -> dict[str, Node]:
    return {key.value: value for key, value in node.value if isinstance(key, ScalarNode)}


def _expects_nothing(case: Mapping[str, Node], name: str) -> bool:
    """Whether a case that has the key `name` says nothing of what is right."""
    return name in case and not {*_CHECKS, "wire"} & case.keys()


def _gaps(node: MappingNode, text: str) -> Iterator[Gap]:
    case = _found(node)
    name = case.get("id")
    if not isinstance(name, ScalarNode) or "matrix" in case or not _expects_nothing(case, "id"):
        return
    turns = case.get("turns")
    if turns is None:
        yield _gap(name.value, node, text)
        return
    for number, turn in enumerate(turns.value if isinstance(turns, SequenceNode) else ()):
        if isinstance(turn, MappingNode) and not _CHECKS & _found(turn).keys() and turn.value:
            yield _gap(name.value, turn, text, number)


def _gap(name: str, node: MappingNode, text: str, turn: int | None = None) -> Gap:
    if node.flow_style:
        return Gap(name, text.rindex("}", 0, node.end_mark.index), None, turn)
    return Gap(name, _line_after(text, node), node.value[0][0].start_mark.column, turn)


def _line_after(text: str, case: MappingNode) -> int:
    """Where the line begins that follows a case; blank lines between it and what comes next stay below."""
    last = max(_written(case, case), key=lambda node: node.end_mark.index)
    start, end = (min(mark.index, len(text)) for mark in (last.start_mark, last.end_mark))
    if last.end_mark.column:
        end = text.find("\n", end) + 1 or len(text)
    if not _KEEPS_BREAKS.match(text[start : start + 3]):
        end = min(end, text.find("\n", len(text[:end].rstrip())) + 1 or len(text))
    return end


def _written(node: Node, case: MappingNode) -> Iterator[Node]:
    """Every scalar in a case, and every list and mapping in brackets: only these end where they end.

    What an alias stands for is written somewhere else.
    """
    if not case.start_mark.index <= node.start_mark.index <= case.end_mark.index:
        return
    if isinstance(node, ScalarNode) or (isinstance(node, MappingNode | SequenceNode) and node.flow_style):
        yield node
    elif isinstance(node, MappingNode):
        for pair in node.value:
            for inner in pair:
                yield from _written(inner, case)
    elif isinstance(node, SequenceNode):
        for inner in node.value:
            yield from _written(inner, case)


def _in_lines(text: str, gap: Gap, said: ExpectationText, mark: str) -> str:
    before, margin = text[: gap.offset], " " * (gap.column or 0)
    if isinstance(said, str):
        lines = [f"{margin}expect: {said}  {mark}"]
    else:
        lines = [f"{margin}expect:  {mark}", *(f"{margin}  {line}" for line in _lines(said))]
    end = "\r\n" if "\r\n" in text else "\n"
    joint = "" if before.endswith("\n") else end
    return f"{before}{joint}{end.join(lines)}{end}{text[gap.offset :]}"


def _lines(steps: Sequence[Sequence[str]]) -> Iterator[str]:
    for number, calls in enumerate(steps):
        yield from ["- then:"] if number else []
        yield from (f"{'    ' if number else ''}- {call}" for call in calls)


def _in_braces(text: str, gap: Gap, said: ExpectationText, mark: str) -> str:
    value = said if isinstance(said, str) else _flow(said)
    before, rest = text[: gap.offset].rstrip(), text[gap.offset :]
    comma = "" if before.endswith(",") else ","
    line, end, below = rest.partition("\n")
    marked = line.replace("}", f"}}  {mark}") if line.strip() == "}" else line
    return f"{before}{comma} expect: {value}{marked}{end}{below}"


def _flow(steps: Sequence[Sequence[str]]) -> str:
    first, *later = (", ".join(f"{{{call}}}" for call in calls) for calls in steps)
    return f"[{', '.join([first, *(f'{{then: [{calls}]}}' for calls in later)])}]"
