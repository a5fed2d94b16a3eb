"""Calls against an expectation: pure functions, the same answer for the same question."""

from pytest_fcall.matching.following import Exam, Following
from pytest_fcall.matching.inside import judge_inside
from pytest_fcall.matching.judge import judge
from pytest_fcall.matching.results import judge_result, judge_results
from pytest_fcall.matching.state import judge_state, state_difference
from pytest_fcall.matching.transcript import judge_transcript
from pytest_fcall.matching.turn import judge_turn

__all__ = [
    "Exam",
    "Following",
    "judge",
    "judge_inside",
    "judge_result",
    "judge_results",
    "judge_state",
    "judge_transcript",
    "judge_turn",
    "state_difference",
]
