from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.core import Call
from pytest_fcall.reporting.side_by_side import equality_lines


def same(one: object, other: object) -> bool:
    return repr(one) == repr(other)


def test_the_argument_that_differs_is_marked_and_typed() -> None:
    left = [Call("get_weather", {"city": "Rome", "days": True}), Call("get_time", {})]
    right = [Call("get_weather", {"city": "Rome", "days": 1}), Call("get_time", {})]
    assert equality_lines(left, right, same) == [
        "the calls differ",
        "                     left        right",
        "  ✗ [0] get_weather",
        '  ✓   city           "Rome"      "Rome"',
        "  ✗   days           True        1",
        "  ✓ [1]              get_time()  get_time()",
    ]


def test_a_missing_argument_and_a_missing_call_face_an_empty_side() -> None:
    lines = equality_lines([Call("f", {"a": 1})], [Call("f", {"b": 1}), Call("g", {})], same)
    assert lines == [
        "the calls differ: 1 on the left, 2 on the right",
        "           left        right",
        "  ✗ [0] f",
        "  ✗   a    1           (left out)",
        "  ✗   b    (left out)  1",
        "  ✗ [1]    (no call)   g()",
    ]


def test_other_tools_are_shown_whole() -> None:
    lines = equality_lines([Call("f", {"a": 1})], [Call("g", {"a": 1})], same)
    assert lines[-1] == "  ✗ [0]  f(a: 1)  g(a: 1)"


HOSTILE = st.text(st.characters(exclude_categories=[]), max_size=10)
CALLS = st.lists(st.builds(Call, HOSTILE, st.dictionaries(HOSTILE, HOSTILE, max_size=3)), max_size=4)


@given(CALLS, CALLS)
def test_hostile_calls_leave_no_control_characters(left: list[Call], right: list[Call]) -> None:
    assert all(line.isprintable() for line in equality_lines(left, right, same))
