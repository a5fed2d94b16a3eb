"""What the page of operators does not show of those on answers."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.core import CallResult, Json, Operator, Reason
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.results import judge_result
from tests.unit.matching.language import pattern
from tests.unit.matching.test_results_state import JSON

MANNHEIM = {"in": "text", "lists": "any_order", "round": 2}


def judged(expected: Any, got: Json) -> tuple[Reason, ...]:
    return judge_result(pattern(expected), CallResult(got), 0, MatchContext(()))


@pytest.mark.parametrize(
    ("expected", "got", "words"),
    [
        ({"$number": 5}, "It is 7 or 8.", "expected text with the number 5; it contains the numbers 7, 8"),
        ({"$number": 5, "within": "10%"}, "No idea.", "the number 5 (within 10%); it contains no number"),
        ({"$number": 5}, "1 2 3 4 6 7", "it contains the numbers 1, 2, 3, 4, 6, …"),
        ({"$number": 5}, 5, "it is a number: `$approx` accepts one"),
        ({"$number": 5}, None, "expected text with the number 5"),
        ({"$number": float("nan")}, "5", "cannot be judged: `$number` takes a finite number."),
        ({"$normalised": "a dog"}, 5, "expected 'a dog', but for case, punctuation and articles"),
        ({"$rouge": "a dog"}, "some cats", "expected text like 'a dog'; its ROUGE-L is 0.000"),
        ({"$rouge": "a dog"}, 5, "expected text like 'a dog'"),
        ({"$rouge": "a dog", "least": "much"}, "a dog", "`least` takes a number from 0 to 1."),
        ({"$approx": 3.14, "round": 2}, 3.2, "expected 3.14 after rounding to 2 digits"),
        ({"$approx": 1, "round": -(10**9)}, 3.2, "`round` takes a number of digits from 0 to 15."),
        ({"$approx": 1, "round": 1, "within": 1}, 3.2, "`$approx` takes `within` or `round`, not both."),
        ({"$structure": {"a": [1]}}, {"a": [1, 2]}, "its length is 2, not 1"),
        ({"$structure": {"a": 1}}, {"a": 1.5}, "`calls[0].result.a` is 1.5, expected a value of type 'integer'"),
        ({"$structure": [1, "a"]}, [1, 2], "`calls[0].result[1]` is 2, expected a value of type 'string'"),
        ({"$json": [1], "in": "text"}, "nothing", "it contains no JSON object or list"),
        ({"$json": [1]}, "It is [1].", "it contains JSON: `in: text` would find it"),
        (
            {"$json": [1, 2], "in": "text", "lists": "any_order"},
            "[2, 3]",
            "expected [1, 2] in any order; no item matches 1",
        ),
        ({"$json": {"a": 1}, "in": "text"}, 'See [1]: {"a": 2}', "`calls[0].result.a` is 2, expected 1"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(expected: Any, got: Json, words: str) -> None:
    (reason,) = judged(expected, got)
    assert reason.message.endswith(words)


@pytest.mark.parametrize(
    ("expected", "said", "right"),
    [
        ({"l": ["a", "b"]}, "{'l': ['b', 'a']}", True),
        ({"r": {"$literal": [1, 2]}}, '{"r": [2, 1]}', False),
        ({"v": 3.14}, "{'v': 3.14159}", True),
        ({"n": 5}, '{"n": 5.001}', True),
        ({"n": 5}, '{"n": 5.01}', False),
        ({"a": "x"}, "Sure!\n```json\n{'a': 'x'}\n```", True),
        ({"a": "x"}, '{"a": "x", "b": 1}', False),
        ({"n": 5}, '{"n": "5"}', False),
        ({"n": 1}, '{"n": true}', False),
        ({"a": "x"}, '{"a": "X"}', False),
        ({"a": "x"}, "x", False),
        ({"a": {"b": [1, 2]}}, '{"a": {"b": [2, 1]}}', True),
        ({"l": [1, 1, 2]}, '{"l": [1, 2, 2]}', False),
        ({"l": {"$subset": [1.001]}}, '{"l": [2, 1]}', True),
        ({"l": {"$any": [[1, 2], "none"]}}, '{"l": [2, 1]}', True),
        ({"l": {"$ordered": [[1, 2], [3.001]]}}, '{"l": [[2, 1], [3]]}', True),
        ({"l": {"$json": [1, 2]}}, '{"l": "[2, 1]"}', False),
    ],
)
def test_the_rule_of_the_mannheim_benchmark_can_be_said(expected: Any, said: str, right: bool) -> None:
    assert (judged({"$json": expected, **MANNHEIM}, f"The answer is {said}") == ()) is right


def test_of_several_values_in_a_text_the_one_that_is_right_counts() -> None:
    assert judged({"$json": {"a": 1, "b": 2}, "in": "text"}, 'Not {"a": 1, "b": 3} but {"a": 1, "b": 2}.') == ()


def test_an_expected_value_with_options_is_the_same_without_them_where_nothing_is_loosened() -> None:
    assert judged({"$json": [2, 1]}, "[1, 2]") != ()
    assert judged({"$json": [2, 1], "lists": "any_order"}, "[1, 2]") == ()
    assert judged({"$json": [1.001], "lists": "any_order"}, "[1.002]") != ()


def test_long_texts_are_not_compared_word_by_word() -> None:
    (reason,) = judged({"$rouge": "word " * 3_000}, "other " * 3_000)
    assert "too long for `$rouge`" in reason.message


def test_a_text_that_is_just_as_near_as_it_must_be_is_right() -> None:
    assert judged({"$rouge": "a dog", "least": 1}, "a dog") == ()


def test_texts_of_any_script_are_compared_by_their_words() -> None:
    assert judged({"$rouge": "Заказ отменён, деньги вернутся"}, "заказ отменён; деньги скоро вернутся") == ()
    assert judged({"$rouge": "Заказ отменён"}, "деньги вернутся") != ()


def test_without_its_library_an_operator_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rouge_score.rouge_scorer", None)
    (reason,) = judged({"$rouge": "a"}, "a")
    assert reason.message.endswith('`$rouge` needs rouge-score: pip install "pytest-fcall[text]".')


SCALARS = st.lists(st.sampled_from([0, 1, 1.0, True, False, None, "a", "A", "1"]), max_size=6)


@given(SCALARS, SCALARS, st.sampled_from(["unordered", "subset"]))
def test_plain_items_are_paired_as_they_are_when_an_operator_stands_beside_them(
    expected: list[Json], got: list[Json], name: str
) -> None:
    plain = judge_result(Operator(name, expected), CallResult(got), 0, MatchContext(()))
    never = Operator("any", ["never"])
    wrapped = Operator(name, [Operator("any", [item, never]) for item in expected])
    assert (plain == ()) is (judge_result(wrapped, CallResult(got), 0, MatchContext(())) == ())


@pytest.mark.timeout(60)
def test_long_lists_in_another_order_take_no_time() -> None:
    names = [f"name {number}" for number in range(20_000)]
    assert judged({"$unordered": names}, names[::-1]) == ()


@given(JSON)
def test_every_value_has_its_own_structure(value: Json) -> None:
    assert judge_result(Operator("structure", value), CallResult(value), 0, MatchContext(())) == ()


@given(st.lists(JSON, min_size=1, max_size=4))
def test_a_list_that_is_longer_has_another_structure(items: list[Json]) -> None:
    assert judge_result(Operator("structure", items), CallResult([*items, None]), 0, MatchContext(())) != ()


@given(st.integers(-(10**9), 10**9) | st.decimals(-(10**6), 10**6, places=2).map(float), st.text(max_size=20))
def test_a_number_is_found_in_any_text_that_ends_with_it(number: float, before: str) -> None:
    assert judged({"$number": number}, f"{before} = {number}") == ()


def test_an_operator_inside_a_structure_is_compared_by_value() -> None:
    assert judged({"$structure": {"a": {"$any": [1, 2]}, "b": 5}}, {"a": 1, "b": 6}) == ()
    assert judged({"$structure": {"a": {"$any": [1, 2]}, "b": 5}}, {"a": 3, "b": 6}) != ()
