"""The table of docs/suites/compared.md: what was compared with whose verdicts, on how many rows, and what differed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import takewhile
from pathlib import Path
from typing import Final, NamedTuple

PAGE: Final = Path(__file__).parents[2] / "docs/suites/compared.md"
_HEAD: Final = "| suite | what is the same | compared with | rows | differences |\n|---|---|---|---|---|\n"


class Claim(NamedTuple):
    """What is said to be the same as elsewhere, and where that was seen."""

    suite: str
    claim: str
    compared_with: str


class Count(NamedTuple):
    """The number of rows that were compared, and of those that differ."""

    rows: int
    differences: int


class Claims:
    """The claims that this run has put to the test."""

    def __init__(self) -> None:
        self._counts: dict[Claim, Count] = {}

    def add(self, claim: Claim, rows: int, differences: int = 0) -> None:
        """Count rows. Tests of one claim add up."""
        before = self._counts.get(claim, Count(0, 0))
        self._counts[claim] = Count(before.rows + rows, before.differences + differences)

    def write(self, page: Path) -> None:
        """Put the counts of this run into the table of a page; what was not compared now stays as it is."""
        text = page.read_text(encoding="utf-8")
        before, _, after = _parts(text)
        counts = claims_of(text) | self._counts
        page.write_text(before + _HEAD + "".join(_lines(counts)) + after, encoding="utf-8")


def claims_of(text: str) -> dict[Claim, Count]:
    """The rows of the table of a page."""
    _, table, _ = _parts(text)
    rows = ([cell.strip() for cell in line.strip("|\n").split("|")] for line in table.splitlines())
    return {
        Claim(*cells[:3]): Count(*(int(each.replace(",", "")) for each in cells[3:]))
        for cells in rows
        if len(cells) == 5
    }


def _lines(counts: Mapping[Claim, Count]) -> Iterable[str]:
    for claim, count in sorted(counts.items()):
        yield f"| {' | '.join(claim)} | {count.rows:,} | {count.differences:,} |\n"


def _parts(text: str) -> tuple[str, str, str]:
    """What stands before the rows of the table, the rows, and what comes after."""
    before, head, rest = text.partition(_HEAD)
    if not head:
        raise ValueError(f"{PAGE.name} has no table of claims")
    table = "".join(takewhile(lambda line: line.startswith("|"), rest.splitlines(keepends=True)))
    return before, table, rest.removeprefix(table)
