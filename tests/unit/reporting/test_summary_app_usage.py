from __future__ import annotations

from pytest_fcall.core import Usage
from pytest_fcall.reporting.result_json import result_from_json, result_to_json
from pytest_fcall.reporting.results import AppUsage, Result
from pytest_fcall.reporting.statistics import statistics_of
from pytest_fcall.reporting.summary import app_usage_lines

NEW = AppUsage("openai:small", 2, usage=Usage(900, 100), cost=0.002)
OLD = NEW._replace(requests=1, replayed=True, usage=Usage(400, 100), cost=0.001)
BIG = AppUsage("openai:big", 1)
PLAIN = Result("a.fc.yaml::a", "a", "python:app:answer", "passed")
ONE = PLAIN._replace(inside=(NEW, OLD, BIG))


def test_each_model_that_an_app_asked_has_a_line() -> None:
    assert app_usage_lines([PLAIN]) == []
    assert app_usage_lines([ONE, PLAIN, ONE]) == [
        "python:app:answer sent 6 requests to openai:small, 3,000 tokens, $0.0060, 2 replayed",
        "python:app:answer sent 2 requests to openai:big",
    ]


def test_what_is_not_known_and_what_is_replayed_is_said() -> None:
    assert app_usage_lines([PLAIN._replace(inside=(OLD,))]) == [
        "python:app:answer sent 1 request to openai:small, 500 tokens, $0.0010, replayed"
    ]
    assert app_usage_lines([PLAIN._replace(inside=(NEW, NEW._replace(usage=None, cost=None)))]) == [
        "python:app:answer sent 4 requests to openai:small, 1,000 tokens, $0.0020+"
    ]


def test_a_run_has_spent_what_its_apps_asked_anew() -> None:
    answers = [PLAIN._replace(cost=0.003, inside=(NEW, OLD)), PLAIN._replace(cost=0.001, inside=(OLD,), replayed=True)]
    assert statistics_of(answers).new_cost == 0.002
    assert statistics_of(answers).cost == 0.004


def test_what_was_asked_inside_travels() -> None:
    assert result_from_json(result_to_json(ONE)) == ONE
