"""The calls in what each API and framework returns, however many there are and however they are named."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from string import ascii_lowercase
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.backends.apps.answers.answer import reply_of
from pytest_fcall.backends.apps.answers.errors import AnswerError
from pytest_fcall.conversation.messages import steps_of_trail
from pytest_fcall.core import CallResult, Reply, Request
from pytest_fcall.core.conversation import Step
from pytest_fcall.decoding.decoders import decode
from tests.unit.backends.apps.answers.forms import ASKED, FORMS, TEXT, Made, Turns

OSLO = Made("c1", "get_weather", {"city": "Oslo"}, "cold in Oslo")
ROME = Made("c2", "get_weather", {"city": "Rome"}, "warm in Rome")
BOOK = Made("c3", "book", {"flight": {"id": 7, "seats": ["1A", None]}}, "booked")
TOGETHER = ("smolagents_result", "smolagents_steps")
"""Steps tell what their calls gave in one text for all."""


def calls_of(reply: Reply) -> list[tuple[str, Any]]:
    calls = decode(reply)
    assert calls.malformed is None
    return [(call.name, call.arguments) for call in calls.calls]


@pytest.mark.parametrize("form", FORMS)
def test_all_calls_of_a_trail_count_in_order_and_the_last_text(form: str) -> None:
    reply = reply_of(FORMS[form]([[OSLO, ROME], [BOOK]]), [ASKED])
    assert calls_of(reply) == [(made.name, made.arguments) for made in (OSLO, ROME, BOOK)]
    assert reply.text == TEXT


@pytest.mark.parametrize("form", FORMS)
def test_an_answer_without_calls_has_none(form: str) -> None:
    reply = reply_of(FORMS[form]([]), [ASKED])
    assert (reply.tool_calls, reply.text) == ((), TEXT)


@pytest.mark.parametrize("form", [form for form in FORMS if form not in TOGETHER])
def test_what_calls_gave_is_kept_with_them(form: str) -> None:
    reply = reply_of(FORMS[form]([[OSLO, ROME], [BOOK]]), [ASKED])
    steps = steps_of_trail(Step(Request((ASKED,), ()), reply, decode(reply)))
    told = [result for step in steps for result in step.results]
    expected = [OSLO.result, ROME.result, BOOK.result]
    assert [_unwrapped(each) for each in told] == expected
    assert json.loads(json.dumps([*reply.trail]))[0] == ASKED


def _unwrapped(result: CallResult) -> Any:
    """Gemini's API wants results to be objects."""
    return result.value["result"] if isinstance(result.value, dict) else result.value


names = st.sampled_from(["final_answer", "final_result", "call", "result", "invocation"]) | st.text(
    f"{ascii_lowercase}_", min_size=2, max_size=14
).filter(lambda name: name.strip("_") == name != "finish")  # DSPy's own
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.text("aAö \n:{", max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=4), inner, max_size=3),
    max_leaves=5,
)


@st.composite
def turns_of_calls(draw: st.DrawFn) -> Turns:
    turns = draw(
        st.lists(
            st.lists(st.tuples(names, st.dictionaries(names, values, max_size=3)), min_size=1, max_size=3), max_size=3
        )
    )
    count = iter(range(100))
    return [[Made(f"c{next(count)}", name, arguments, "seen") for name, arguments in turn] for turn in turns]


@given(form=st.sampled_from([*FORMS]), turns=turns_of_calls())
def test_a_trail_with_so_many_calls_gives_exactly_these_in_order(form: str, turns: Turns) -> None:
    reply = reply_of(FORMS[form](turns), [ASKED])
    assert calls_of(reply) == [(made.name, made.arguments) for turn in turns for made in turn]


def places(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all fields in a value."""
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield from places(item, (*above, number))
    elif isinstance(value, dict | SimpleNamespace):
        for name, held in fields(value).items():
            yield (*above, name)
            yield from places(held, (*above, name))


def fields(value: Any) -> dict[str, Any]:
    held: dict[str, Any] = value if isinstance(value, dict) else value.__dict__
    return held


def renamed(answer: Any, path: tuple[Any, ...], what: str) -> Any:
    """The answer with another name for a field, or another text in it."""
    changed = deepcopy(answer)
    holder = changed
    for step in path[:-1]:
        holder = holder[step] if isinstance(step, int) else fields(holder)[step]
    held = fields(holder)
    if what == "field":
        held[f"{path[-1]}Novel"] = held.pop(path[-1])
    elif isinstance(held[path[-1]], str):
        held[path[-1]] += "_novel"
    return changed


@pytest.mark.parametrize("what", ["field", "text"])
@pytest.mark.parametrize("form", FORMS)
def test_a_call_is_not_lost_whatever_has_another_name_in_the_next_version(form: str, what: str) -> None:
    answer = FORMS[form]([[OSLO]])
    for path in places(answer):
        if path == ("raw",):  # without it, an output of CrewAI is a state, whose text is text
            continue
        try:
            reply = reply_of(renamed(answer, path, what), [ASKED])
        except AnswerError:
            continue
        assert reply.tool_calls, path
