from __future__ import annotations

from pytest_fcall.core import Usage
from pytest_fcall.reporting.results import JudgeUsage, Result, Results
from pytest_fcall.reporting.summary import judge_usage_lines, summary_lines

PLAIN = Result("a::plain", "plain", "m", "passed")
ONE = PLAIN._replace(judging=JudgeUsage("openai:judge", 1, Usage(100, 20), 0.002))
MORE = PLAIN._replace(judging=JudgeUsage("openai:judge", 11, Usage(1_000, 80), 0.01))


def test_where_nobody_judged_nothing_is_said() -> None:
    assert judge_usage_lines([PLAIN]) == []


def test_questions_tokens_and_cost_are_added_up() -> None:
    assert judge_usage_lines([ONE, PLAIN, MORE]) == [
        "judge openai:judge: 12 questions about 2 cases, 1,200 tokens, $0.0120"
    ]
    assert judge_usage_lines([ONE]) == ["judge openai:judge: 1 question about 1 case, 120 tokens, $0.0020"]


def test_what_nobody_knows_is_left_out() -> None:
    assert judge_usage_lines([PLAIN._replace(judging=JudgeUsage("python:fair:judge", 2))]) == [
        "judge python:fair:judge: 2 questions about 1 case"
    ]
    unpriced = PLAIN._replace(judging=JudgeUsage("openai:judge", 1, Usage(10, 5)))
    assert judge_usage_lines([ONE, unpriced]) == ["judge openai:judge: 2 questions about 2 cases, 135 tokens, $0.0020+"]


def test_each_judge_has_a_line_of_its_own() -> None:
    other = PLAIN._replace(judging=JudgeUsage("openai:other\x1b", 1))
    assert [line.partition(": ")[0] for line in judge_usage_lines([ONE, other])] == [
        "judge openai:judge",
        "judge openai:other\\x1b",
    ]


def test_the_cost_of_judging_is_no_part_of_the_cost_of_the_cases() -> None:
    *_, judges, last = summary_lines(Results((ONE._replace(cost=0.5), MORE._replace(cost=0.5))))
    assert judges.endswith("$0.0120")
    assert "$1.00" in last


def test_questions_that_recordings_answered_are_counted() -> None:
    half = PLAIN._replace(judging=JudgeUsage("openai:judge", 11, replayed=4))
    assert judge_usage_lines([half]) == ["judge openai:judge: 11 questions about 1 case, 4 replayed"]
    whole = PLAIN._replace(judging=JudgeUsage("openai:judge", 11, replayed=11))
    assert judge_usage_lines([whole]) == ["judge openai:judge: 11 questions about 1 case, replayed"]
