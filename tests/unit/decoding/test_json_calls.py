"""Text that is JSON and nothing else."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.core import Call, Calls, Reply
from pytest_fcall.decoding.decoders import decode


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
    "text",
    [
        '{"name": "f", "parameters": {"a": 1}}',
        '{"function": "f", "args": {"a": 1}}',
        '{"tool": "f", "input": {"a": 1}}',
        '{"tool_name": "f", "kwargs": {"a": 1}}',
        '{"type": "function", "name": "f", "parameters": {"a": 1}}',
        '{"type": "function", "function": {"name": "f", "arguments": "{\\"a\\": 1}"}}',
        '{"function": {"name": "f", "arguments": {"a": 1}}, "index": 0}',
        '{"type": "function_call", "name": "f", "arguments": "{\\"a\\": 1}"}',
        '{"type": "tool_use", "name": "f", "input": {"a": 1}}',
        '{"tool_calls": [{"name": "f", "arguments": {"a": 1}}]}',
        '{"role": "assistant", "tool_calls": [{"type": "function", "function": {"name": "f", "arguments": {"a": 1}}}]}',
        '{"role": "assistant", "function_call": {"name": "f", "arguments": "{\\"a\\": 1}"}}',
        '{"role": "assistant", "content": [{"type": "tool_use", "name": "f", "input": {"a": 1}}]}',
        '{"function_call": {"name": "f", "arguments": "{\\"a\\": 1}"}}',
        '{"content": [{"type": "tool_use", "name": "f", "input": {"a": 1}}], "stop_reason": "tool_use"}',
        '{"choices": [{"message": {"tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}]}}]}',
        '{"object": "response", "output": [{"type": "text"}, {"type": "tool_call", "name": "f", "args": {"a": 1}}]}',
        '```json\n{"name": "f", "arguments": {"a": 1}}\n```',
        '```\n[{"name": "f", "arguments": {"a": 1}}]```',
        '```json\n[\n{"name": "f",\n"arguments": {"a": 1}}]\n```\n',
        '\n{"name": "f", "arguments": {"a": 1}}\n\n',
        '{"name": "f", "arguments": {"a": 1}}</s>',
    ],
)
def test_all_shapes_that_are_in_use(text: str) -> None:
    assert read(text) == Calls((Call("f", {"a": 1}),))


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "f", "arguments": {}}\n\n{"name": "g", "arguments": {}}',
        '```json\n{"name": "f", "arguments": {}}\n{"name": "g", "arguments": {}}\n```',
        '```json\n{"name": "f", "arguments": {}}\n```\n```json\n[{"name": "g", "arguments": {}}]\n```',
    ],
)
def test_lines_and_blocks_are_read_one_after_another(text: str) -> None:
    assert read(text) == Calls((Call("f", {}), Call("g", {})))


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ('Sure!\n```json\n[{"name": "f", "arguments": {}}]\n```\nDone.', "'Sure!'"),
        ('<think>\nHm.\n</think>\n[{"name": "f", "arguments": {}}]', "Hm."),
        ('<think>Hm.</think>[{"name": "f", "arguments": {}}]', "Hm."),
        ('[{"type": "text", "text": "Let me see."}, {"type": "tool_use", "name": "f", "input": {}}]', "'Let me see.'"),
        ('{"role": "assistant", "content": "Now:", "tool_calls": [{"name": "f", "arguments": {}}]}', "'Now:'"),
        (
            '{"object": "response", "output": [{"type": "reasoning", "content": [{"text": "Hm."}]}, '
            '{"type": "message", "content": [{"type": "output_text", "text": "Let me see."}]}, '
            '{"type": "function_call", "name": "f", "arguments": "{}"}]}',
            "'Let me see.'",
        ),
        (
            '{"content": [{"type": "text", "text": "Now:"}], "tool_calls": [{"name": "f", "arguments": {}}]}',
            "'Now:'",
        ),
        ('```json\n[{"name": "f", "arguments": {}}]', "not closed"),
        ('{"tool_calls": [{"function": {"name": "f", "arguments": ""}}]}', "empty"),
        ('{"tool_calls": [{"function": {"name": "f", "arguments": "{\\"a\\": 1, \\"a\\": 2}"}}]}', "'a' is repeated"),
    ],
)
def test_what_was_dropped_is_noted(text: str, note: str) -> None:
    calls = read(text)
    assert calls.malformed is None
    assert [call.name for call in calls.calls] == ["f"]
    assert note in calls.notes[0]


@pytest.mark.parametrize(
    "text",
    [
        '{"role": "assistant", "content": "You are welcome."}',
        '{"role": "assistant", "content": "You are welcome.", "tool_calls": null}',
        '[{"type": "text", "text": "You are welcome."}]',
        '{"tool_calls": []}',
    ],
)
def test_a_message_without_calls_is_an_abstention(text: str) -> None:
    assert read(text) == Calls()


def test_the_ids_of_wires_are_kept() -> None:
    assert read('{"type": "tool_use", "id": "t1", "name": "f", "input": {}}').calls == (Call("f", {}, "t1"),)
    both = '{"type": "function_call", "id": "fc", "call_id": "c1", "name": "f", "arguments": "{}"}'
    assert read(both).calls == (Call("f", {}, "c1"),)
    assert read('{"id": 7, "name": "f", "arguments": {}}').calls == (Call("f", {}),)


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
        ('{"name": "f", "arguments": "{}"}', "encoded twice"),
        ('{"name": "f", "arguments": [1]}', "a list"),
        ('{"name": "f", "arguments": {}, "thought": "hm"}', "'thought'"),
        ('{"name": "f", "arguments": {}, "content": []}', "'content'"),
        ('{"name": "f", "arguments": {"a": NaN}}', "NaN"),
        ('{"name": "f", "arguments": {}, "parameters": {}}', "both `arguments` and `parameters`"),
        ('{"name": "f", "tool": "g", "arguments": {}}', "both `name` and `tool`"),
        ('{"name": "f", "description": "…", "parameters": {}}', "'description'"),
        ('{"type": "object", "name": "f", "parameters": {}}', "its `type` is 'object'"),
        ('{"type": ["x"], "name": "f", "parameters": {}}', "its `type` is"),
        ('{"function": {"name": "f", "arguments": "{"}}', "arguments of 'f' cannot be read"),
        ('{"function": {"name": "f", "arguments": "{}"}, "name": "f"}', "'name'"),
        ('{"tool_calls": {}}', "`tool_calls` is not a list"),
        ('{"choices": []}', "not have exactly one choice"),
        ('{"choices": [{}, {}]}', "not have exactly one choice"),
        ('{"choices": [{"message": null}]}', "not an object"),
        ('{"name": "f", "arguments": {}}\nDone.', "Extra data"),
        ("```python\nf()\n```", "not JSON"),
        ('```json\n{"name": \n```', "not JSON"),
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
    assert calls.malformed or calls.calls or json.loads(text) == []


@given(st.lists(st.tuples(st.text(min_size=1), st.dictionaries(st.text(), st.integers() | st.text())), max_size=4))
def test_calls_survive_the_way_through_text(made: list[tuple[str, dict[str, int | str]]]) -> None:
    text = json.dumps([{"name": name, "arguments": arguments} for name, arguments in made])
    assert read(text).calls == tuple(Call(name, arguments) for name, arguments in made)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("text", ["[" * 1_000_000, '{"name":' * 125_000, "[" + "{}," * 300_000 + "{}]"])
def test_a_megabyte_is_read_in_good_time(text: str) -> None:
    assert len(str(read(text).malformed)) < 2_000
