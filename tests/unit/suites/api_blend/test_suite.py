from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fcall.core import Case
from pytest_fcall.core.extension import Measured
from pytest_fcall.suites.api_blend.suite import ApiBlendSuite
from tests.unit.suites.api_blend.data import REMIND, ROWS, alpaca, cases, said, write


def test_files_for_evaluation_are_the_questions_where_none_are_for_tests(tmp_path: Path) -> None:
    write(tmp_path / "ToolAlpaca" / "eval_real.json", alpaca('{"n": 1}'))
    write(tmp_path / "ToolAlpaca" / "train_data.json", {"Name": "Other", "Instances": []})
    (case,) = cases(tmp_path)
    assert case.location.path.endswith("eval_real.json")
    assert "Answer: " not in said(*cases(tmp_path, "toolalpaca_3shot"))


def test_demonstrations_are_questions_where_too_few_are_for_training(tmp_path: Path) -> None:
    write(tmp_path / "SeqSGD" / "sgd-processed-train.jsonl", {"input": "A", "output": "f(a = 1)"})
    write(
        tmp_path / "SeqSGD" / "sgd-processed-test.jsonl",
        {"input": "B", "output": "f(a = 2)"},
        {"input": "C", "output": "f(a = 3)"},
    )
    first, _ = cases(tmp_path, "seq_sgd_3shot")
    assert "examples:\nQuery: A\nAnswer: f(a = 1)\nQuery: C\nAnswer: f(a = 3)\nQuery: B\nAnswer:" in said(first)


def test_the_instruction_tells_functions_and_slots_in_an_order_that_gives_nothing_away(tmp_path: Path) -> None:
    write(tmp_path / "SeqTopV2.json", REMIND)
    (case,) = cases(tmp_path)
    functions, slots = "CREATE_REMINDER, SEND_MESSAGE", "CONTENT_EXACT, DATE_TIME, RECIPIENT"
    assert f"query.\nPossible APIs: {functions}\nPossible Slots: {slots}\n" in said(case)
    assert case.tools_in_messages


def test_demonstrations_are_of_training_where_that_is_there(tmp_path: Path) -> None:
    write(tmp_path / "SeqTopV2" / "reminder_test.json", REMIND)
    write(
        tmp_path / "SeqTopV2" / "reminder_train.json",
        *[{"input": f"Remind me {number}", "apis": ["GET_REMINDER()"]} for number in range(5)],
    )
    (case,) = cases(tmp_path, "seq_topv2_3shot")
    assert said(case).count("\nAnswer: GET_REMINDER()\n") == 3
    (case,) = cases(tmp_path, "seq_topv2")
    assert "GET_REMINDER" not in said(case)


def test_a_seed_draws_demonstrations_of_training_and_then_of_questions(tmp_path: Path) -> None:
    write(tmp_path / "SeqTopV2" / "x_test.json", REMIND, *[{"input": f"Q{n}", "apis": ["ASKED()"]} for n in range(3)])
    trained = [{"input": f"T{number}", "apis": ["GET_REMINDER()"]} for number in range(40)]
    write(tmp_path / "SeqTopV2" / "x_train.json", *trained)
    drawn = {seed: said(cases(tmp_path, f"seq_topv2_3shot{seed}")[0]) for seed in ("", "@7", "@8")}
    assert all(prompt.count("\nAnswer: GET_REMINDER()\n") == 3 for prompt in drawn.values())
    assert len({*drawn.values()}) == 3
    assert drawn["@7"] == said(cases(tmp_path, "seq_topv2_3shot@7")[0])
    (case, *_) = cases(tmp_path, "seq_topv2_3shot@7")
    assert case.id == "seq_topv2_3shot@7_1"
    assert ApiBlendSuite().scores(case)["seq_topv2_3shot@7"]
    write(tmp_path / "SeqTopV2" / "x_train.json", trained[0])
    few = said(cases(tmp_path, "seq_topv2_3shot@7")[0])
    assert (few.count("GET_REMINDER()\n"), few.count("ASKED()\n")) == (1, 2)


