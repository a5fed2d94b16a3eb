"""The table of docs/frameworks/README.md: which framework does what. The tests make it, and are held to it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tests.frameworks.framework import FRAMEWORKS
from tests.pages import FRAMEWORKS as PAGES

README = PAGES / "README.md"
COLUMNS = (
    "live",
    "replay",
    "`-n 2`",
    "streaming",
    "sync",
    "async",
    "threads",
    "429 and 500",
    "tools read off it",
    "lines of glue",
)
_TABLE = re.compile(r"^\| framework \|.*?(?=\n\n)", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[.*?\]\((.*?)\.md\)")


def documented() -> Mapping[tuple[str, str], str]:
    """What the table says, by the name of the framework and the column."""
    cells: dict[tuple[str, str], str] = {}
    (_, *columns), _, *rows = map(_cells, _found().splitlines())
    for link, *row in rows:
        if name := _LINK.fullmatch(link):
            cells |= {(name[1], column): cell for column, cell in zip(columns, row, strict=True)}
    return cells


def write(found: Mapping[tuple[str, str], str]) -> None:
    """Write what was found into the table; what was not tried stays as it was."""
    cells = {**documented(), **found}
    lines = [_line("framework", *COLUMNS), _line(*["---"] * (len(COLUMNS) + 1))]
    for framework in FRAMEWORKS:
        row = [cells.get((framework.name, column), "?") for column in COLUMNS]
        lines.append(_line(f"[{framework.title}]({framework.name}.md)", *row))
    text = README.read_text(encoding="utf-8")
    README.write_text(text.replace(_found(), "\n".join(lines)), encoding="utf-8")


def _found() -> str:
    table = _TABLE.search(README.read_text(encoding="utf-8"))
    assert table, f"{README} has no table"
    return table[0]


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"
