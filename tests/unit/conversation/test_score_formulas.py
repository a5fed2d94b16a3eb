from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.conversation.score_formulas import (
    ComparedCalls,
    ExpectedPath,
    GradedParts,
    Score,
    closest_path,
    grade_answer,
    grade_functions,
    grade_parameters,
    lcs_score,
    state_f1,
)
from pytest_fcall.core import Call, Json
from tests.corpus_scores import Average, accuracy, api_f1, lcs_f1, parameter_f1


def f(**arguments: Json) -> Call:
    return Call("f", arguments)


def g(**arguments: Json) -> Call:
    return Call("g", arguments)


def h(**arguments: Json) -> Call:
    return Call("h", arguments)


BOTH = [f(n=1), g(m=2)]
CORRECT, PARTIAL, INCORRECT = "Correct", "Partially Correct", "Incorrect"


@pytest.mark.parametrize(
    ("made", "paths", "functions", "parameters"),
    [
        ([f(n=5.001)], [[f(n=5)]], (CORRECT, 1, 1), (CORRECT, 1, 1)),
        ([f(n=5.01)], [[f(n=5)]], (CORRECT, 1, 1), (INCORRECT, 0, 1)),
        ([f(n="5")], [[f(n=5)]], (CORRECT, 1, 1), (INCORRECT, 0, 1)),
        ([f(n=True)], [[f(n=1)]], (CORRECT, 1, 1), (CORRECT, 1, 1)),
        ([f(g=["b", "a"])], [[f(g=["a", "b"])]], (CORRECT, 1, 1), (CORRECT, 1, 1)),
        ([f(g=["a"])], [[f(g=["a", "b"])]], (CORRECT, 1, 1), (INCORRECT, 0, 1)),
        ([f(g=[1, "a"])], [[f(g=["a", 1])]], (CORRECT, 1, 1), (INCORRECT, 0, 1)),
        ([f(n=5, m=1)], [[f(n=5)]], (CORRECT, 1, 1), (CORRECT, 1, 1)),
        ([f(n=5)], [[f(n=5, m=1)]], (CORRECT, 1, 1), (PARTIAL, 1, 2)),
        ([f()], [[f()]], (CORRECT, 1, 1), (INCORRECT, 0, 0)),
        ([f(n=1)], [BOTH], (PARTIAL, 1, 2), (PARTIAL, 1, 2)),
        ([g(m=2)], [BOTH], (PARTIAL, 1, 2), (INCORRECT, 0, 0)),
        ([g(m=2), f(n=1)], [BOTH], (PARTIAL, 1, 2), (INCORRECT, 0, 0)),
        ([g(m=2), f(n=1)], [[f(n=1)]], (PARTIAL, 1, 1), (CORRECT, 1, 1)),
        ([f(n=1), g(m=2)], [[f(n=1)]], (PARTIAL, 1, 1), (CORRECT, 1, 1)),
        ([f(n=1), h(z=0), g(m=2)], [BOTH], (PARTIAL, 1, 2), (INCORRECT, 0, 2)),
        ([h(z=1)], [[f(n=1)], [h(z=1)]], (CORRECT, 1, 1), (CORRECT, 1, 1)),
        ([f(n=2)], [[f(n=1)], [f(n=2)]], (CORRECT, 1, 1), (INCORRECT, 0, 1)),
        ([], [[f(n=1)]], (INCORRECT, 0, 1), (INCORRECT, 0, 1)),
        ([h()], [[f(n=1)]], (INCORRECT, 0, 1), (INCORRECT, 0, 0)),
    ],
)
def test_calls_are_graded_as_in_mannheim(
    made: list[Call], paths: list[ExpectedPath], functions: tuple[str, int, int], parameters: tuple[str, int, int]
) -> None:
    path = closest_path(made, paths)
    assert grade_functions(made, path) == GradedParts(*functions)  # type: ignore[arg-type]  # a grade, in the table above
    assert grade_parameters(made, path) == GradedParts(*parameters)  # type: ignore[arg-type]  # likewise


@pytest.mark.parametrize(
    ("answer", "expected", "ordered", "grade"),
    [
        ({"l": ["b", "a"]}, {"l": ["a", "b"]}, [], CORRECT),
        ({"r": [2, 1]}, {"r": [1, 2]}, ["r"], INCORRECT),
        ({"r": [1, 2]}, {"r": [1, 2]}, ["r"], CORRECT),
        ({"v": 3.14159}, {"v": 3.14}, [], CORRECT),
        ({"a": "x", "b": 1}, {"a": "x"}, [], INCORRECT),
        ({"a": "5"}, {"a": 5}, [], INCORRECT),
        ({"a": "X"}, {"a": "x"}, [], INCORRECT),
        (None, {"a": "x"}, [], INCORRECT),
        (None, {}, [], INCORRECT),
        ({"l": [1, "a"]}, {"l": ["a", 1]}, [], INCORRECT),
    ],
)
def test_answers_are_graded_as_in_mannheim(
    answer: Mapping[str, Json] | None, expected: Mapping[str, Json], ordered: list[str], grade: str
) -> None:
    assert grade_answer(answer, expected, ordered) == grade


def test_accuracy_counts_what_is_right_over_all_answers() -> None:
    assert (
        accuracy([GradedParts("Correct", 3, 3), GradedParts("Incorrect", 0, 1), GradedParts("Incorrect", 0, 0)]) == 0.75
    )
    assert accuracy([]) == 0.0


SEND = Call("SEND_MESSAGE", {"recipient": "Joy"})
REMIND = Call("CREATE_REMINDER", {"date": "tonight"})
GOLD = [SEND, REMIND]


