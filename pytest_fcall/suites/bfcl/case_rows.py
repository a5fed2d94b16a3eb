"""The rows of cases by category and id: those of one file, or those of the leaderboard's own folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, Protocol, TypeAlias

from pytest_fcall.core.fault import Location
from pytest_fcall.core.values import Json
from pytest_fcall.suites.bfcl.categories import CATEGORIES
from pytest_fcall.suites.bfcl.data import Row, existing_folder
from pytest_fcall.suites.bfcl.fields import text
from pytest_fcall.suites.bfcl.rows import rows_in
from pytest_fcall.suites.json_lines import BrokenRow, lines, opened, record

Key: TypeAlias = tuple[str, str]
"""The category and the id."""


class Found(NamedTuple):
    """A row, and where it stands."""

    place: Location
    data: Mapping[str, Json]


class CaseRows(Protocol):
    """Where cases are looked up."""

    def find(self, key: Key) -> Found:
        """The row of a case. BrokenRow where there is none, or one that cannot be read."""
        ...


def rows_at(path: Path) -> CaseRows:
    """Those of a file, or of a folder. Raises OSError for what cannot be read."""
    return FolderRows(path) if path.is_dir() else FileRows(path)


class FileRows:
    """A file of rows, which is read at once and understood as far as it is asked for.

    A line that cannot be read hides no other. Of cases with the same name the first counts.
    """

    def __init__(self, path: Path) -> None:
        with opened(path) as stream:
            self._lines = iter(list(enumerate(lines(stream), 1)))
        self._path = path
        self._faults: list[str] = []
        self._rows: dict[Key, Found] = {}

    def find(self, key: Key) -> Found:
        """The row of a case."""
        self._read_to(key)
        if key not in self._rows:
            raise BrokenRow(". ".join([_none(key), *self._faults[:3]]))
        return self._rows[key]

    def _read_to(self, key: Key) -> None:
        while key not in self._rows and (numbered := next(self._lines, None)) is not None:
            number, line = numbered
            if not line.strip():
                continue
            try:
                row = record(line)
                found = Found(Location(str(self._path), number), row)
                self._rows.setdefault((text(row, "category"), text(row, "id")), found)
            except BrokenRow as error:
                self._faults.append(f"{self._path}:{number} cannot be read: {error}")


class FolderRows:
    """The leaderboard's folder of data, of which a category is read when it is asked for."""

    def __init__(self, path: Path) -> None:
        try:
            self._folder = existing_folder(path)
        except ValueError as error:
            raise FileNotFoundError(str(error)) from None
        self._rows: dict[str, dict[str, Row]] = {}

    def find(self, key: Key) -> Found:
        """The row of a case."""
        category, id_ = key
        if category not in CATEGORIES:
            raise BrokenRow(f"there is no category {category!r:.80}, in which {id_!r:.80} would be")
        if category not in self._rows:
            try:
                self._rows[category] = {row.id: row for row in rows_in(CATEGORIES[category], self._folder)}
            except ValueError as error:
                raise BrokenRow(str(error)) from None
        row = self._rows[category].get(id_)
        if row is None or row.fault:
            raise BrokenRow(row.fault if row else _none(key))
        return Found(row.place, row.data)


def _none(key: Key) -> str:
    return f"there is no case {key[1]!r} of category {key[0]!r}"
