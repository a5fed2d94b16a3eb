from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fcall.core import Json
from pytest_fcall.suites.bfcl.answers import as_answer_row
from pytest_fcall.suites.bfcl.case_index import CaseIndex, conversation_score_row, is_conversation, result_form
from pytest_fcall.suites.bfcl.multi_turn.conversations import CheckerProcess, MultiTurnJudge, parse_truth
from pytest_fcall.suites.json_files import BrokenRow
from tests.unit.suites.bfcl.multi_turn.package import case_row, write_package

NATIVE: Json = [[[{"book": '{"seat": "4A"}'}], "Booked."], [[{"look": "{}"}]]]
PROMPTED: Json = [["[book(seat='4A')]", "Booked."], ["[look()]"]]
SOURCE: Json = [[["book(seat='4A')"]], [["look()"]]]


def scored(result: Json, bench: CheckerProcess, **fields: Json) -> dict[str, Json]:
    row = case_row()
    answer = as_answer_row({"id": row["id"], "result": result, **fields})
    assert is_conversation(answer)
    return conversation_score_row(answer, MultiTurnJudge(row, parse_truth(row), bench))


@pytest.mark.parametrize("result", [NATIVE, PROMPTED, SOURCE])
def test_a_row_of_results_is_read_by_what_it_holds(result: Json, bench: CheckerProcess) -> None:
    assert scored(result, bench) == {
        "category": "multi_turn_base",
        "id": "multi_turn_base_0",
        "valid": True,
        "error_type": None,
        "strict_valid": True,
        "strict_reasons": [],
    }


def test_what_the_row_says_of_its_style_counts(bench: CheckerProcess) -> None:
    assert scored(PROMPTED, bench, style="prompt")["valid"]
    assert scored(PROMPTED, bench, style="FC")["error_type"] == "multi_turn:empty_turn_model_response"


@pytest.mark.parametrize(
    ("result", "error_type"),
    [
        ("Error during inference: 500", "inference_error"),
        (None, "inference_error"),
        ({}, "inference_error"),
        ([], "force_terminated"),
        ([3, None], "empty_turn_model_response"),
        ([[None, 3, {"look": {}}], [[]]], "instance_state_mismatch"),
    ],
)
def test_results_of_any_form_have_a_verdict(result: Json, error_type: str, bench: CheckerProcess) -> None:
    assert scored(result, bench)["error_type"] == f"multi_turn:{error_type}"


def test_a_row_without_an_answer_is_broken(bench: CheckerProcess) -> None:
    row = case_row()
    with pytest.raises(BrokenRow, match="missing `raw`"):
        conversation_score_row({"category": "multi_turn_base"}, MultiTurnJudge(row, parse_truth(row), bench))


@pytest.mark.parametrize(
    ("result", "form"), [(NATIVE, "fc"), (PROMPTED, "prompt"), (SOURCE, "decoded"), ([], "prompt")]
)
def test_the_form_of_an_answer_shows(result: list[Json], form: str) -> None:
    assert result_form(result) == form


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"id": "simple_python_1", "result": "x"}, {"category": "simple_python", "style": "prompt", "raw": "x"}),
        (
            {"id": "live_simple_1-2-3", "result": [{"a_b": "{}"}]},
            {"category": "live_simple", "style": "FC", "raw": [{"a_b": "{}"}], "underscore_to_dot": True},
        ),
        ({"id": "multi_turn_base_1", "result": [["x"]]}, {"category": "multi_turn_base", "raw": [["x"]]}),
    ],
)
def test_rows_of_the_harness_say_their_category_by_their_id(row: dict[str, Json], told: dict[str, Json]) -> None:
    assert as_answer_row(row) == {**row, **told}


def test_rows_of_answers_are_left_alone() -> None:
    row: dict[str, Json] = {"id": "x_1", "category": "x", "raw": "", "result": ""}
    assert as_answer_row(row) is row


def test_cases_are_found_in_the_folder_of_the_data(tmp_path: Path) -> None:
    cases = CaseIndex(write_package(tmp_path, {"multi_turn_base": [case_row()]}))
    named: dict[str, Json] = {"category": "multi_turn_base", "id": "multi_turn_base_0"}
    judge = cases.conversation_judge(named)
    assert isinstance(judge, MultiTurnJudge)
    assert judge.truth.calls == [["book(seat='4A')"], ["look()"]]
    assert cases.conversation_judge(named) is cases.conversation_judge(named)
    with pytest.raises(BrokenRow, match="no case 'other' in category 'multi_turn_base'"):
        cases.conversation_judge({**named, "id": "other"})
    with pytest.raises(BrokenRow, match="no category 'other'"):
        cases.conversation_judge({**named, "category": "other"})
    with pytest.raises(BrokenRow, match=r"cannot read .*BFCL_v4_simple_python\.json"):
        cases.case({"category": "simple_python", "id": "simple_python_0"})


def test_a_folder_without_data_is_told(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no data for suite bfcl in"):
        CaseIndex(tmp_path)
