"""Calls written as Python."""

from __future__ import annotations

import pytest

from pytest_fcall.core import Call, Calls, Reply
from pytest_fcall.decoding.decoders import decode
from tests.unit.decoding.tools import TOOLS

OSLO = Call("get_weather", {"city": "Oslo"})


def read(text: str, *, known: bool = True) -> Calls:
    return decode(Reply(text, decoder="python"), TOOLS if known else ())


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(
    ("text", "calls"),
    {
        "one call": ("get_weather(city='Oslo')", [OSLO]),
        "a list": ("[get_weather(city='Oslo'), ping()]", [OSLO, Call("ping", {})]),
        "a list over lines": ("[\n  get_weather(\n    city='Oslo',\n  ),\n]\n", [OSLO]),
        "a tuple": ("get_weather(city='Oslo'), ping()", [OSLO, Call("ping", {})]),
        "lines": ("get_weather(city='Oslo')\n\nping()\n", [OSLO, Call("ping", {})]),
        "lines that end in commas": ("get_weather(city='Oslo'),\nping(),", [OSLO, Call("ping", {})]),
        "a line with semicolons": ("get_weather(city='Oslo'); ping();", [OSLO, Call("ping", {})]),
        "comments": ("get_weather(city='Oslo')  # here (or there)\n# and\n", [OSLO]),
        "comments in a block": ("```\n# First\n\n# this:\nget_weather(city='Oslo')\n```", [OSLO]),
        "a dotted name": ("math.add(a=1, b=-2.5)", [Call("math.add", {"a": 1, "b": -2.5})]),
        "a name that nobody offered": ("[fly(to='Oslo')]", [Call("fly", {"to": "Oslo"})]),
        "values": (
            "f(a=[1, 2.0, (3,)], b={'c': None, 'd': True}, e=true, f=null, g=2 * 3)",
            [Call("f", {"a": [1, 2.0, [3]], "b": {"c": None, "d": True}, "e": True, "f": None, "g": 6})],
        ),
        "brackets in strings": ("f(a='(', b=\"it's ]\", c='''\n'''); ping()", [
            Call("f", {"a": "(", "b": "it's ]", "c": "\n"}),
            Call("ping", {}),
        ]),
        "a fenced block": ("```python\nget_weather(city='Oslo')\n```", [OSLO]),
        "a plain block": ("```\n[get_weather(city='Oslo')]```", [OSLO]),
        "a block in one line": ("```[get_weather(city='Oslo')]```", [OSLO]),
        "two blocks": ("```py\nget_weather(city='Oslo')\n```\n\n```json\n[ping()]\n```", [OSLO, Call("ping", {})]),
        "back quotes": ("`get_weather(city='Oslo')`", [OSLO]),
        "an empty list": ("[ ]", []),
    }.values(),
)  # fmt: skip
def test_text_that_is_calls_alone(text: str, calls: list[Call], known: bool) -> None:
    assert read(text, known=known) == Calls(tuple(calls))


@pytest.mark.parametrize(
    "text",
    [
        "I will look.\n\nget_weather(city='Oslo')\n\nOne moment.",
        "I will look: it's easy.\n  get_weather(\n    city='Oslo'\n  )\nOne moment.",
        "I will look.\n[get_weather(city='Oslo')]",
        "I will look.\n`get_weather(city='Oslo');`",
        "I will look.\n```python\nget_weather(city='Oslo')\n```\nOne moment.",
        "I will look.\n```tool_code\n[get_weather(city='Oslo')]\n```",
    ],
)
def test_calls_of_offered_tools_beside_prose_are_read_and_the_prose_is_noted(text: str) -> None:
    calls = read(text)
    assert (calls.calls, calls.malformed) == ((OSLO,), None)
    assert "I will look" in calls.notes[0]


def test_what_was_thought_is_no_call() -> None:
    assert read("<think>\nget_weather(city='Rome')\n</think>\n\n[get_weather(city='Oslo')]").calls == (OSLO,)
    assert read("ping()\n</think>\nHello.") == Calls()
    assert read("<think>\nping()\n") == Calls()
    assert read("<think>ping()</think>[get_weather(city='Oslo')]").calls == (OSLO,)


@pytest.mark.parametrize(
    "text",
    [
        "[get_weather(city='Oslo')]<|eot_id|>",
        "<|python_start|>[get_weather(city='Oslo')]<|python_end|><|eot|>",
        "<|python_tag|>get_weather(city='Oslo')<|eom_id|>",
        "<function_calls>\nget_weather(city='Oslo')\n</function_calls><|im_end|>\n<|endoftext|>\n",
        "```python\nget_weather(city='Oslo')\n```<|im_end|>",
    ],
)
def test_tokens_around_calls_and_at_the_end_are_silent(text: str) -> None:
    assert read(text) == Calls((OSLO,))


