"""The environment `pytest_fcall.suites.mannheim.world:make`: the benchmark's functions over the user's tables."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from itertools import islice
from math import asin, cos, radians, sin, sqrt
from pathlib import Path
from statistics import fmean
from types import MappingProxyType
from typing import Final, TypeAlias

from pytest_fcall.core.values import Json
from pytest_fcall.suites.mannheim.queries import DEFAULTS, QUERIES, ColumnCondition, ColumnTest, Query

Cell: TypeAlias = "str | int | float | bool | None"
Row: TypeAlias = Mapping[str, Cell]

_TABLE_FOLDERS: Final = ("", "data", "src/data", "../data")
_NUMBER: Final = re.compile(r"-?[0-9]{1,18}(?P<fraction>\.[0-9]{1,18})?")
_CONSTANTS: Final[Mapping[str, Cell]] = {"": None, "true": True, "false": False}


class NoTable(Exception):
    """A table is not there, or cannot be read. The text says which, and what to do."""


def read_table(folder: Path, name: str) -> Sequence[Row]:
    """Read `name.csv`, or `name.xlsx`, in a folder or beside its configuration. Raises NoTable."""
    try:
        for place in _TABLE_FOLDERS:
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
    if bare.lower() in _CONSTANTS:
        return _CONSTANTS[bare.lower()]
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


_EARTH: Final = 6371
"""Its radius in kilometres."""
_NOTHING: Final[Json] = {"error": "nothing was found"}
_PROBED_TABLES: Final[Mapping[str, str]] = {"music": "albums_1", "travel": "airbnbs"}


def make(folder: str, domain: str = "") -> dict[str, object]:
    """The functions by name. Tables are read when they are first asked; one of the domain is looked for at once."""
    place = Path(folder)

    @cache
    def table(name: str) -> Sequence[Row]:
        return read_table(place, name)

    if domain in _PROBED_TABLES:
        table(_PROBED_TABLES[domain])
    return {name: _function(query, table) for name, query in QUERIES.items()}


def _function(query: Query, table: Callable[[str], Sequence[Row]]) -> Callable[..., Json]:
    def called(**given: Json) -> Json:
        rows = table(query.table)
        if query.each:
            asked = str(given.get(query.each, "")).split(",")
            return {each.strip(): _found(query, rows, {**given, query.each: each.strip()}) for each in asked}
        return _found(query, rows, given)

    return called


def _found(query: Query, rows: Sequence[Row], given: Mapping[str, Json]) -> Json:
    asked = {**DEFAULTS, **given}
    found = [row for row in rows if all(_matches(each, row, asked) for each in query.where)]
    if query.within:
        found = list(_nearby(query.within, found, asked))
    if query.order:
        column = query.order.removeprefix("+")
        found = [row for row in found if isinstance(row.get(column), int | float)]
        found.sort(key=lambda row: _number(row[column]), reverse=not query.order.startswith("+"))
    if query.first:
        found = list(islice(found, max(int(_number(asked.get(query.first, 5))), 0)))
    return _given(query, found) if found else _NOTHING


def _given(query: Query, rows: Sequence[Row]) -> Json:
    columns = query.give
    if query.figure:
        return _figure(query.figure, columns, rows)
    if len(columns) == 1 and not query.within:
        return [row.get(columns[0]) for row in rows]
    beside = ("distance",) if query.within else ()
    return [{name: row.get(name) for name in (*columns, *beside)} if columns else dict(row) for row in rows]


def _figure(figure: str, columns: Sequence[str], rows: Sequence[Row]) -> Json:
    column = columns[0]
    if figure == "one":
        return {column: rows[0].get(column)}
    numbers = [value for row in rows if isinstance(value := row.get(column), int | float)]
    if not numbers:
        return _NOTHING
    if figure == "greatest":
        best = max(numbers)
        return {column: best, columns[1]: [row.get(columns[1]) for row in rows if row.get(column) == best]}
    return {f"{figure} of {column}": fmean(numbers) if figure == "mean" else sum(numbers)}


def _matches(where: ColumnCondition, row: Row, asked: Mapping[str, object]) -> bool:
    cell, wanted = row.get(where.column), asked.get(where.parameter)
    if cell is None or wanted is None:
        return False
    if where.test == "near":
        return abs(_number(cell) - _number(wanted)) <= _number(asked["threshold"])
    return _TESTS[where.test](cell, wanted)


def _is(cell: Cell, wanted: object) -> bool:
    return any(cell == each or str(cell) == str(each) for each in _as_list(wanted))


def _says(cell: Cell, wanted: object) -> bool:
    text = str(cell).casefold()
    return any(str(each).casefold() in text for each in _as_list(wanted))


def _parts(cell: Cell) -> list[str]:
    return [part.strip() for part in str(cell).split(",")]


def _as_list(wanted: object) -> list[object]:
    return wanted if isinstance(wanted, list) else [wanted]


# Days are ISO dates. What is wanted may be a month or a year, whose days all begin alike.
_TESTS: Final[Mapping[ColumnTest, Callable[[Cell, object], bool]]] = MappingProxyType(
    {
        "is": _is,
        "like": lambda cell, wanted: str(cell).casefold() == str(wanted).strip().casefold(),
        "says": _says,
        "any": _says,
        "none": lambda cell, wanted: not _says(cell, wanted),
        "has": lambda cell, wanted: str(wanted) in _parts(cell),
        "in": lambda cell, wanted: str(cell).startswith(str(wanted)),
        "since": lambda cell, wanted: str(cell)[: len(str(wanted))] >= str(wanted),
        "until": lambda cell, wanted: str(cell)[: len(str(wanted))] <= str(wanted),
        "more": lambda cell, wanted: len(_parts(cell)) > _number(wanted),
        "parts": lambda cell, wanted: len(_parts(cell)) >= _number(wanted),
        "least": lambda cell, wanted: _number(cell) >= _number(wanted),
        "most": lambda cell, wanted: _number(cell) <= _number(wanted),
        "above": lambda cell, wanted: _number(cell) > _number(wanted),
        "below": lambda cell, wanted: _number(cell) < _number(wanted),
    }
)


def _nearby(kilometres: float, rows: Sequence[Row], asked: Mapping[str, object]) -> Iterator[Row]:
    here = _number(asked.get("latitude")), _number(asked.get("longitude"))
    far: list[Mapping[str, Cell]] = [
        {**row, "distance": _distance(here, (_number(where[0]), _number(where[1])))}
        for row in rows
        if None not in (where := (_either(row, "latitude"), _either(row, "longitude")))
    ]
    if kilometres < 0:
        yield from sorted(far, key=lambda row: _number(row["distance"]))[:1]
        return
    yield from (row for row in far if _number(row["distance"]) <= kilometres)


def _either(row: Row, name: str) -> Cell:
    return row.get(name, row.get(name.capitalize()))


def _distance(one: tuple[float, float], other: tuple[float, float]) -> float:
    """Kilometres on a sphere, by the haversine formula."""
    (south, west), (north, east) = ((radians(each[0]), radians(each[1])) for each in (one, other))
    half = sin((north - south) / 2) ** 2 + cos(south) * cos(north) * sin((east - west) / 2) ** 2
    return 2 * _EARTH * asin(sqrt(min(half, 1.0)))


def _number(value: object) -> float:
    """A number, or one that a text says; ValueError, which is told to the model, where it is none."""
    if isinstance(value, int | float):
        return value
    try:
        return float(str(value))
    except ValueError:
        raise ValueError(f"{str(value)[:40]!r} is no number") from None
