"""Whatever is thrown at the official rules, they rule."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.core import Language
from pytest_fcall.matching.bfcl.checker import check_answer
from pytest_fcall.matching.bfcl.official_case import OfficialCase, Ruling
from tests.unit.matching.bfcl.exams import function, ruled

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([float("nan"), float("inf"), ..., b"x", 3j]),
    st.sampled_from([400, 5_000]).map(lambda digits: 10**digits),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["", "\ud800", "\0", "new int[]{1}", "[1, 2]", "{a: 1}"]),
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.one_of(st.none(), st.text(max_size=3), st.integers()), inner, max_size=3),
    ),
    max_leaves=8,
)
WORDS = [
    *("string", "integer", "float", "boolean", "array[float]", "tuple[integer]", "array[dict]", "dict", "any"),
    *("String", "Array[String]", "ArrayList[integer]", "HashMap", "Bigint", "Set", "number"),
]
LANGUAGES: list[Language] = ["python", "java", "javascript"]


@given(st.sampled_from(WORDS), VALUES, VALUES, st.sampled_from(LANGUAGES))
def test_no_argument_and_no_alternatives_raise(word: str, alternatives: Any, value: Any, language: Language) -> None:
    error = ruled(word, alternatives, value, language=language)
    assert error is None or ":" in error


@given(st.sampled_from(["simple", "multiple", "parallel", "irrelevance", "relevance", ""]), VALUES, VALUES, VALUES)
def test_no_case_and_no_answer_raise(category: str, functions: Any, truth: Any, decoded: Any) -> None:
    assert isinstance(check_answer(OfficialCase(category, functions, truth), decoded), Ruling)


@given(st.lists(st.text(min_size=1), min_size=1, max_size=3))
def test_every_alternative_of_the_declared_type_is_right(alternatives: list[str]) -> None:
    for value in alternatives:
        assert ruled("string", alternatives, value) is None


def nested(depth: int, value: Any = 1) -> Any:
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("word", ["string", "array[array]", "dict", "any"])
def test_a_value_too_deep_to_be_written_is_an_error_of_the_case(word: str) -> None:
    depth = 100 * sys.getrecursionlimit()
    assert ruled(word, [[[1]]], nested(depth)) == "case_error:RecursionError"


def test_a_value_of_a_megabyte_is_cut_in_what_is_told() -> None:
    exam = OfficialCase("simple", [function(x="string")], [{"f": {"x": ["a"]}}])
    ruling = check_answer(exam, [{"f": {"x": "b" * 1_000_000}}])
    assert ruling.error_type == "value_error:string"
    assert len(ruling.errors[0]) < 1_000


@pytest.mark.parametrize(("length", "end"), [(198, "b', not one of ['a']"), (199, "b…, not one of ['a']")])
def test_a_value_of_two_hundred_signs_is_told_whole(length: int, end: str) -> None:
    exam = OfficialCase("simple", [function(x="string")], [{"f": {"x": ["a"]}}])
    assert check_answer(exam, [{"f": {"x": "b" * length}}]).errors[0].endswith(end)