def test_a_question_is_no_demonstration_of_itself(tmp_path: Path) -> None:
    write(tmp_path / "seq_topv2.json", REMIND, {"input": "Other", "apis": ["GET_REMINDER()"]})
    first, second = cases(tmp_path, "seq_topv2_3shot")
    assert said(first).count(REMIND["input"].__str__()) == 1
    assert said(second).count("Query: Other") == 1


def test_files_of_specifications_and_other_sets_are_left_alone(tmp_path: Path) -> None:
    write(tmp_path / "data" / "processed" / "SeqTopV2" / "x" / "test.json", REMIND)
    write(tmp_path / "data" / "processed" / "SeqTopV2" / "api_spec.json", {"x": 1})
    write(tmp_path / "data" / "processed" / "Others.json", {"x": 1})
    assert [case.id for case in cases(tmp_path)] == ["seq_topv2_1"]


@pytest.mark.parametrize(
    ("part", "folder", "why"),
    [
        ("", None, "no data for suite api_blend"),
        ("x", ".", "no data set 'x' in API-BLEND; available: seq_atis"),
        ("seq_sgd", ".", "no data set seq_sgd in .*IBM/API-BLEND"),
        ("", "none", "no data set of API-BLEND in"),
    ],
)
def test_what_is_not_there_is_said(tmp_path: Path, part: str, folder: str | None, why: str) -> None:
    write(tmp_path / "seq_topv2.json", REMIND)
    with pytest.raises(ValueError, match=why):
        list(ApiBlendSuite().cases(part, None if folder is None else tmp_path / folder))


def test_what_there_is_is_told_with_and_without_data(tmp_path: Path) -> None:
    write(tmp_path / "seq_topv2.json", REMIND)
    about = ApiBlendSuite().about(tmp_path)
    assert {part.name: part.cases for part in about.parts if part.cases} == {"seq_topv2": 1}
    assert ApiBlendSuite().about(None).place is None


def test_a_plain_case_offers_functions_as_tools(tmp_path: Path) -> None:
    write(tmp_path / "seq_topv2.json", REMIND)
    (case,) = ApiBlendSuite().plain("", tmp_path)
    assert isinstance(case, Case)
    assert (said(case), case.tools_in_messages, case.decoder) == (REMIND["input"], False, None)


def test_scores_leave_arguments_out_where_a_set_says_nothing_of_them(tmp_path: Path) -> None:
    for name in ("toolllm_g1", "seq_topv2"):
        write(tmp_path / f"{name}.json", ROWS[name][0])
    asked = [scores for case in cases(tmp_path) for scores in ApiBlendSuite().scores(case).items()]
    assert asked == [("seq_topv2", ("api_f1", "parameter_f1", "lcs_f1")), ("toolllm_g1", ("api_f1", "lcs_f1"))]


def test_averages_are_weighted_by_the_sizes_of_the_sets_in_and_out_of_domain() -> None:
    measured = [
        Measured("seq_atis", "api_f1", 30, 1.0),
        Measured("toolllm_g1_3shot", "api_f1", 10, 0.5),
        Measured("seq_atis", "parameter_f1", 30, 0.4),
        Measured("mine", "api_f1", 1_000, 0.0),
        Measured("seq_snips", "lcs_f1", 0, None),
    ]
    assert [(figure.name, figure.share) for figure in ApiBlendSuite().averages(measured)] == [
        ("weighted_api_f1", 0.875),
        ("in_domain_api_f1", 1.0),
        ("out_of_domain_api_f1", 0.5),
        ("weighted_parameter_f1", pytest.approx(0.4)),
        ("in_domain_parameter_f1", pytest.approx(0.4)),
        ("out_of_domain_parameter_f1", None),
        ("weighted_lcs_f1", None),
        ("in_domain_lcs_f1", None),
        ("out_of_domain_lcs_f1", None),
    ]