def third(*values: float) -> object:
    return pytest.approx(values, abs=5e-5)


@pytest.mark.parametrize(
    ("made", "api", "parameter", "lcs"),
    [
        (GOLD, 1, 1, (1, 1, 1)),
        (GOLD[::-1], 1, 1, (0.5, 0.5, 0.5)),
        ([SEND], 0.6667, 0.6667, (1, 0.5, 0.6667)),
        ([*GOLD, Call("X", {})], 0.8, 1, (0.6667, 1, 0.8)),
        ([SEND, Call("CREATE_REMINDER", {"date": "today"})], 1, 0.5, (1, 1, 1)),
        ([SEND, Call("CREATE_REMINDER", {"recipient": "Joy"})], 1, 0.5, (1, 1, 1)),
        ([], 0, 0, (0, 0, 0)),
    ],
)
@pytest.mark.parametrize("average", ["corpus", "sample"])
def test_calls_are_scored_as_in_api_blend(
    made: list[Call], api: float, parameter: float, lcs: tuple[float, float, float], average: Average
) -> None:
    samples: list[ComparedCalls] = [(GOLD, made)]
    assert api_f1(samples, average).f1 == pytest.approx(api, abs=5e-5)
    assert parameter_f1(samples, average).f1 == pytest.approx(parameter, abs=5e-5)
    score = lcs_f1(samples)
    assert (score.precision, score.recall, score.f1) == third(*lcs)


def test_a_function_counts_as_often_as_it_is_called() -> None:
    samples: list[ComparedCalls] = [([f(), f()], [f()])]
    assert api_f1(samples).f1 == pytest.approx(2 / 3)
    assert parameter_f1(samples).f1 == 1
    assert lcs_f1(samples) == Score(1.0, 0.5, 2 / 3)


def test_samples_are_averaged_or_counted_together() -> None:
    samples: list[ComparedCalls] = [(GOLD, GOLD), ([Call("Q", {"a": 1})], [Call("Z", {"a": 1})])]
    for score in (api_f1, parameter_f1):
        assert score(samples, "corpus").f1 == pytest.approx(2 / 3)
        assert score(samples, "sample").f1 == 0.5
    assert lcs_f1(samples) == Score(0.5, 0.5, 0.5)


def test_nothing_to_call_and_nothing_called_is_right() -> None:
    assert api_f1([([], [])]) == lcs_f1([([], [])]) == Score(1.0, 1.0, 1.0)
    assert api_f1([([], [f()])]) == lcs_f1([([], [f()])]) == Score(0.0, 0.0, 0.0)


def test_without_samples_there_is_no_score() -> None:
    assert api_f1([]) == api_f1([], "sample") == parameter_f1([]) == lcs_f1([]) == Score(0.0, 0.0, 0.0)


STATE: dict[str, object] = {"a": 1, "b": 2, "c": "x", "d": 4, "e": 5, "f": 6}


@pytest.mark.parametrize(
    ("state", "score"),
    [
        (STATE, (1, 1, 1)),
        ({**STATE, "a": 1.0}, (1, 1, 1)),
        ({**STATE, "a": "1"}, (0.8333, 0.8333, 0.8333)),
        ({**STATE, "g": 1}, (0.8571, 1, 0.9231)),
        ({key: value for key, value in STATE.items() if key != "a"}, (1, 0.8333, 0.9091)),
        ({}, (0, 0, 0)),
        ({"z": 1}, (0, 0, 0)),
    ],
)
def test_states_are_scored_as_in_toolbench(state: dict[str, object], score: tuple[float, float, float]) -> None:
    found = state_f1(state, STATE)
    assert (found.precision, found.recall, found.f1) == third(*score)


@pytest.mark.parametrize(
    ("lines", "expected", "score"),
    [
        ("abcdefg", "abcdefg", 1),
        ("abcdeg", "abcdefg", 6 / 7),
        ("abcdefgh", "abcdefg", 7 / 8),
        ("", "abc", 0),
        ("", "", 1),
    ],
)
def test_lines_are_scored_as_in_toolbench(lines: str, expected: str, score: float) -> None:
    assert lcs_score(lines, expected) == pytest.approx(score)


CALLS = st.lists(
    st.builds(Call, st.sampled_from("fgh"), st.dictionaries(st.sampled_from("xy"), st.integers(0, 2))), max_size=5
)


@given(st.lists(st.tuples(CALLS, CALLS), min_size=1, max_size=4), st.sampled_from(["corpus", "sample"]))
def test_scores_lie_between_nothing_and_all(samples: list[ComparedCalls], average: Average) -> None:
    for score in (api_f1(samples, average), parameter_f1(samples, average), lcs_f1(samples)):
        for value in (score.precision, score.recall, score.f1):
            assert 0 <= value <= 1 + 1e-9
    assert lcs_f1(samples).f1 <= 1
    assert (api_f1(samples).f1 == 1) == all(
        sorted(call.name for call in right) == sorted(call.name for call in made) for right, made in samples
    )


@given(CALLS, CALLS)
def test_precision_one_way_is_recall_the_other_way(right: list[Call], made: list[Call]) -> None:
    for score in (api_f1, parameter_f1, lcs_f1):
        there, back = score([(right, made)]), score([(made, right)])
        assert (there.precision, there.recall, there.f1) == (back.recall, back.precision, back.f1)


@given(CALLS.filter(bool))
def test_the_right_calls_are_graded_correct(path: list[Call]) -> None:
    assert grade_functions(path, path).grade == "Correct"
    parameters = grade_parameters(path, path)
    assert parameters.right == parameters.total == sum(len(call.arguments) for call in path)
