"""Texts of case files: with expectations where cases have none, and with a single case of another file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from yaml import MappingNode, Node, ScalarNode, SequenceNode

from pytest_fcall.cases.expectations import APP_KEYS, CHECK_KEYS
from pytest_fcall.cases.faults import SourceFile
from pytest_fcall.cases.yaml.reader import read_yaml
from pytest_fcall.cases.yaml.values import write_flow
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json

_KEEPS_BREAKS: Final = re.compile(r"[|>][0-9]?\+")
_MATRIX: Final = "all rows of its matrix share one `expect`; write it with the names that the matrix declares"

ExpectationText: TypeAlias = str | Sequence[Sequence[str]]
"""An expectation: a word or a value in flow style, or the calls of each stage in flow style."""
_LEFT_OUT: Final = frozenset({"tools", "cases", "suite", "path", "pick"})
"""Keys of the file that are about other cases, or read other files."""


@dataclass(frozen=True, slots=True)
class MissingExpectation:
    """A case or turn without an expectation, and the position for one."""

    id: str
    """The id of the case."""
    offset: int
    """The position in the text."""
    column: int | None
    """The indentation of its lines; None if the case is in braces, so that no lines can be inserted."""
    turn: int | None = None
    """The index of the turn."""

    @property
    def name(self) -> str:
        """The name for messages."""
        return self.id if self.turn is None else f"{self.id}, turn {self.turn + 1}"


def has_cases(source: SourceFile) -> bool:
    """Whether the file itself contains cases. Raises UnreadableFile for invalid YAML."""
    return any(True for _ in _cases(read_yaml(source)))


def find_gaps(source: SourceFile) -> list[MissingExpectation]:
    """The gaps of a file, in order. Raises UnreadableFile for invalid YAML."""
    return [gap for node in _cases(read_yaml(source)) for gap in _gaps(node, source.text)]


def find_unfillable_cases(source: SourceFile) -> dict[str, str]:
    """The cases without an expectation for which none can be written, by id, each with the reason."""
    found = [_found(node) for node in _cases(read_yaml(source))]
    names = (case.get("id") for case in found if _expects_nothing(case, "matrix"))
    return {name.value: _MATRIX for name in names if isinstance(name, ScalarNode)}


def fill_gaps(
    text: str, gaps: Sequence[MissingExpectation], expectations: Mapping[str, ExpectationText], mark: str
) -> str:
    """The text with an expectation, followed by `mark`, in each gap whose name has one. All else is unchanged."""
    for gap in reversed(gaps):
        if gap.name in expectations:
            fill = _in_braces if gap.column is None else _in_lines
            text = fill(text, gap, expectations[gap.name], mark)
    return text


def single_case_text(source: SourceFile, line: int, tools: Iterable[Tool]) -> str:
    """The case that begins in this line, with what its file says of all cases. Raises ValueError without such a case.

    The rows of a matrix begin in the same line; they stay together. Raises UnreadableFile for invalid YAML.
    """
    root = read_yaml(source)
    entries = root.value if isinstance(root, MappingNode) else ()
    case = next((each for each in _cases(root) if each.start_mark.line + 1 == line), None)
    if case is None:
        raise ValueError("the case does not stand in its file")
    kept = [
        source.text[key.start_mark.index : value.end_mark.index].rstrip()
        for key, value in entries
        if isinstance(key, ScalarNode) and key.value not in _LEFT_OUT
    ]
    margin = " " * max(case.start_mark.column - 2, 0)
    own = source.text[case.start_mark.index : case.end_mark.index].rstrip()
    lines = [*kept, *_tool_lines(tools), "cases:", f"{margin}- {own}"]
    return "\n".join(lines) + "\n"


def _cases(root: Node | None) -> Iterator[MappingNode]:
    for key, value in root.value if isinstance(root, MappingNode) else ():
        if key.value == "cases" and isinstance(value, SequenceNode):
            yield from (item for item in value.value if isinstance(item, MappingNode))


def _found(node: MappingNode) -> dict[str, Node]:
    return {key.value: value for key, value in node.value if isinstance(key, ScalarNode)}


def _expects_nothing(case: Mapping[str, Node], name: str) -> bool:
    """Whether a case has the key `name` and no expectation."""
    return name in case and not {*CHECK_KEYS, *APP_KEYS} & case.keys()


def _gaps(node: MappingNode, text: str) -> Iterator[MissingExpectation]:
    case = _found(node)
    name = case.get("id")
    if not isinstance(name, ScalarNode) or "matrix" in case or not _expects_nothing(case, "id"):
        return
    turns = case.get("turns")
    if turns is None:
        yield _gap(name.value, node, text)
        return
    for number, turn in enumerate(turns.value if isinstance(turns, SequenceNode) else ()):
        if isinstance(turn, MappingNode) and turn.value and _found(turn).keys().isdisjoint(CHECK_KEYS):
            yield _gap(name.value, turn, text, number)


def _gap(name: str, node: MappingNode, text: str, turn: int | None = None) -> MissingExpectation:
    if node.flow_style:
        return MissingExpectation(name, text.rindex("}", 0, node.end_mark.index), None, turn)
    return MissingExpectation(name, _line_after(text, node), node.value[0][0].start_mark.column, turn)


def _line_after(text: str, case: MappingNode) -> int:
    """The start of the line after a case. Blank lines after the case stay below it."""
    last = max(_nodes_with_end(case, case), key=lambda node: node.end_mark.index)
    start, end = (min(mark.index, len(text)) for mark in (last.start_mark, last.end_mark))
    if last.end_mark.column:
        end = text.find("\n", end) + 1 or len(text)
    if not _KEEPS_BREAKS.match(text[start : start + 3]):
        end = min(end, text.find("\n", len(text[:end].rstrip())) + 1 or len(text))
    return end


def _nodes_with_end(node: Node, case: MappingNode) -> Iterator[Node]:
    """The scalars of a case, and its lists and mappings in brackets: only the end marks of these are exact.

    Targets of aliases are left out, since they are elsewhere in the file.
    """
    if not case.start_mark.index <= node.start_mark.index <= case.end_mark.index:
        return
    if isinstance(node, ScalarNode) or (isinstance(node, MappingNode | SequenceNode) and node.flow_style):
        yield node
    elif isinstance(node, MappingNode):
        for pair in node.value:
            for inner in pair:
                yield from _nodes_with_end(inner, case)
    elif isinstance(node, SequenceNode):
        for inner in node.value:
            yield from _nodes_with_end(inner, case)


def _in_lines(text: str, gap: MissingExpectation, expectation: ExpectationText, mark: str) -> str:
    before, margin = text[: gap.offset], " " * (gap.column or 0)
    if isinstance(expectation, str):
        lines = [f"{margin}expect: {expectation}  {mark}"]
    else:
        lines = [f"{margin}expect:  {mark}", *(f"{margin}  {line}" for line in _lines(expectation))]
    end = "\r\n" if "\r\n" in text else "\n"
    joint = "" if before.endswith("\n") else end
    return f"{before}{joint}{end.join(lines)}{end}{text[gap.offset :]}"


def _lines(steps: Sequence[Sequence[str]]) -> Iterator[str]:
    for number, calls in enumerate(steps):
        yield from ["- then:"] if number else []
        yield from (f"{'    ' if number else ''}- {call}" for call in calls)


def _in_braces(text: str, gap: MissingExpectation, expectation: ExpectationText, mark: str) -> str:
    value = expectation if isinstance(expectation, str) else _flow(expectation)
    before, rest = text[: gap.offset].rstrip(), text[gap.offset :]
    comma = "" if before.endswith(",") else ","
    line, end, below = rest.partition("\n")
    marked = line.replace("}", f"}}  {mark}") if line.strip() == "}" else line
    return f"{before}{comma} expect: {value}{marked}{end}{below}"


def _flow(steps: Sequence[Sequence[str]]) -> str:
    first, *later = (", ".join(f"{{{call}}}" for call in calls) for calls in steps)
    return f"[{', '.join([first, *(f'{{then: [{calls}]}}' for calls in later)])}]"


def _tool_lines(tools: Iterable[Tool]) -> Iterator[str]:
    written = [f"  - {write_flow(_tool(tool))}" for tool in tools]
    yield from ("tools:", *written) if written else ()


def _tool(tool: Tool) -> dict[str, Json]:
    about = {"description": tool.description} if tool.description else {}
    return {"name": tool.name, **about, "parameters": tool.parameters}
