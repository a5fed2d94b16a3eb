"""All cases of a file, found by category and id."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from pytest_fcall.core.fault import Location
from pytest_fcall.core.values import Json
from pytest_fcall.suites.bfcl.cases import BfclCase, case_of
from pytest_fcall.suites.bfcl.fields import text
from pytest_fcall.suites.json_lines import BrokenRow, lines, opened, record

_Key: TypeAlias = tuple[str, str]


class CaseBook:
    """The cases of one file, which is read at once and understood as far as it is asked for.

    A line that cannot be read hides no other. Of cases with the same name the first counts.
    """

    def __init__(self, path: Path) -> None:
        with opened(path) as stream:
            self._lines = iter(list(enumerate(lines(stream), 1)))
        self._path = path
        self._faults: list[str] = []
        self._rows: dict[_Key, tuple[int, Mapping[str, Json]]] = {}
        self._cases: dict[_Key, BfclCase | BrokenRow] = {}

    def case(self, row: Mapping[str, Json]) -> BfclCase:
        """Find the case that a row's `category` and `id` name; BrokenRow where there is none, or a broken one."""
        key = text(row, "category"), text(row, "id")
        if key not in self._cases:
            self._cases[key] = self._understood(key)
        found = self._cases[key]
        if isinstance(found, BrokenRow):
            raise BrokenRow(*found.args)
        return found

    def _understood(self, key: _Key) -> BfclCase | BrokenRow:
        self._read_to(key)
        if key not in self._rows:
            return BrokenRow(". ".join([f"there is no case {key[1]!r} of category {key[0]!r}", *self._faults[:3]]))
        number, row = self._rows[key]
        try:
            return case_of(row, Location(str(self._path), number))
        except BrokenRow as error:
            return BrokenRow(f"its case ({self._path}:{number}) is broken: {error}")

    def _read_to(self, key: _Key) -> None:
        while key not in self._rows and (numbered := next(self._lines, None)) is not None:
            number, line = numbered
            if not line.strip():
                continue
            try:
                row = record(line)
                self._rows.setdefault((text(row, "category"), text(row, "id")), (number, row))
            except BrokenRow as error:
                self._faults.append(f"{self._path}:{number} cannot be read: {error}")
