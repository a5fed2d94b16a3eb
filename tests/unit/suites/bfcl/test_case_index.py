from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from pytest_fcall.core import Json
from pytest_fcall.suites.bfcl.case_index import CaseIndex
from pytest_fcall.suites.json_files import BrokenFile, BrokenRow
from tests.unit.suites.bfcl.rows import case_row, forecast

OSLO = case_row(forecast(city=["Oslo"]))
NONE = case_row(category="irrelevance")
NAMED: dict[str, Json] = {"category": "simple_python", "id": "simple_python_0"}


def book(folder: Path, *rows: Json) -> CaseIndex:
    path = folder / "cases.jsonl"
    path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return CaseIndex(path)


def test_a_case_is_found_by_category_and_id_and_read_once(tmp_path: Path) -> None:
    cases = book(tmp_path, NONE, "", OSLO)
    found = cases.case({**NAMED, "raw": "…"})
    assert (found.case.id, found.case.location.line) == ("simple_python_0", 3)
    assert cases.case(NAMED) is found
    assert cases.case({"category": "irrelevance", "id": "irrelevance_0"}).expect.kind == "no_call"


def test_of_cases_with_one_name_the_first_counts(tmp_path: Path) -> None:
    cases = book(tmp_path, OSLO, {**OSLO, "ground_truth": [forecast(city=["Rome"])]})
    assert cases.case(NAMED).official_case.truth == [forecast(city=["Oslo"])]


@pytest.mark.parametrize("row", [{**NAMED, "id": "other"}, {**NAMED, "category": "simple_java"}])
def test_a_case_that_is_not_there_is_told_every_time(tmp_path: Path, row: dict[str, Json]) -> None:
    cases = book(tmp_path, "{", OSLO)
    for _ in range(2):
        with pytest.raises(BrokenRow, match=r"no case .*\. .*cases.jsonl:1 cannot be read: not JSON"):
            cases.case(row)


def test_a_broken_case_is_told_with_its_place_and_hides_no_other(tmp_path: Path) -> None:
    cases = book(tmp_path, {**OSLO, "id": "bad", "question": 3}, OSLO)
    for _ in range(2):
        with pytest.raises(BrokenRow, match=r"invalid case \(.*cases.jsonl:1\): `question`"):
            cases.case({**NAMED, "id": "bad"})
    assert cases.case(NAMED).case.id == "simple_python_0"


@pytest.mark.parametrize("row", [{}, {"category": "simple_python"}, {**NAMED, "id": 3}])
def test_a_row_that_names_no_case_is_broken(tmp_path: Path, row: dict[str, Json]) -> None:
    with pytest.raises(BrokenRow):
        book(tmp_path, OSLO).case(row)


def test_a_file_that_cannot_be_read_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        CaseIndex(tmp_path / "none.jsonl")
    (tmp_path / "cut.gz").write_bytes(gzip.compress(json.dumps(OSLO).encode())[:-9])
    with pytest.raises(BrokenFile):
        CaseIndex(tmp_path / "cut.gz")
