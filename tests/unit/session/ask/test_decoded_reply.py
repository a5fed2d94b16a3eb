from __future__ import annotations

import pytest

from pytest_fcall.core import Call
from pytest_fcall.session.ask.decoded_reply import CallList, call_list, same

MADE = CallList([Call("get_weather", {"city": "Oslo", "days": 1}, id="call_1")])


@pytest.mark.parametrize(
    "written",
    [
        [Call("get_weather", {"city": "Oslo", "days": 1})],
        [{"get_weather": {"days": 1, "city": "Oslo"}}],
        ({"name": "get_weather", "arguments": {"city": "Oslo", "days": 1}},),
    ],
)
def test_a_call_may_be_written_in_these_ways(written: object) -> None:
    assert written == MADE
    assert not written != MADE  # noqa: SIM202  # the other operator is what is tested


@pytest.mark.parametrize(
    "other",
    [
        [],
        [{"get_weather": {"city": "Oslo", "days": True}}],
        [{"get_weather": {"city": "Oslo", "days": 1.0}}],
        [{"get_weather": {"city": "Oslo", "days": "1"}}],
        [{"get_weather": {"city": "Oslo"}}],
        [{"get_time": {"city": "Oslo", "days": 1}}],
        [{"get_weather": {"city": "Oslo", "days": 1}}] * 2,
        ["get_weather"],
        "get_weather",
        None,
    ],
)
def test_anything_else_is_unequal(other: object) -> None:
    assert other != MADE


def test_no_arguments_may_be_left_out_or_empty() -> None:
    assert CallList([Call("ping", {})]) == [{"ping": None}]
    assert CallList([Call("ping", {})]) == [{"ping": {}}]


@pytest.mark.parametrize("item", ["ping", {"a": {}, "b": {}}, {"ping": 5}, {1: {}}, {}])
def test_what_is_no_call_is_told_with_the_form_to_use(item: object) -> None:
    with pytest.raises(TypeError, match="is no call; write"):
        call_list([item])


def test_types_count_at_every_depth() -> None:
    assert same({"a": [1, {"b": (2,)}]}, {"a": [1, {"b": [2]}]})
    assert not same({"a": [1, {"b": [2]}]}, {"a": [1, {"b": [2.0]}]})
