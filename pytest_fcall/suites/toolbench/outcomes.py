"""What carrying an answer out gives, where that is not done here: recorded, or by a function of the user's."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, TypeAlias

from pytest_fcall.core.values import Json
from pytest_fcall.suites.json_lines import BrokenRow, lines, opened, record

Carry: TypeAlias = Callable[[Mapping[str, Json], str], Mapping[str, Json] | None]
"""Carries out an answer to the question in a row. Gives what came of it, None where nobody knows."""

RECORDED: Final = "outcomes.jsonl"
"""Beside `test.jsonl`: `{"answer": TEXT, "gives": {…}}`, with `"case": N` where it holds for one line alone."""


def recorded(folder: Path, named: Callable[[str], str]) -> Carry | None:
    """The outcomes that are recorded in a folder, None where there are none; `named` gives each answer its name.

    Raises ValueError for a file that cannot be read.
    """
    path = folder / RECORDED
    if not path.is_file():
        return None
    kept: dict[tuple[Json, str], Mapping[str, Json]] = {}
    with opened(path) as stream:
        for number, line in enumerate(lines(stream), 1):
            if line.strip():
                try:
                    case, answer, gives = _outcome(record(line))
                except BrokenRow as error:
                    raise ValueError(f"{path}:{number}: {error}") from None
                kept[case, named(answer)] = gives

    def carry(row: Mapping[str, Json], answer: str) -> Mapping[str, Json] | None:
        name = named(answer)
        return kept.get((row.get("case"), name), kept.get((None, name)))

    return carry


def body_of(task: str, gives: Mapping[str, Json]) -> dict[object, Json] | None:
    """The answer of a service, key by key, as the original compares it; None where it is a failure."""
    body = gives.get("body")
    if gives.get("status", 200) != 200 or gives.get("error"):
        return None
    if isinstance(body, list):
        return dict[object, Json](enumerate(body))
    if not isinstance(body, Mapping):
        return None
    if task == "the_cat_api":
        return {key: body[key] for key in body if key != "id"} if body.get("message") == "SUCCESS" else None
    return {key: body[key] for key in body} if str(body.get("cod", 200)) == "200" else None


def table_of(gives: Mapping[str, Json], *, check_format: bool) -> object:
    """A sheet without rows and columns that are empty, with formats where they count."""
    cells = gives.get("cells")
    rows = [row for row in cells if isinstance(row, list)] if isinstance(cells, list) else []
    width = max(map(len, rows), default=0)
    full = [[*row, *[""] * (width - len(row))] for row in rows if any(map(_is_filled, row))]
    kept = [column for column in zip(*full, strict=True) if any(map(_is_filled, column))]
    return kept, gives.get("format") if check_format else None


def _is_filled(cell: Json) -> bool:
    return cell not in (None, "")


def _outcome(row: Mapping[str, Json]) -> tuple[int | None, str, Mapping[str, Json]]:
    match row:
        case {"answer": str(answer), "gives": Mapping() as gives, **beside}:
            case = beside.get("case")
            if case is None or isinstance(case, int):
                return case, answer, dict(gives)
            raise BrokenRow("`case` is no number of a line")
    raise BrokenRow("it needs `answer`, a text, and `gives`, an object")


def lines_without_blanks(text: str) -> str:
    """A text in which it does not count how many blanks and line ends stand in a row."""
    return re.sub(r"\n+", "\n", re.sub(r"[ \t]+", " ", text).strip()).strip(" \n")
