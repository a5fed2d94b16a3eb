"""The environment `pytest_fcall.suites.mannheim.world:make`: the benchmark's functions over the user's tables."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from io import StringIO
from itertools import islice
from math import asin, cos, radians, sin, sqrt
from pathlib import Path
from statistics import fmean
from types import MappingProxyType
from typing import Final, TypeAlias

from pytest_fcall.core.files import MOST_KEPT_BYTES, read_regular
from pytest_fcall.core.values import Json
from pytest_fcall.suites.mannheim.queries import DEFAULTS, QUERIES, Aggregate, ColumnCondition, ColumnTest, Query

TableCell: TypeAlias = "str | int | float | bool | None"
TableRow: TypeAlias = Mapping[str, TableCell]

_TABLE_FOLDERS: Final = ("", "data", "src/data", "../data")
_NUMBER: Final = re.compile(r"-?[0-9]{1,18}(?P<fraction>\.[0-9]{1,18})?")
_CONSTANTS: Final[Mapping[str, TableCell]] = {"": None, "true": True, "false": False}


class NoTable(Exception):
    """A table is missing or cannot be read. The text says which, and what to do."""


def read_table(folder: Path, name: str) -> Sequence[TableRow]:
    """Read `name.csv` or `name.xlsx` in a folder or in a folder of data near it. Raises NoTable."""
    try:
        for inside in _TABLE_FOLDERS:
            if (path := folder / inside / f"{name}.csv").is_file():
                text = read_regular(path, MOST_KEPT_BYTES).decode("utf-8-sig")
                return list(_rows(csv.reader(StringIO(text, newline=""))))
            if (path := folder / inside / f"{name}.xlsx").is_file():
                return list(_rows(_sheet(path)))
    except PermissionError:
        raise NoTable(
            f"no permission to read {folder}: put the tables below the root folder, "
            f"or write `fc_tool_folders = {folder}` in pytest.ini"
        ) from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise NoTable(f"cannot read the table {name}: {error}") from None
    raise NoTable(
        f"no {name}.csv in {folder}: the tables do not come with the questions; get them from the benchmark's folder "
        "src/data, and put them into the folder data. Recorded runs do not need them"
    )


def _rows(lines: Iterable[Sequence[str]]) -> Iterator[TableRow]:
    reading = iter(lines)
    columns = next(reading, [])
    for line in reading:
        yield {column: _cell(text) for column, text in zip(columns, line, strict=False)}


def _cell(text: str) -> TableCell:
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
        raise NoTable(f"{path.name} needs a library: pip install openpyxl, or save the table as CSV") from None
    for row in book.active.iter_rows(values_only=True):
        yield ["" if value is None else str(value).removesuffix(" 00:00:00") for value in row]


_EARTH: Final = 6371
"""The radius of the earth in kilometres."""
_NOTHING: Final[Json] = {"error": "nothing was found"}
_PROBED_TABLES: Final[Mapping[str, str]] = {"music": "albums_1", "travel": "airbnbs"}


def make(folder: str, domain: str = "") -> dict[str, object]:
    """Make the functions, by name. Tables are read on demand, but one of the domain at once, to report missing data."""

    @cache
    def table(name: str) -> Sequence[TableRow]:
        return read_table(Path(folder), name)

    if domain in _PROBED_TABLES:
        table(_PROBED_TABLES[domain])
    return {name: _function(query, table) for name, query in QUERIES.items()}


def _function(query: Query, table: Callable[[str], Sequence[TableRow]]) -> Callable[..., Json]:
    def called(**given: Json) -> Json:
        rows = table(query.table)
        if split := query.split_parameter:
            texts = [text.strip() for text in str(given.get(split, "")).split(",")]
            return {text: _result(query, rows, {**given, split: text}) for text in texts}
        return _result(query, rows, given)

    return called


def _result(query: Query, rows: Sequence[TableRow], given: Mapping[str, Json]) -> Json:
    arguments = {**DEFAULTS, **given}
    found = [row for row in rows if all(_matches(each, row, arguments) for each in query.where)]
    if query.radius_km:
        found = list(_nearby(query.radius_km, found, arguments))
    if query.order:
        column = query.order.removeprefix("+")
        found = [row for row in found if isinstance(row.get(column), int | float)]
        found.sort(key=lambda row: _number(row[column]), reverse=not query.order.startswith("+"))
    if limit := query.limit_parameter:
        found = list(islice(found, max(int(_number(arguments.get(limit, 5))), 0)))
    return _selected(query, found) if found else _NOTHING


def _selected(query: Query, rows: Sequence[TableRow]) -> Json:
    columns = query.columns
    if query.aggregate:
        return _aggregated(query.aggregate, columns, rows)
    if len(columns) == 1 and not query.radius_km:
        return [row.get(columns[0]) for row in rows]
    added = ("distance",) if query.radius_km else ()
    return [{name: row.get(name) for name in (*columns, *added)} if columns else dict(row) for row in rows]


def _aggregated(aggregate: Aggregate, columns: Sequence[str], rows: Sequence[TableRow]) -> Json:
    column = columns[0]
    if aggregate == "one":
        return {column: rows[0].get(column)}
    numbers = [value for row in rows if isinstance(value := row.get(column), int | float)]
    if not numbers:
        return _NOTHING
    if aggregate == "greatest":
        best = max(numbers)
        return {column: best, columns[1]: [row.get(columns[1]) for row in rows if row.get(column) == best]}
    return {f"{aggregate} of {column}": fmean(numbers) if aggregate == "mean" else sum(numbers)}


def _matches(where: ColumnCondition, row: TableRow, arguments: Mapping[str, object]) -> bool:
    cell, wanted = row.get(where.column), arguments.get(where.parameter)
    if cell is None or wanted is None:
        return False
    if where.test == "near":
        return abs(_number(cell) - _number(wanted)) <= _number(arguments["threshold"])
    return _TESTS[where.test](cell, wanted)


def _is(cell: TableCell, wanted: object) -> bool:
    return any(cell == each or str(cell) == str(each) for each in _as_list(wanted))


def _says(cell: TableCell, wanted: object) -> bool:
    text = str(cell).casefold()
    return any(str(each).casefold() in text for each in _as_list(wanted))


def _parts(cell: TableCell) -> list[str]:
    return [part.strip() for part in str(cell).split(",")]


def _as_list(wanted: object) -> list[object]:
    return wanted if isinstance(wanted, list) else [wanted]


# Days are ISO dates. A month or a year is the beginning of the dates of its days.
_TESTS: Final[Mapping[ColumnTest, Callable[[TableCell, object], bool]]] = MappingProxyType(
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


def _nearby(radius_km: float, rows: Sequence[TableRow], arguments: Mapping[str, object]) -> Iterator[TableRow]:
    here = _number(arguments.get("latitude")), _number(arguments.get("longitude"))
    with_distance: list[Mapping[str, TableCell]] = [
        {**row, "distance": _distance(here, (_number(there[0]), _number(there[1])))}
        for row in rows
        if None not in (there := (_coordinate(row, "latitude"), _coordinate(row, "longitude")))
    ]
    if radius_km < 0:
        yield from sorted(with_distance, key=lambda row: _number(row["distance"]))[:1]
        return
    yield from (row for row in with_distance if _number(row["distance"]) <= radius_km)


def _coordinate(row: TableRow, name: str) -> TableCell:
    return row.get(name, row.get(name.capitalize()))


def _distance(one: tuple[float, float], other: tuple[float, float]) -> float:
    """Kilometres on a sphere, by the haversine formula."""
    (south, west), (north, east) = ((radians(each[0]), radians(each[1])) for each in (one, other))
    half = sin((north - south) / 2) ** 2 + cos(south) * cos(north) * sin((east - west) / 2) ** 2
    return 2 * _EARTH * asin(sqrt(min(half, 1.0)))


def _number(value: object) -> float:
    """The number that a value or its text is. Raises ValueError, which the model gets as the call's error."""
    if isinstance(value, int | float):
        return value
    try:
        return float(str(value))
    except ValueError:
        raise ValueError(f"{str(value)[:40]!r} is not a number") from None
