"""Advice on cases whose wrong answers may be chance."""

from __future__ import annotations

from pytest_fcall.core import Outcome
from pytest_fcall.reporting.results import Result, Results
from pytest_fcall.reporting.summary import summary_lines


def test_the_summary_says_how_an_undecided_case_is_decided() -> None:
    result = Result("a", "a", "openai:exam", "failed", outcome=Outcome.UNDECIDED)
    lines = summary_lines(Results((result,)))
    assert lines[-2] == (
        "1 case undecided: the next run adds its answers to these; --fc-record=all asks for new ones where replies are "
        "kept"
    )
