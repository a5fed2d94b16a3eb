"""The verdicts of each format of `fcall score`, read as results."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from pytest_fcall.core import Json
from pytest_fcall.session.result.board import BoardRow, is_verdict_file, judged_row, read_verdicts
from pytest_fcall.suites.json_files import BrokenFile

ROWS: list[tuple[dict[str, Json], BoardRow]] = [
    (
        {"category": "multiple", "id": "multiple_0", "valid": True, "strict_valid": False},
        BoardRow("bfcl", "multiple", "multiple_0", True),
    ),
    ({"id": "oslo", "file": "cases/w.fc.yaml", "valid": False}, BoardRow("", "cases/w.fc.yaml", "oslo", False)),
    ({"case": "seq_sgd_12", "valid": True, "api_f1": 1.0}, BoardRow("api_blend", "seq_sgd", "seq_sgd_12", True)),
    (
        {"hub": "torchhub", "setting": "0_shot", "question_id": 3, "verdict": "wrong", "strict_verdict": "correct"},
        BoardRow("apibench", "torchhub 0_shot", "torchhub_0_shot_3", False),
    ),
    (
        {"case": "q1", "function": "Correct", "argument": "Incorrect", "answer": "Correct"},
        BoardRow("mannheim", "answer", "q1", True),
    ),
    (
        {"task": "booking", "case": "a", "crashed": False, "success": False, "lcs_score": None},
        BoardRow("toolbench", "booking", "booking_a", False),
    ),
    (
        {"task": "virtual_home", "case": "a", "crashed": False, "success": None, "lcs_score": 1.0},
        BoardRow("toolbench", "virtual_home", "virtual_home_a", True),
    ),
    (
        {"task": "virtual_home", "case": "a", "crashed": True, "success": None, "lcs_score": 1.0},
        BoardRow("toolbench", "virtual_home", "virtual_home_a", False),
    ),
    ({"id": "sailing_7", "valid": True}, BoardRow("", "sailing", "sailing_7", True)),
    (
        {"id": "en_normal_multi_turn_user_switch_3_1", "valid": True, "error_type": None, "progress": 0.0},
        BoardRow("acebench", "en_normal_multi_turn_user_switch", "en_normal_multi_turn_user_switch_3_1", True),
    ),
    (
        {"id": "normal_atom_bool_7", "valid": False, "error_type": None, "progress": 0.0},
        BoardRow("acebench", "normal_atom_bool", "normal_atom_bool_7", False),
    ),
    (
        {"sample_id": "a-1", "valid": False, "partial_match": 0.5, "readable": True},
        BoardRow("nestful", "nestful", "a-1", False),
    ),
]


@pytest.mark.parametrize(("row", "judged"), ROWS)
def test_each_format_says_of_which_case_and_whether_it_is_right(row: dict[str, Json], judged: BoardRow) -> None:
    assert judged_row(row) == judged


@pytest.mark.parametrize(
    "row", [{}, {"id": "a", "valid": 1}, {"id": "a", "error": "no such case"}, {"category": 3, "valid": True}]
)
def test_what_has_no_verdict_is_none(row: dict[str, Json]) -> None:
    assert judged_row(row) is None


def test_broken_and_repeated_rows_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl.gz"
    rows = [ROWS[0][0], {**ROWS[0][0], "valid": False}, {"id": "x", "error": "no such case"}]
    path.write_bytes(gzip.compress(b"\n".join([*(json.dumps(row).encode() for row in rows), b"", b"{broken"])))
    assert is_verdict_file(path)
    found = read_verdicts(path, "m")
    assert [(each.case, each.model, each.samples) for each in found.results] == [("multiple_0", "m", (1, 2))]
    assert (found.broken, found.repeated) == (2, 1)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(BrokenFile):
        read_verdicts(path, "m")


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b"\x1f\x8b", b"not json", b'{"results": []}'])
def test_other_files_are_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x").write_bytes(content)
    assert not is_verdict_file(tmp_path / "x")


@pytest.mark.parametrize("why", ["error", "not_judged", "skipped"])
def test_a_file_may_begin_with_an_answer_that_has_no_verdict(tmp_path: Path, why: str) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps({"key": "1", "id": "oslo", why: "it is said why"}) + "\n", "utf-8")
    assert is_verdict_file(path)
    assert read_verdicts(path, "x").broken == 1
