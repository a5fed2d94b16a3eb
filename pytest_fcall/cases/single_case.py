"""The text of a case file that holds one case of another file, with its tools as schemas, so that it stands alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from yaml import MappingNode, Node, ScalarNode, SequenceNode

from pytest_fcall.cases.faults import SourceFile
from pytest_fcall.cases.yaml.flow_style import write_flow
from pytest_fcall.cases.yaml.reader import read_yaml
from pytest_fcall.core import Json, Tool

_LEFT_OUT: Final = frozenset({"tools", "cases", "suite", "path", "pick"})
"""Keys of the file that are about other cases, or read other files."""


def single_case_text(source: SourceFile, line: int, tools: Iterable[Tool]) -> str:
    """The case that begins in this line, with what its file says of all cases. Raises ValueError without such a case.

    The rows of a matrix begin in the same line; they stay together. Raises UnreadableFile for invalid YAML.
    """
    root = read_yaml(source)
    entries = root.value if isinstance(root, MappingNode) else ()
    case = next((each for each in _cases(entries) if each.start_mark.line + 1 == line), None)
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


def _cases(entries: Iterable[tuple[Node, Node]]) -> Iterator[Node]:
    for key, value in entries:
        if isinstance(key, ScalarNode) and key.value == "cases" and isinstance(value, SequenceNode):
            yield from value.value


def _tool_lines(tools: Iterable[Tool]) -> Iterator[str]:
    written = [f"  - {write_flow(_tool(tool))}" for tool in tools]
    yield from ("tools:", *written) if written else ()


def _tool(tool: Tool) -> dict[str, Json]:
    about = {"description": tool.description} if tool.description else {}
    return {"name": tool.name, **about, "parameters": tool.parameters}
