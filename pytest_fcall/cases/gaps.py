"""Cases that expect nothing yet, and where in the text of their file an expectation would stand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from yaml import MappingNode, Node, ScalarNode, SequenceNode

from pytest_fcall.cases.faults import Source
from pytest_fcall.cases.yaml.reader import read_yaml

_SAYS_MORE = frozenset({"expect", "answer", "state", "result", "turns", "matrix"})
_KEEPS_BREAKS = re.compile(r"[|>][0-9]?\+")


@dataclass(frozen=True, slots=True)
class Gap:
    """A case without an expectation."""

    id: str
    offset: int
    """Where in the text it is put."""
    column: int | None
    """How far its lines are set in; None where the case is in braces, and there is no room for lines."""


def gaps_in(source: Source) -> list[Gap]:
    """The cases of a file that expect nothing, in order. Raises UnreadableFile for what is no YAML."""
    return [gap for node in _cases(read_yaml(source)) if (gap := _gap(node, source.text)) is not None]


def filled(text: str, gaps: Sequence[Gap], expectations: Mapping[str, Sequence[str]], mark: str) -> str:
    """The text with an expectation for each case that has one, marked; everything else stays as it is.

    An expectation is lines: a word, or calls, each in flow style behind `- `.
    """
    for gap in reversed(gaps):
        if gap.id in expectations:
            said = expectations[gap.id]
            text = _in_lines(text, gap, said, mark) if gap.column is not None else _in_braces(text, gap, said, mark)
    return text


def _cases(root: Node | None) -> Iterator[MappingNode]:
    for key, value in root.value if isinstance(root, MappingNode) else ():
        if key.value == "cases" and isinstance(value, SequenceNode):
            yield from (item for item in value.value if isinstance(item, MappingNode))


def _gap(node: MappingNode, text: str) -> Gap | None:
    found = {key.value: value for key, value in node.value if isinstance(key, ScalarNode)}
    name = found.get("id")
    if not isinstance(name, ScalarNode) or _SAYS_MORE & found.keys():
        return None
    if node.flow_style:
        return Gap(name.value, text.rindex("}", 0, node.end_mark.index), None)
    return Gap(name.value, _line_after(text, node), node.value[0][0].start_mark.column)


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


def _in_lines(text: str, gap: Gap, said: Sequence[str], mark: str) -> str:
    before, margin = text[: gap.offset], " " * (gap.column or 0)
    if said[0].startswith("-"):
        lines = [f"{margin}expect:  {mark}", *(f"{margin}  {line}" for line in said)]
    else:
        lines = [f"{margin}expect: {said[0]}  {mark}"]
    end = "\r\n" if "\r\n" in text else "\n"
    joint = "" if before.endswith("\n") else end
    return f"{before}{joint}{end.join(lines)}{end}{text[gap.offset :]}"


def _in_braces(text: str, gap: Gap, said: Sequence[str], mark: str) -> str:
    calls = ", ".join(f"{{{line.removeprefix('- ')}}}" for line in said)
    value = f"[{calls}]" if said[0].startswith("-") else said[0]
    before, rest = text[: gap.offset].rstrip(), text[gap.offset :]
    comma = "" if before.endswith(",") else ","
    line, end, below = rest.partition("\n")
    marked = f"{line.rstrip()}  {mark}" if line.strip() == "}" else line
    return f"{before}{comma} expect: {value}{marked}{end}{below}"
