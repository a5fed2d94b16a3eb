from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.core import Operator
from pytest_fcall.reporting.value_text import PYTHON, arguments_text, value_text

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("5", '"5"'),
        (5, "5"),
        (5.0, "5.0"),
        (True, "true"),
        ("true", '"true"'),
        (None, "null"),
        (float("nan"), "nan"),
        ([], "[]"),
        ({}, "{}"),
        ([1, [2.5, "x"]], '[1, [2.5, "x"]]'),
        ((1, 2), "[1, 2]"),
        ({"city": "Oslo", "a b": 1, 7: None}, '{city: "Oslo", "a b": 1, 7: null}'),
        ("two\nlines", '"two\\nlines"'),
        ("two\\nlines", "'two\\nlines'"),
        ('say "hi"', "'say \"hi\"'"),
        ('it\'s "so"\n', '"it\'s \\"so\\"\\n"'),
        ({"x"}, "<set>"),
        (b"x", "<bytes>"),
        (Operator("any", ["SF", "San Francisco"]), '$any["SF", "San Francisco"]'),
        (Operator("ignore", operand=True), "$ignore"),
        (Operator("approx", 42.1, {"within": "10%"}), '$approx 42.1 within "10%"'),
        (Operator("regex", r"F\d+"), r"$regex 'F\d+'"),
        (Operator("optional", Operator("text", "oslo")), '$optional $text "oslo"'),
        ([{"n": Operator("gt", 3)}], "[{n: $gt 3}]"),
    ],
)
def test_a_value_is_shown_with_its_type(value: object, expected: str) -> None:
    assert value_text(value) == expected


def test_plain_tests_read_pythons_words() -> None:
    assert value_text({"a": [True, False, None, 1]}, spelling=PYTHON) == "{a: [True, False, None, 1]}"


def test_arguments_need_no_braces() -> None:
    assert arguments_text({"city": "Oslo", "days": 3}) == 'city: "Oslo", days: 3'


@given(VALUES, VALUES)
def test_values_that_differ_look_different(one: Any, other: Any) -> None:
    assert (value_text(one) == value_text(other)) == (repr(one) == repr(other))


@pytest.mark.timeout(60)
def test_huge_values_are_cut_in_time() -> None:
    assert len(value_text("\u202e" * 1_000_000)) < 15_000
    assert len(value_text(list(range(1_000_000)))) < 2_100
    assert len(value_text({"x" * 1_000_000: 1})) < 2_200
    assert len(value_text(10**100_000)) < 2_100


def test_deep_nesting_and_rings_end() -> None:
    ring: list[object] = []
    ring.append(ring)
    deep: dict[str, object] = {}
    for _ in range(100_000):
        deep = {"a": deep}
    assert value_text(ring) == "[" * 12 + "…" + "]" * 12
    assert value_text(deep).count("{") == 12


def test_no_object_is_asked_for_its_repr() -> None:
    class Hostile:
        def __repr__(self) -> str:
            raise AssertionError

    assert value_text([Hostile()]) == "[<Hostile>]"
