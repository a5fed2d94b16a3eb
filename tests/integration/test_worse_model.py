"""A whole model that answers worse than before."""

from __future__ import annotations

from tests.integration.mind import RIGHT, WRONG, Mind


def test_a_model_is_worse_by_the_first_answers_and_not_by_those_that_were_asked_for_again(mind: Mind) -> None:
    cases = [f"case_{number}" for number in range(16)]
    mind.cases(*cases)
    mind.says(dict.fromkeys(cases, RIGHT))
    mind.run("--fc-accept")
    mind.says(dict.fromkeys(cases[:10], WRONG) | dict.fromkeys(cases[10:], RIGHT))

    result = mind.run()

    assert sum(mind.asked().values()) > 16
    result.stdout.fnmatch_lines(["python:mind:answer is worse: 6 of 16 answers right, 100.0 % before (p < 0.001)"])
