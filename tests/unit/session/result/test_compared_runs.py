from __future__ import annotations

from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.run_comparison import conclusion_text
from pytest_fcall.session.result.compared_runs import compare_models


def answers(model: str, right: int, of: int = 40) -> list[Result]:
    return [
        Result(f"a.fc.yaml::{n}[{model}]", str(n), model, "passed" if n < right else "failed", file="a.fc.yaml")
        for n in range(of)
    ]


def test_each_model_is_compared_with_each_other_one() -> None:
    found = compare_models([*answers("a", 40), *answers("b", 20), *answers("c", 39)], 8)
    assert [(pair.before, pair.now, pair.group.lost, pair.group.won) for pair in found] == [
        ("a", "b", 20, 0),
        ("a", "c", 1, 0),
        ("b", "c", 0, 19),
    ]
    assert [conclusion_text(pair.group) for pair in found] == [
        "Worse, and hardly by chance.",
        "Chance may explain the difference.",
        "Better, and hardly by chance.",
    ]


def test_models_that_agree_are_said_to_agree() -> None:
    (pair,) = compare_models([*answers("a", 30), *answers("b", 30)], 8)
    assert conclusion_text(pair.group) == "No case has another verdict."


def test_models_without_a_common_case_are_no_pair() -> None:
    others = [Result("b::1", "1", "b", "passed", file="b.fc.yaml")]
    assert compare_models([*answers("a", 3, 3), *others], 8) == []


def test_of_many_models_the_first_are_compared() -> None:
    results = [result for model in "abcdef" for result in answers(model, 1, 2)]
    assert len(compare_models(results, 4)) == 6
