from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.reporting.number_text import score_text
from pytest_fcall.reporting.result_json import result_from_json, result_to_json
from pytest_fcall.reporting.results import CaseScore, Result, scores_from_json
from pytest_fcall.reporting.score_tables import ScoreChange, ScoreRow, score_change_lines, score_lines

NUMBERS = st.lists(st.integers(0, 9) | st.floats(0, 9), max_size=3).map(tuple)
SCORED = st.builds(CaseScore, st.text(), st.text(), NUMBERS, st.just(()))


@given(st.lists(SCORED, max_size=3).map(tuple))
def test_what_a_result_adds_comes_back_as_it_went(scores: tuple[CaseScore, ...]) -> None:
    result = Result("a::b", "b", "m", "passed", scores=scores)
    assert result_from_json(result_to_json(result)) == result
    assert result_from_json(json.loads(json.dumps(result_to_json(result)))) == result


def test_the_numbers_of_several_answers_come_back_with_their_score() -> None:
    several = CaseScore("*", "lcs", (0.5, 1.0), ((1.0, 1.0), (0.0, 1.0)))
    result = Result("a::b", "b", "m", "passed", scores=(CaseScore("smoke", "lcs", (1.0, 1.0)), several))
    assert result_from_json(json.loads(json.dumps(result_to_json(result)))) == result
    older = {name: value for name, value in result_to_json(result).items() if name != "score_answers"}
    assert [each.answers for each in result_from_json(older).scores] == [(), ()]


@pytest.mark.parametrize(
    "answers", [[["*", "lcs"]], [["*", "lcs", [1]]], [["*", 1, [[1]]]], [["*", "lcs", [["1"]]]], "x"]
)
def test_what_is_no_list_of_answers_is_refused_by_name(answers: object) -> None:
    with pytest.raises(ValueError, match=r"^score(s|_answers): expected "):
        scores_from_json([["*", "lcs", [1]]], answers)  # type: ignore[arg-type]  # a file may hold anything


@pytest.mark.parametrize(
    "data",
    [
        "lcs",
        None,
        {"lcs": [1, 1]},
        ["lcs"],
        [["*", "lcs"]],
        [["*", 5, [1]]],
        [["*", "lcs", 1]],
        [["*", "lcs", [True]]],
        [["*", "lcs", ["1"]]],
        [["*", "lcs", [-1]]],
        [["*", "lcs", [float("nan")]]],
        [["*", "lcs", [float("inf")]]],
        [["*", "lcs", [10**400]]],
    ],
)
def test_what_is_no_score_is_refused_by_name(data: object) -> None:
    with pytest.raises(ValueError, match=r"^scores: expected "):
        scores_from_json(data)  # type: ignore[arg-type]  # a file may hold anything


def test_scores_are_told_by_model_and_tag() -> None:
    rows = [
        ScoreRow("a", "blend", "api_f1", 1200, 2 / 3),
        ScoreRow("a", "blend", "lcs_f1", 1200, 1.0, 3),
        ScoreRow("a", "x\x1b[31m", "lcs_f1", 1, None),
        ScoreRow("b", "blend", "api_f1", 7, 0.0),
    ]
    assert score_lines(rows, 100) == [
        "model  tag        score       n   value  no reply",
        "a      blend      api_f1  1,200  0.6667",
        "                  lcs_f1  1,200  1.0000         3",
        r"       x\x1b[31m  lcs_f1      1       -",
        "b      blend      api_f1      7  0.0000",
    ]


def test_where_a_table_of_scores_does_not_fit_each_model_has_a_line_and_no_name_is_cut() -> None:
    long = "format_sensitivity/verbose_xml_tagged/python"
    rows = [ScoreRow("openai:gpt-5.2", long, "lcs_f1", 7, 0.5), ScoreRow("b", long, "lcs_f1", 7, 0.25)]
    assert score_lines(rows, 72) == [
        f"{'tag':44}  score   n   value",
        "openai:gpt-5.2:",
        f"{long}  lcs_f1  7  0.5000",
        "b:",
        f"{long}  lcs_f1  7  0.2500",
    ]


def test_a_score_for_which_nothing_was_judged_counts_no_cases() -> None:
    (_, row) = score_lines([ScoreRow("m", "t", "f1", 0, None, no_reply=3)])
    assert row.split() == ["m", "t", "f1", "-", "-", "3"]


def test_without_scores_there_is_no_table() -> None:
    assert score_lines([]) == score_change_lines([]) == []


def test_changes_of_scores_have_a_sign() -> None:
    lines = score_change_lines(
        [ScoreChange("m", "*", "lcs", 9, 0.5, 0.25), ScoreChange("m", "*", "api_f1", 9, 0.5, 0.5)]
    )
    assert [line.split() for line in lines] == [
        ["model", "tag", "score", "n", "before", "now", "change"],
        ["m", "*", "lcs", "9", "0.5000", "0.2500", "-0.2500"],
        ["api_f1", "9", "0.5000", "0.5000", "0"],
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "-"), (0, "0.0000"), (1, "1.0000"), (0.99999, "0.9999"), (0.00001, "0.0001"), (2 / 3, "0.6667")],
)
def test_a_score_is_never_rounded_to_nothing_or_all(value: float | None, text: str) -> None:
    assert score_text(value) == text
