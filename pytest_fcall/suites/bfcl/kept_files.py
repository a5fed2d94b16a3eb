"""What the files of earlier runs hold: other cases, parts and models, which stay where a run adds to them."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from pytest_fcall.core.values import Json
from pytest_fcall.suites.bfcl.categories import CATEGORIES
from pytest_fcall.suites.bfcl.files import NATIVE, TABLE, Row, file_of, name_of, place_of
from pytest_fcall.suites.bfcl.prompt_format import PART, format_of
from pytest_fcall.suites.json_lines import BrokenRow, record

There: TypeAlias = Callable[[str], "str | None"]
"""Gives the text of a file in the folder, by its path; None where there is none."""

_BESIDE = ("id", "model_name", "test_category", "valid", "model_result_raw")
"""What a row of scores says beside what was wrong."""


def with_kept(model: str, rows: Sequence[Row], there: There) -> list[Row]:
    """The rows of a model, and those of its files that this run did not ask, in the order of their ids.

    A file that has no scores beside it, or cannot be read, is passed over: nobody knows what was right.
    """
    asked = {_key(row) for row in rows}
    kept = [row for row in _kept(name_of(model, rows), there) if _key(row) not in asked]
    return sorted([*kept, *rows], key=_order) if kept else [*rows]


def lines_kept(models: Mapping[str, Sequence[Row]], there: There) -> list[Mapping[str, str]]:
    """The lines of the table that are about models which this run did not ask."""
    asked = {name_of(model, rows) for model, rows in models.items()}
    told = csv.DictReader((there(TABLE) or "").splitlines(), restval="N/A")
    share = re.compile(r"[0-9.]+%")
    return [
        line
        for line in told
        if line.get("Model", "") not in {"", *asked} and share.fullmatch(line.get("Overall Acc") or "")
    ]


def _kept(name: str, there: There) -> Iterator[Row]:
    for category in CATEGORIES:
        place = place_of(name, category)
        results, scores = (there(f"{kind}/{place}_{kind}.json") for kind in ("result", "score"))
        if results is None or scores is None:
            continue
        try:
            wrong = {str(row.get("id")): row for row in _records(scores)[1:]}
            rows = _records(results)
            earlier = _records(there(f"result/{place}_prereq_result.json") or "")
        except BrokenRow:
            continue
        for number, result in enumerate(rows):
            id_ = str(result.get("id"))
            row: dict[str, Json] = {"category": category, "native": name.endswith(NATIVE), "result": result}
            if category == PART:
                row["category"] = format_of(id_).category
            if id_ in wrong:
                row["wrong"] = {key: value for key, value in wrong[id_].items() if key not in _BESIDE}
            if earlier and not number:
                row["earlier"] = [*earlier]
            yield row


def _records(text: str) -> list[Mapping[str, Json]]:
    return [record(line.encode()) for line in text.splitlines() if line.strip()]


def _key(row: Row) -> tuple[str, str]:
    return file_of(row), _id(row)


def _order(row: Row) -> tuple[str, list[int]]:
    return file_of(row), [int(number) for number in re.findall(r"[0-9]{1,9}", _id(row))]


def _id(row: Row) -> str:
    result = row["result"]
    return str(result.get("id")) if isinstance(result, Mapping) else ""
