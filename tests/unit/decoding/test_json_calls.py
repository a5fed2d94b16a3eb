"""Text that is JSON and nothing else."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.core import Call, Calls, Reply
from pytest_fcall.decoding import decode


def read(text: str) -> Calls:
    return decode(Reply(text, decoder="json"))


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("[]", ()),
        (" [ ]\n", ()),
        ('{"name": "f", "arguments": {"a": 1}}', (Call("f", {"a": 1}),)),
        (
            '[{"name": "f", "arguments": {}}, {"arguments": {"b": [2]}, "name": "g"}]',
            (Call("f", {}), Call("g", {"b": [2]})),
        ),
    ],
)
def test_calls_are_read(text: str, calls: tuple[Call, ...]) -> None:
    assert read(text) == Calls(calls)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not JSON"),
        ("You are welcome.", "not JSON"),
        ('{"name": "f", "arguments": {', "not JSON"),
        ('[{"name": "f", "arguments": {}}] done', "Extra data"),
        ("3", "`name` and `arguments`"),
        ('["f"]', "`name` and `arguments`"),
        ("{}", "no `name`"),
        ('{"name": 3, "arguments": {}}', "no `name`"),
        ('{"name": "f"}', "no `arguments`"),
        ('{"name": "f", "arguments": null}', "null"),
        ('{"name": "f", "arguments": "{}"}', "once too often"),
        ('{"name": "f", "arguments": [1]}', "a list"),
        ('{"name": "f", "arguments": {}, "thought": "hm"}', "'thought'"),
        ('{"name": "f", "arguments": {"a": NaN}}', "NaN"),
    ],
)
def test_anything_else_is_malformed_and_says_why(text: str, words: str) -> None:
    calls = read(text)
    assert calls.calls == ()
    assert words in str(calls.malformed)


def test_one_broken_call_leaves_the_others() -> None:
    calls = read('[{"name": "f", "arguments": {}}, {"name": "g"}]')
    assert calls.calls == (Call("f", {}),)
    assert str(calls.malformed).startswith("Call 2: 'g' has no `arguments`")


def test_a_key_that_stands_twice_is_noted() -> None:
    assert len(read('{"name": "f", "arguments": {"a": 1, "a": 2}}').notes) == 1


@given(st.text(st.characters(codec=None)))
def test_any_text_gives_calls(text: str) -> None:
    calls = read(text)
    assert calls.malformed or json.loads(text) == [] or calls.calls


@given(st.lists(st.tuples(st.text(min_size=1), st.dictionaries(st.text(), st.integers() | st.text())), max_size=4))
def test_calls_survive_the_way_through_text(made: list[tuple[str, dict[str, int | str]]]) -> None:
    text = json.dumps([{"name": name, "arguments": arguments} for name, arguments in made])
    assert read(text).calls == tuple(Call(name, arguments) for name, arguments in made)


@pytest.mark.parametrize("text", ["[" * 1_000_000, '{"name":' * 125_000, "[" + "{}," * 300_000 + "{}]"])
def test_a_megabyte_is_read_in_good_time(text: str) -> None:
    start = time.perf_counter()
    assert len(str(read(text).malformed)) < 2_000
    assert time.perf_counter() - start < 5
