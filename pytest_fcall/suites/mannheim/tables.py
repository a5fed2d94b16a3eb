"""Tables of the user, in CSV, or in Excel's form where a library reads it."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Final, TypeAlias

Cell: TypeAlias = "str | int | float | bool | None"
Row: TypeAlias = Mapping[str, Cell]

_PLACES: Final = ("", "data", "src/data", "../data")
_NUMBER: Final = re.compile(r"-?[0-9]{1,18}(?P<fraction>\.[0-9]{1,18})?")
_WORDS: Final[Mapping[str, Cell]] = {"": None, "true": True, "false": False}


class NoTable(Exception):
    """A table is not there, or cannot be read. The text says which, and what to do."""


def read_table(folder: Path, name: str) -> Sequence[Row]:
    """Read `name.csv`, or `name.xlsx`, in a folder or beside its configuration. Raises NoTable."""
    try:
        for place in _PLACES:
            if (path := folder / place / f"{name}.csv").is_file():
                with path.open(encoding="utf-8-sig", newline="") as file:
                    return list(_rows(csv.reader(file)))
            if (path := folder / place / f"{name}.xlsx").is_file():
                return list(_rows(_sheet(path)))
    except PermissionError:
        raise NoTable(
            f"{folder} may not be read from here: put the tables below the root folder, "
            f"or write `fc_tool_folders = {folder}` in pytest.ini"
        ) from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise NoTable(f"the table {name} cannot be read: {error}") from None
    raise NoTable(
        f"there is no {name}.csv in {folder}: the tables are not passed on with the questions; get them from the "
        "benchmark's folder src/data, and put them into the folder data. A run that is recorded does without"
    )


def _rows(lines: Iterable[Sequence[str]]) -> Iterator[Row]:
    reading = iter(lines)
    columns = next(reading, [])
    for line in reading:
        yield {column: _cell(text) for column, text in zip(columns, line, strict=False)}


def _cell(text: str) -> Cell:
    bare = text.strip()
    if bare.lower() in _WORDS:
        return _WORDS[bare.lower()]
    if number := _NUMBER.fullmatch(bare):
        return float(bare) if number["fraction"] else int(bare)
    return bare


def _sheet(path: Path) -> Iterator[list[str]]:
    try:
        book = import_module("openpyxl").load_workbook(path, read_only=True, data_only=True)
    except ImportError:
        raise NoTable(f"{path.name} takes a library: pip install openpyxl, or save the table as CSV") from None
    for row in book.active.iter_rows(values_only=True):
        yield ["" if value is None else str(value).removesuffix(" 00:00:00") for value in row]