def test_tokens_are_silent_behind_prose_too() -> None:
    calls = read("I will look.<|python_start|>[get_weather(city='Oslo')]<|python_end|>")
    assert (calls.calls, calls.malformed) == ((OSLO,), None)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "You are welcome.",
        "I would use get_weather(city='Oslo') for that.",
        "get_weather(city='Oslo') would tell.",
        "1. get_weather(city='Oslo')\n2. Tell.",
        "I was to write [func1(params_name=value)].",
        "You can print it.\nprint('Oslo')",
        "You can print it:\n```python\nprint('Oslo')\n```",
        "Try this:\n```python\nx = 1\nprint(x)\n```",
        "Run this:\n```bash\nget_weather(city='Oslo')\n```",
        "See [the page(s)](https://example.org).",
        "[1, 2, 3]",
        "[the page(s)]\nNote(s): none.",
        "Sure (maybe)",
        "It's 3 o'clock (UTC).",
        "a\n`",
        "# Say\nprint('Oslo')",
    ],
)
def test_prose_is_no_call(text: str) -> None:
    assert read(text) == Calls()


def test_without_tools_a_line_beside_prose_is_prose_but_a_list_of_calls_is_none() -> None:
    assert read("Look.\nget_weather(city='Oslo')", known=False) == Calls()
    assert read("Look.\n[get_weather(city='Oslo')]", known=False).calls == (OSLO,)


def test_arguments_by_position_get_the_names_of_the_signature() -> None:
    assert read("get_weather('Oslo', days=3)") == Calls(
        (Call("get_weather", {"city": "Oslo", "days": 3}),),
        notes=("Call 1: Positional arguments of 'get_weather' were read as `city`.",),
    )


def test_a_key_that_stands_twice_in_a_dict_is_noted() -> None:
    calls = read("f(a={'b': 1, 'b': 2})")
    assert calls.calls == (Call("f", {"a": {"b": 2}}),)
    assert "The key 'b' is repeated" in calls.notes[0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[fly('Oslo')]", "positional arguments of 'fly', which was not offered, have no names"),
        ("ping(1)", "'ping' takes 0 arguments, but 1 were given by position"),
        ("get_weather('Oslo', city='Rome')", "'city' of 'get_weather' is given by position and by name"),
        ("get_weather(city='Oslo', city='Rome')", "the argument 'city' of 'get_weather' is given twice"),
        ("get_weather(**where)", "`**`"),
        ("get_weather(*where)", "number 1"),
        ("get_weather(city=where)", "the argument 'city' of 'get_weather' cannot be read: the name 'where'"),
        ("get_weather(city=ping())", "a call is not a literal"),
        ("get_weather(city=f'{x}')", "an f-string is not a literal"),
        ("[ping(), 3]", "Call 2: it is not a tool call"),
        ("[get_weather(city='Oslo'", "not closed"),
        ("get_weather(city='Oslo", "not closed"),
        ("I will look.\nget_weather(city='Oslo", "not closed"),
        ("I will look.\nget_weather(city=Oslo Sentrum)", "cannot be read as a call"),
        ("```python\nfound = get_weather(city='Oslo')\nprint(found)\n```", "more than calls"),
        ("Look:\n```python\nget_weather(city='Oslo'\n```", "cannot be read as calls"),
        ('Look: {"name": "ping", "arguments": {}}', "JSON with `name` and `arguments`"),
        ("Look: [{'name': 'ping', 'arguments': {}}]", "JSON with `name` and `arguments`"),
        ("<tool_call>ping</tool_call>", "`<tool_call>`"),
        ("[get-weather(city='Oslo')]", "it contains more than calls"),
        ("tool_calls: [get_weather(city='Oslo')]", "A list of calls inside other text"),
        ("I would [get_weather(city='Oslo')].\nping()", "A list of calls inside other text"),
        ("[\"get_weather(city='Oslo')\"]", "A list of calls inside other text"),
        ("[get\\_weather(city='Oslo')]", "underscores are escaped"),
        ("get\\_weather(city='Oslo')\nNote: a city.", "cannot be read as a call"),
        ("note(this\nget_weather(city=x)", "'x' is not a literal"),
    ],
)
def test_what_was_meant_as_a_call_and_cannot_be_read_is_malformed(text: str, words: str) -> None:
    calls = read(text)
    assert words in str(calls.malformed)


def test_an_integer_may_be_larger_than_any_float() -> None:
    assert read(f"[get_weather(days={10**400})]").calls == (Call("get_weather", {"days": 10**400}),)


def test_without_tools_positions_have_no_names() -> None:
    assert "whose signature is not known" in str(read("[f(1)]", known=False).malformed)


def test_one_broken_call_leaves_the_others() -> None:
    calls = read("[ping(), get_weather(city=x), get_weather(city='Oslo')]")
    assert calls.calls == (Call("ping", {}), OSLO)
    assert str(calls.malformed).startswith("Call 2: ")


def test_a_block_that_is_not_closed_is_read_and_noted() -> None:
    assert read("```python\nping()\n").notes == ("The fenced block is not closed.",)


def test_more_calls_than_anybody_means_are_malformed() -> None:
    calls = read(f"[{'ping(), ' * 10_001}]")
    assert len(calls.calls) == 10_000
    assert calls.malformed == "There are more than 10,000 calls; the others were not read."
