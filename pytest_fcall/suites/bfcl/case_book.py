"""All cases of a file, found by category and id."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pytest_fcall.core.fault import Location
from pytest_fcall.core.values import Json
from pytest_fcall.suites.bfcl.cases import BfclCase, case_of
from pytest_fcall.suites.bfcl.fields import text
from pytest_fcall.suites.json_lines import BrokenRow, lines, opened, record


class CaseBook:
    """The cases of one file. Each is understood when it is first asked for.

    A line that cannot be read is in `faults`; the other cases are there all the same.
    """

    def __init__(self, path: Path) -> None:
        self.faults: list[str] = []
        self._rows: dict[tuple[str, str], tuple[int, Mapping[str, Json]]] = {}
        self._cases: dict[tuple[str, str], BfclCase | BrokenRow] = {}
        self._path = path
        with opened(path) as stream:
            for number, line in enumerate(lines(stream), 1):
                if line.strip():
                    self._add(number, line)

    def case(self, row: Mapping[str, Json]) -> BfclCase:
        """Find the case that a row's `category` and `id` name; BrokenRow where there is none, or a broken one."""
        key = text(row, "category"), text(row, "id")
        if key not in self._cases:
            self._cases[key] = self._understood(*key)
        found = self._cases[key]
        if isinstance(found, BrokenRow):
            raise found
        return found

    def _add(self, number: int, line: bytes) -> None:
        try:
            row = record(line)
            self._rows[text(row, "category"), text(row, "id")] = number, row
        except BrokenRow as error:
            self.faults.append(f"{self._path}:{number}: {error}")

    def _understood(self, category: str, name: str) -> BfclCase | BrokenRow:
        if (category, name) not in self._rows:
            return BrokenRow(f"there is no case {name!r} of category {category!r}")
        number, row = self._rows[category, name]
        try:
            return case_of(row, Location(str(self._path), number))
        except BrokenRow as error:
            return BrokenRow(f"its case ({self._path}:{number}) is broken: {error}")
