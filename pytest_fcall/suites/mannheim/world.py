"""The functions over the user's tables, as an environment: `pytest_fcall.suites.mannheim.world:make`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from math import asin, cos, radians, sin, sqrt
from pathlib import Path
from statistics import fmean
from types import MappingProxyType
from typing import Final

from pytest_fcall.core.values import Json
from pytest_fcall.suites.mannheim.queries import DEFAULTS, QUERIES, Query, Test, Where
from pytest_fcall.suites.mannheim.tables import Cell, Row, read_table

_EARTH: Final = 6371
"""Its radius in kilometres."""
_NOTHING: Final[Json] = {"error": "nothing was found"}
_FIRST: Final[Mapping[str, str]] = {"music": "albums_1", "travel": "airbnbs"}


def make(folder: str, domain: str = "") -> dict[str, object]:
    """The functions by name. Tables are read when they are first asked; one of the domain is looked for at once."""
    place = Path(folder)

    @cache
    def table(name: str) -> Sequence[Row]:
        return read_table(place, name)

    if domain in _FIRST:
        table(_FIRST[domain])
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
    found = [row for row in rows if all(_holds(each, row, asked) for each in query.where)]
    if query.within:
        found = list(_around(query.within, found, asked))
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


def _holds(where: Where, row: Row, asked: Mapping[str, object]) -> bool:
    cell, wanted = row.get(where.column), asked.get(where.parameter)
    if cell is None or wanted is None:
        return False
    if where.test == "near":
        return abs(_number(cell) - _number(wanted)) <= _number(asked["threshold"])
    return _TESTS[where.test](cell, wanted)


def _is(cell: Cell, wanted: object) -> bool:
    return any(cell == each or str(cell) == str(each) for each in _several(wanted))


def _says(cell: Cell, wanted: object) -> bool:
    text = str(cell).casefold()
    return any(str(each).casefold() in text for each in _several(wanted))


def _parts(cell: Cell) -> list[str]:
    return [part.strip() for part in str(cell).split(",")]


def _several(wanted: object) -> list[object]:
    return wanted if isinstance(wanted, list) else [wanted]


# Days are ISO dates. What is wanted may be a month or a year, whose days all begin alike.
_TESTS: Final[Mapping[Test, Callable[[Cell, object], bool]]] = MappingProxyType(
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


def _around(kilometres: float, rows: Sequence[Row], asked: Mapping[str, object]) -> Iterator[Row]:
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
