"""What carrying out an answer returns, recorded or from the user's function, and the curl request in an answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, TypeAlias

from pytest_fcall.core.values import Json
from pytest_fcall.decoding.research.curl import read_curl
from pytest_fcall.decoding.unreadable import Unreadable
from pytest_fcall.suites.json_files import BrokenRow, open_lines, parse_record, read_lines

_DEFAULTS = ("lang=en", "units=standard", "mode=json")


def curl_command(answer: str) -> str:
    """The first line that is a command of curl; all of an answer that has none."""
    bare = (line.strip() for line in answer.split("\n"))
    return next((line for line in bare if line.startswith("curl")), answer)


def completed_command(task: str, answer: str) -> str | None:
    """The command as the original completes it; None where it refuses to run it."""
    command = curl_command(answer)
    if task != "open_weather":
        return command
    if not command.endswith("'"):
        return None
    command = command.replace("%20", "+")
    if "air_pollution" in command or "direct" in command:
        return command
    added = (f"&{each}" for each in _DEFAULTS if each.partition("=")[0] not in command)
    return f"{command[:-1]}{''.join(added)}'"


def requested_call(task: str, answer: str) -> Json:
    """What is asked for, the same however it is written; the text itself where it cannot be read, or None."""
    command = completed_command(task, answer)
    if command is None:
        return None
    try:
        call, _ = read_curl(command, {})
    except Unreadable:
        return command
    return [call.name, dict(call.arguments)]


CarryOut: TypeAlias = Callable[[Mapping[str, Json], str], Mapping[str, Json] | None]
"""Carries out an answer to the question in a row. Gives what came of it, None where nobody knows."""

OUTCOMES_FILE: Final = "outcomes.jsonl"
"""Beside `test.jsonl`: `{"answer": TEXT, "gives": {…}}`, with `"case": N` where it holds for one line alone."""


def recorded_outcomes(folder: Path, named: Callable[[str], str]) -> CarryOut | None:
    """The outcomes that are recorded in a folder, None where there are none; `named` gives each answer its name.

    Raises ValueError for a file that cannot be read.
    """
    path = folder / OUTCOMES_FILE
    if not path.is_file():
        return None
    kept: dict[tuple[Json, str], Mapping[str, Json]] = {}
    with open_lines(path) as stream:
        for number, line in enumerate(read_lines(stream), 1):
            if line.strip():
                try:
                    case, answer, gives = _outcome(parse_record(line))
                except BrokenRow as error:
                    raise ValueError(f"{path}:{number}: {error}") from None
                kept[case, named(answer)] = gives

    def carry(row: Mapping[str, Json], answer: str) -> Mapping[str, Json] | None:
        name = named(answer)
        return kept.get((row.get("case"), name), kept.get((None, name)))

    return carry


def response_body(task: str, gives: Mapping[str, Json]) -> dict[object, Json] | None:
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


def filled_cells(gives: Mapping[str, Json], *, check_format: bool) -> object:
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


def collapse_blanks(text: str) -> str:
    """A text in which it does not count how many blanks and line ends stand in a row."""
    return re.sub(r"\n+", "\n", re.sub(r"[ \t]+", " ", text).strip()).strip(" \n")
