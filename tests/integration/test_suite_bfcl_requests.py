"""What a server gets of a suite's cases."""

from __future__ import annotations

from typing import Any

import pytest

from tests.bfcl_data import write_leaderboard
from tests.integration.exam import Exam

ONE = ("--fc-suite=bfcl:simple_python", "--fc-suite-path=data", "--fc-pick=1")


@pytest.fixture
def leaderboard(exam: Exam) -> Exam:
    write_leaderboard(exam.path / "data")
    return exam


def sent(exam: Exam, name: str = "exam", *args: str, **query: object) -> Any:
    """The body of the request of one case."""
    exam.shop.run(f"--fc-model={exam.named(name, **query)}", *ONE, *args)
    (asked,) = exam.server.asked
    return asked.json


def test_a_case_is_asked_at_the_temperature_of_the_leaderboard(leaderboard: Exam) -> None:
    assert sent(leaderboard)["temperature"] == 0.001


def test_the_temperature_of_the_model_counts_more(leaderboard: Exam) -> None:
    assert sent(leaderboard, temperature=0.7)["temperature"] == 0.7


def test_the_temperature_of_a_case_file_counts_more(leaderboard: Exam) -> None:
    leaderboard.shop.cases(
        "suite: bfcl:simple_python\npath: ../data\npick: 1\ndefaults: {settings: {temperature: 1}}\n"
    )
    leaderboard.shop.run(leaderboard.model, "cases")
    assert leaderboard.server.asked[0].json["temperature"] == 1


def test_a_model_that_takes_no_temperature_is_asked_without_one(leaderboard: Exam) -> None:
    assert "temperature" not in sent(leaderboard, "gpt-5.2")


def test_the_words_of_another_handler_can_be_asked_for(leaderboard: Exam) -> None:
    function = sent(leaderboard, handler="local")["tools"][0]["function"]
    assert function["parameters"]["type"] == "dict"


def test_an_unknown_handler_is_refused(leaderboard: Exam) -> None:
    result = leaderboard.shop.run(f"--fc-model={leaderboard.named('exam', handler='claude')}", *ONE)
    result.stderr.fnmatch_lines(["*`handler` must be one of openai, responses, anthropic, *"])
    assert not leaderboard.server.asked
