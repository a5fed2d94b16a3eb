"""LangSmith: examples of data sets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pytest_fcall.core import Json
from pytest_fcall.traces.formats.dataset_cases import DatasetCase, case_name, expect_value, question_of
from pytest_fcall.traces.record import Record, SkippedEntry, UnusableRecord
from pytest_fcall.traces.values import first, parsed


def matches(data: Mapping[str, Json]) -> bool:
    """Whether it is an example. A run has a `run_type`, too."""
    return "inputs" in data and "run_type" not in data and bool(data.keys() & {"outputs", "reference_outputs"})


def read(data: Mapping[str, Json], place: str) -> Iterator[Record | SkippedEntry]:
    """The record of the example."""
    case = DatasetCase(place, case_id=case_name(data, "name"))
    try:
        case.messages, further = question_of(parsed(data["inputs"]))
        expect_value(case, first(data, "outputs", "reference_outputs"), "outputs")
    except UnusableRecord as problem:
        yield SkippedEntry(place, str(problem))
        return
    if further:
        case.leave_out(f"the further inputs: {', '.join(further[:5])}", data)
    if data.get("attachments"):
        case.leave_out("its attachments", data)
    yield from case.entries("LangSmith")
