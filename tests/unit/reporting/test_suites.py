from __future__ import annotations

from pytest_fcall.core.extension import Figure
from pytest_fcall.reporting.suites import suite_lines


def test_scores_stand_in_a_column_for_each_model() -> None:
    scores = {
        "openai:a": [Figure("live", 0.5), Figure("overall", 0.12345)],
        "openai:b\x1b[31m": [Figure("live", None), Figure("overall", 1.0)],
    }
    assert suite_lines("bfcl", scores) == [
        "bfcl     openai:a  openai:b[31m".replace("b[31m", "b\\x1b[31m"),
        "live      50.00 %                 -",
        "overall   12.35 %          100.00 %",
    ]


def test_a_suite_without_scores_has_no_table() -> None:
    assert suite_lines("quiz", {"openai:a": []}) == []
