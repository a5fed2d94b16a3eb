"""Outcomes of executed answers, recorded or from a function of the user, and the curl request in an answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, TypeAlias

from pytest_fcall.core.values import Json
from pytest_fcall.decoding.research.toolbench import read_curl
from pytest_fcall.decoding.unreadable_text import Unreadable
from pytest_fcall.suites.json_files import BrokenRow, read_rows

CarryOut: TypeAlias = Callable[[Mapping[str, Json], str], Mapping[str, Json] | None]
"""Executes an answer to the question in a row. Returns its outcome; None if that is unknown."""

OUTCOMES_FILE: Final = "outcomes.jsonl"
"""Beside `test.jsonl`: `{"answer": TEXT, "gives": {…}}`, with `"case": N` for an outcome of one line only."""
_DEFAULTS = ("lang=en", "units=standard", "mode=json")


def curl_command(answer: str) -> str:
    """Return the first line that is a curl command; the whole answer without one."""
    bare = (line.strip() for line in answer.split("\n"))
    return next((line for line in bare if line.startswith("curl")), answer)


def completed_command(task: str, answer: str) -> str | None:
    """Return the command as the original completes it; None if the original refuses to run it."""
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
    """Return the request of an answer, independent of its spelling; the command as text if it cannot be parsed."""
    command = completed_command(task, answer)
    if command is None:
        return None
    try:
        call, _ = read_curl(command, {})
    except Unreadable:
        return command
    return [call.name, dict(call.arguments)]


def recorded_outcomes(folder: Path, key_of: Callable[[str], str]) -> CarryOut | None:
    """Return the recorded outcomes of a folder, None without a file; `key_of` returns the key of an answer.

    Raises ValueError for a broken line.
    """
    path = folder / OUTCOMES_FILE
    if not path.is_file():
        return None
    outcomes: dict[tuple[Json, str], Mapping[str, Json]] = {}
    outcomes |= {(case, key_of(answer)): outcome for case, answer, outcome in _read_outcomes(path)}

    def carry_out(row: Mapping[str, Json], answer: str) -> Mapping[str, Json] | None:
        key = key_of(answer)
        return outcomes.get((row.get("case"), key), outcomes.get((None, key)))

    return carry_out


def recorded_visits(folder: Path) -> Mapping[int | None, Mapping[str, Mapping[str, Json]]]:
    """Return what a shop showed, by the line of the case and the actions so far; of all cases under None.

    Raises ValueError for a broken line.
    """
    path, found = folder / OUTCOMES_FILE, dict[int | None, dict[str, Mapping[str, Json]]]()
    for case, actions, outcome in _read_outcomes(path) if path.is_file() else ():
        found.setdefault(case, {})[visit_key(actions.splitlines())] = outcome
    return found


def visit_key(actions: Iterable[str]) -> str:
    """Return the key of a visit to a shop: its actions, `search[WORDS]` and `click[NAME]`, which ignore case."""
    return "\n".join(re.sub(r"\s+", " ", action).strip().casefold() for action in actions if action.strip())


def _read_outcomes(path: Path) -> Iterator[tuple[int | None, str, Mapping[str, Json]]]:
    for row in read_rows(path):
        try:
            yield _outcome(row.record)
        except BrokenRow as error:
            raise ValueError(f"{path}:{row.location.line}: {error}") from None


def _outcome(row: Mapping[str, Json]) -> tuple[int | None, str, Mapping[str, Json]]:
    match row:
        case {"answer": str(answer), "gives": Mapping() as outcome, **others}:
            case = others.get("case")
            if case is None or isinstance(case, int):
                return case, answer, dict(outcome)
            raise BrokenRow("`case` must be the number of a line")
    raise BrokenRow("`answer` must be a string, and `gives` an object")


def response_body(task: str, outcome: Mapping[str, Json]) -> dict[object, Json] | None:
    """Return the answer of a service, key by key, as the original compares it; None for a failure."""
    body = outcome.get("body")
    if outcome.get("status", 200) != 200 or outcome.get("error"):
        return None
    if isinstance(body, list):
        return dict[object, Json](enumerate(body))
    if not isinstance(body, Mapping):
        return None
    if task == "the_cat_api":
        return {key: body[key] for key in body if key != "id"} if body.get("message") == "SUCCESS" else None
    return {key: body[key] for key in body} if str(body.get("cod", 200)) == "200" else None


def filled_cells(outcome: Mapping[str, Json], *, check_format: bool) -> object:
    """Return a sheet without empty rows and columns, with formats if they count."""
    cells = outcome.get("cells")
    rows = [row for row in cells if isinstance(row, list)] if isinstance(cells, list) else []
    width = max(map(len, rows), default=0)
    full = [[*row, *[""] * (width - len(row))] for row in rows if any(map(_is_filled, row))]
    columns = [column for column in zip(*full, strict=True) if any(map(_is_filled, column))]
    return columns, outcome.get("format") if check_format else None


def _is_filled(cell: Json) -> bool:
    return cell not in (None, "")


def collapse_blanks(text: str) -> str:
    """Return a text with single blanks and line ends in place of several."""
    return re.sub(r"\n+", "\n", re.sub(r"[ \t]+", " ", text).strip()).strip(" \n")
