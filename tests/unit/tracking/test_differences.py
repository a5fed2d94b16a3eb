from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.core import Call, Json
from pytest_fcall.tracking.differences import call_differences, same_calls
from tests.unit.tracking.stanzas import CALLS


def call(name: str = "f", /, **arguments: Json) -> Call:
    return Call(name, arguments)


A, B, C = call("a", x=1), call("b"), call("c")


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        ([call(unit="celsius")], [call(unit="fahrenheit")], ["calls[0].args.unit: 'celsius' → 'fahrenheit'"]),
        ([call(days=3)], [call(days="3")], ["calls[0].args.days: 3 → '3' (type int → str)"]),
        ([call(days=3)], [call(days=3.0)], ["calls[0].args.days: 3 → 3.0 (type int → float)"]),
        ([call(on=1)], [call(on=True)], ["calls[0].args.on: 1 → true (type int → bool)"]),
        ([call(on=None)], [call(on=False)], ["calls[0].args.on: null → false (type null → bool)"]),
        ([call(x=0.0)], [call(x=-0.0)], ["calls[0].args: differ in type or spelling (1, 1.0 and true are different)"]),
        ([call()], [call(city="Oslo")], ["calls[0].args.city: 'Oslo' is new"]),
        ([call(city="Oslo")], [call()], ["calls[0].args.city: 'Oslo' was removed"]),
        ([call(legs=[{"to": 1}])], [call(legs=[{"to": 2}])], ["calls[0].args.legs[0].to: 1 → 2"]),
        ([call(legs=["b"])], [call(legs=["a", "b"])], ["calls[0].args.legs[0]: 'a' is new"]),
        ([call(of={"k.y": 1})], [call(of={"k.y": 2})], ["calls[0].args.of['k.y']: 1 → 2"]),
        ([call(of={})], [call(of={"a": {"b": []}})], ['calls[0].args.of.a: {"b": []} is new']),
        ([call(x=1, y=1)], [call(x=2, y=2)], ["calls[0].args.x: 1 → 2", "calls[0].args.y: 1 → 2"]),
        ([A, B], [B, A], ["calls[1] b moved to calls[0]"]),
        ([A, B, C], [C, A, B], ["calls[2] c moved to calls[0]"]),
        ([A, B], [C, A, B], ["calls[0] c() is new"]),
        ([A, B, C], [A, C], ["calls[1] b() is gone"]),
        ([A], [A, A], ['calls[1] a("x": 1) is new']),
        ([A], [B], ['calls[0]: a("x": 1) → b()']),
        ([B, A], [call("a", x=2), B], ["calls[0].args.x: 1 → 2"]),
        ([], [B], ["calls[0] b() is new"]),
        ([call(x="\x1b[31m")], [call(x="y")], ["calls[0].args.x: '\\x1b[31m' → 'y'"]),
    ],
)  # fmt: skip
def test_what_changed_is_told_in_words(old: list[Call], new: list[Call], lines: list[str]) -> None:
    assert call_differences(old, new) == lines


@given(CALLS, CALLS)
def test_there_is_something_to_tell_just_where_calls_are_not_the_same(old: list[Call], new: list[Call]) -> None:
    assert bool(call_differences(old, new)) is not same_calls(old, new)
    assert same_calls(old, old)


@given(st.permutations(range(6)))
def test_calls_that_only_moved_are_neither_gone_nor_new(order: list[int]) -> None:
    old = [call(name) for name in "abcdef"]
    lines = call_differences(old, [old[index] for index in order])

    assert all(" moved to " in line for line in lines)
    assert len(lines) < 6


def test_what_json_cannot_say_is_only_said_to_differ() -> None:
    deep: Json = 0
    for _ in range(300_000):  # encoders of later Pythons go as deep as the stack lets them
        deep = [deep]

    assert call_differences([call(x=deep)], [call(x=1)]) == ["calls[0].args: differ, and are too long to be compared"]


def test_the_wires_ids_are_no_difference() -> None:
    assert same_calls([Call("f", {}, "call_1")], [Call("f", {}, "call_2")])


@pytest.mark.timeout(60)
def test_hostile_arguments_take_no_time_and_little_room() -> None:
    def nested(depth: int) -> Json:
        return [nested(depth - 1)] if depth else 0

    pairs: list[tuple[Json, Json]] = [
        ("a\n" * 500_000, "b\n" * 500_000),
        (10**5_000, 1),
        (nested(400), nested(401)),
        (list(range(9_000)), []),
    ]

    for old, new in pairs:
        assert sum(map(len, call_differences([call(x=old)], [call(x=new)]))) < 300


def test_as_few_calls_moved_as_explain_the_new_order() -> None:
    a, b, c, d, e = (Call(name, {}) for name in "abcde")
    assert call_differences([a, b, c, d, e], [c, d, e, a, b]) == [
        "calls[0] a moved to calls[3]",
        "calls[1] b moved to calls[4]",
    ]


def test_calls_that_json_cannot_say_are_told_apart_by_their_names() -> None:
    nan = float("nan")
    old, new = [Call("a", {"x": nan}), Call("b", {"x": nan})], [Call("b", {"x": nan}), Call("a", {"x": nan})]
    assert call_differences(old, old) == []
    assert call_differences(old, new) == ["calls[1] b moved to calls[0]"]
    assert not same_calls(old, new)
    assert same_calls(old, [*old])
