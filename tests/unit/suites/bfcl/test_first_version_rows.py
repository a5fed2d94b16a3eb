"""The leaderboard's files of 2024, in each of the layouts that they had."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from pytest_fcall.core import Case, FaultyCase, Json
from pytest_fcall.suites.bfcl.case_index import CaseIndex
from pytest_fcall.suites.bfcl.executable import ExecutedJudge
from pytest_fcall.suites.bfcl.suite import BfclSuite
from tests.bfcl_data import PACK, SAIL, write_category, write_rows

Rows = Sequence[dict[str, Json]]


def write(folder: Path, name: str, questions: Rows, truths: Rows = ()) -> Path:
    write_rows(folder / f"gorilla_openfunctions_v1_test_{name}.json", questions)
    if truths:
        write_rows(folder / "possible_answer" / f"gorilla_openfunctions_v1_test_{name}.json", truths)
    return folder


def truths_of(part: str, folder: Path) -> dict[str, Json]:
    book = CaseIndex(folder)
    found = [case for case in BfclSuite().cases(part, folder) if isinstance(case, Case)]
    return {case.id: [*book.case({"category": part, "id": case.id}).official_case.truth] for case in found}


@pytest.mark.parametrize(
    "truth",
    [
        {"id": "simple_0", "ground_truth": {"sail": {"port": ["Oslo"]}}},
        {"id": "simple_0", "sail": {"port": ["Oslo"]}},
        {"index": "simple_0", "sail": {"port": ["Oslo"]}},
        {"sail": {"port": ["Oslo"]}},
    ],
)
def test_a_truth_has_a_key_of_its_own_or_none(tmp_path: Path, truth: dict[str, Json]) -> None:
    write(tmp_path, "simple", [{"question": "Sail to Oslo.", "function": SAIL}], [truth])
    (case,) = BfclSuite().cases("simple_python", tmp_path)
    assert isinstance(case, Case)
    assert case.turns[0].messages == ({"role": "user", "content": "Sail to Oslo."},)
    assert [tool.name for tool in case.tools] == ["sail"]
    assert truths_of("simple_python", tmp_path) == {"simple_python_0": [{"sail": {"port": ["Oslo"]}}]}


def test_numbers_tell_calls_of_one_function_apart(tmp_path: Path) -> None:
    asked: dict[str, Json] = {"id": "parallel_multiple_function_0", "question": "Both.", "function": [PACK, SAIL]}
    told: dict[str, Json] = {"sail_1": {"port": ["A"]}, "sail 2": {"port": ["B"]}, "my_trip.pack_x": {"items": [["C"]]}}
    write(tmp_path, "parallel_multiple_function", [asked], [{"id": asked["id"], "ground_truth": told}])
    assert truths_of("parallel_multiple", tmp_path) == {
        "parallel_multiple_0": [{"sail": {"port": ["A"]}}, {"sail": {"port": ["B"]}}, {"trip.pack": {"items": [["C"]]}}]
    }


def test_the_only_function_is_meant_whatever_the_truth_calls_it(tmp_path: Path) -> None:
    write(tmp_path, "parallel_function", [{"question": "Sail.", "function": SAIL}], [{"go_1": {"port": ["A"]}}])
    assert truths_of("parallel", tmp_path) == {"parallel_0": [{"sail": {"port": ["A"]}}]}


def test_calls_to_be_carried_out_stand_beside_the_question(tmp_path: Path) -> None:
    row: dict[str, Json] = {"question": "?", "function": {**SAIL, "name": "math_gcd"}}
    told: dict[str, Json] = {"ground_truth": ["math_gcd(a=4, b=6)"], "execution_result_type": ["exact_match"]}
    write(tmp_path, "executable_simple", [{**row, **told}, row])
    case, without = BfclSuite().cases("exec_simple", tmp_path)
    assert isinstance(case, Case)
    assert isinstance(case.judge, ExecutedJudge)
    assert isinstance(without, FaultyCase)
    assert "no ground truth" in without.faults[0].message


def test_what_has_no_truth_needs_none(tmp_path: Path) -> None:
    for name in ("relevance", "rest", "chatable"):
        write(tmp_path, name, [{"question": "Hello?", "function": [SAIL] if name != "chatable" else ""}])
    found = [case for part in ("irrelevance", "rest", "chatable") for case in BfclSuite().cases(part, tmp_path)]
    assert [case.id for case in found if isinstance(case, Case)] == ["irrelevance_0", "rest_0", "chatable_0"]


def test_a_broken_line_hides_no_other(tmp_path: Path) -> None:
    rows: Rows = [{"question": "Sail.", "function": SAIL}] * 2
    write(tmp_path, "simple", rows, [{"sail": {"port": ["A"]}}])
    answers = tmp_path / "possible_answer" / "gorilla_openfunctions_v1_test_simple.json"
    answers.write_text("{\n" + answers.read_text())
    broken, sound = BfclSuite().cases("simple_python", tmp_path)
    assert isinstance(broken, FaultyCase)
    assert "invalid ground truth: not JSON" in broken.faults[0].message
    assert isinstance(sound, Case)


def test_files_of_today_go_before_those_of_2024(tmp_path: Path) -> None:
    write(tmp_path, "relevance", [{"question": "Old?", "function": SAIL}])
    write_category(tmp_path, "irrelevance", [{"id": "irrelevance_0", "question": [[]], "function": [SAIL]}] * 2)
    parts = {part.name: part.cases for part in BfclSuite().about(tmp_path).parts}
    assert parts["irrelevance"] == 2
    (tmp_path / "BFCL_v4_irrelevance.json").unlink()
    parts = {part.name: part.cases for part in BfclSuite().about(tmp_path).parts}
    assert (parts["irrelevance"], parts["simple_python"]) == (1, None)


def test_files_of_the_time_between_are_said_not_to_be_read(tmp_path: Path) -> None:
    (tmp_path / "BFCL_v3_simple.json").touch()
    with pytest.raises(ValueError, match=r"another version, such as BFCL_v3_simple\.json; .*BFCL_v4_"):
        list(BfclSuite().cases("simple_python", tmp_path))
