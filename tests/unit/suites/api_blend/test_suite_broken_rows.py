from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_fcall.core import Case, FaultyCase, Json
from pytest_fcall.suites.api_blend.suite import ApiBlendSuite
from tests.unit.suites.api_blend.data import REMIND, write


def test_a_case_stands_where_its_row_begins(tmp_path: Path) -> None:
    path = tmp_path / "seq_topv2.json"
    path.write_text(json.dumps([REMIND, {"input": "x"}, REMIND], indent=4))
    found = list(ApiBlendSuite().cases("", tmp_path))
    assert [path.read_text().splitlines()[case.location.line - 1] for case in found] == ["    {"] * 3
    assert [case.location.line for case in found] == [2, 9, 12]


@pytest.mark.parametrize(
    ("name", "row", "why"),
    [
        ("seq_atis", {"text": "x"}, "`APIs` must be a list"),
        ("seq_atis", {"text": "x", "APIs": [{"API": "f"}]}, "each item of `APIs` needs"),
        ("seq_topv2", {"input": "x", "apis": ["no call"]}, "invalid right calls"),
        ("seq_topv2", {"input": "", "apis": ["F()"]}, "`input` must be a non-empty string"),
        ("seq_topv2", {"input": "x", "apis": [3]}, "`apis` must be a list of non-empty strings"),
        ("seq_sgd", {"input": "x", "output": "f(a = 1"}, "invalid right calls"),
        ("toolllm_g2", {"query": "x"}, "`relevant APIs` must be a list of pairs"),
        ("toolllm_g2", {"query": "x", "relevant APIs": ["a"]}, "must hold pairs only"),
        ("toolllm_g2", {"query": "x", "relevant APIs": [["a", None]]}, "names of tools and functions must be strings"),
        ("api_bank_1", {"input": "x", "output": "Hello."}, "the output must be `API-Request"),
        ("toolalpaca", {"Instructions": ["x"], "Golden_Answers": []}, "as many `Instructions` as"),
        (
            "toolalpaca",
            {"Instructions": ["x"], "Golden_Answers": [[{"Action": "f", "Action_Input": "{"}]]},
            "the `Action_Input` of f is not JSON",
        ),
        ("toolbench_booking", {"prompt": "x", "completion": ["no call"]}, "invalid right calls"),
        ("seq_snips", 3, "expected a JSON object"),
    ],
)
def test_a_broken_row_is_a_case_with_a_fault(tmp_path: Path, name: str, row: Json, why: str) -> None:
    write(tmp_path / f"{name}.json", row)
    (case,) = ApiBlendSuite().cases("", tmp_path)
    assert isinstance(case, FaultyCase)
    assert why in case.faults[0].message


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"{", "not JSON: "),
        (b'{"input": "\xff"}', "not UTF-8: invalid start byte at byte 12"),
        (b'{"input": ' + b"[" * 2_000 + b"]" * 2_000 + b"}", "more than 100 levels deep"),
        (b'{"input": ' + b"9" * 5_000 + b"}", "not JSON: "),
        (b'{"input": NaN}', "not JSON: "),
        (b'{"input": "' + b"x" * 10_000_000, "not JSON: "),
        (b'{"input": "x", "output": "' + b"f(a = " * 1_000_000 + b'"}', "invalid right calls"),
        (b"null", "expected a JSON object"),
        (b"[]", "expected a JSON object"),
    ],
)
def test_a_line_that_is_no_row_is_a_fault_and_its_neighbours_are_read(tmp_path: Path, line: bytes, why: str) -> None:
    (tmp_path / "seq_sgd.jsonl").write_bytes(b'{"input": "x", "output": "f(a = 1)"}\n\n' + line + b"\n")
    first, second = ApiBlendSuite().cases("", tmp_path)
    assert isinstance(first, Case)
    assert isinstance(second, FaultyCase)
    (fault,) = second.faults
    assert why in fault.message
    assert len(fault.message) < 300
    assert (fault.location.path, fault.location.line) == (str(tmp_path / "seq_sgd.jsonl"), 3)
