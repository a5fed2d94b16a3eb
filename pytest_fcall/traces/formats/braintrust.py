"""Braintrust: rows of data sets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from pytest_fcall.core.values import Json
from pytest_fcall.traces.formats.dataset_cases import DatasetCase, case_name, expect_value, question_of
from pytest_fcall.traces.record import Record, SkippedEntry, UnusableRecord

_MARKS: Final = frozenset({"expected", "dataset_id", "_xact_id"})


def matches(data: Mapping[str, Json]) -> bool:
    """Whether it is a row of a data set. A row with an output is a log."""
    return "input" in data and bool(data.keys() & _MARKS) and data.get("output") is None and "choices" not in data


def read(data: Mapping[str, Json], place: str) -> Iterator[Record | SkippedEntry]:
    """The record of the row."""
    case = DatasetCase(place, case_id=case_name(data, "name"))
    try:
        case.messages, further = question_of(data.get("input"))
        expect_value(case, data.get("expected"), "expected")
    except UnusableRecord as problem:
        yield SkippedEntry(place, str(problem))
        return
    if further:
        case.leave_out(f"the further input: {', '.join(further[:5])}", data)
    yield from case.entries("Braintrust")
