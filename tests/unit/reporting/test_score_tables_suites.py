from __future__ import annotations

from pytest_fcall.core.extension import Figure
from pytest_fcall.reporting.score_tables import short_suite_score_lines, suite_score_lines


def test_scores_stand_in_a_column_for_each_model() -> None:
    scores = {
        "openai:a": [Figure("live", 0.5), Figure("overall", 0.12345)],
        "openai:b\x1b[31m": [Figure("live", None), Figure("overall", 1.0)],
    }
    assert suite_score_lines("bfcl", scores) == [
        "bfcl     openai:a  openai:b[31m".replace("b[31m", "b\\x1b[31m"),
        "live      50.00 %                 -",
        "overall   12.35 %          100.00 %",
    ]


def test_a_suite_without_scores_has_no_table() -> None:
    assert suite_score_lines("quiz", {"openai:a": []}) == []


def test_what_a_score_is_about_stands_in_brackets_and_a_note_behind_it() -> None:
    figures = [Figure("success", 1.0, of="booking"), Figure("overall", 0.3, note="not asked: wrong")]
    assert suite_score_lines("quiz", {"a": figures}) == [
        "quiz                               a",
        "success[booking]            100.00 %",
        "overall (not asked: wrong)   30.00 %",
    ]
    assert short_suite_score_lines("quiz", {"a": figures}) == [
        "quiz: overall (not asked: wrong) 30.00 %, success[booking] 100.00 %",
    ]
