"""What was written in a format is read from it as it was."""

from __future__ import annotations

import keyword
from collections.abc import Callable, Sequence
from dataclasses import replace
from operator import add
from string import ascii_letters, digits

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.core import Call, Calls, Json, Tool
from pytest_fcall.decoding.decoders import DECODERS
from tests.unit.decoding import encoders

Encoder = Callable[[Sequence[Call]], str]

NAMES = st.builds(add, st.sampled_from(f"{ascii_letters}_"), st.text(f"{ascii_letters}{digits}_", max_size=8)).filter(
    lambda name: not keyword.iskeyword(name) and name not in {"true", "false", "null"}
)
TOOLS = st.lists(NAMES, min_size=1, max_size=3).map(".".join)
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
VALUES: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(st.characters(codec=None), max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
WORD_CHARACTERS = st.characters(categories=["L", "N"], include_characters="_' .:+-")
WORDS = st.text(WORD_CHARACTERS, max_size=12).map(str.strip).filter(lambda text: text[:1] != "'")
QUOTED = st.text(st.characters(codec=None, exclude_characters="\n"), max_size=12).filter(
    lambda text: "[SEP]" not in text
)


def calls_of(names: st.SearchStrategy[str], values: st.SearchStrategy[Json]) -> st.SearchStrategy[list[Call]]:
    return st.lists(st.builds(Call, names, st.dictionaries(NAMES, values, max_size=4)), min_size=1, max_size=4)


def without_ids(calls: Calls) -> list[Call]:
    return [replace(call, id=None) for call in calls.calls]


@pytest.mark.parametrize(
    ("decoder", "encode"),
    [
        ("python", encoders.python),
        ("python", encoders.python_lines),
        ("pythonic", lambda calls: f"Sure.\n```python\n{encoders.python(calls)}\n```"),
        ("gorilla", encoders.gorilla),
        ("json", encoders.json_list),
        ("json", encoders.json_lines),
        ("json", lambda calls: f"```json\n{encoders.json_list(calls)}\n```"),
        ("openai", encoders.openai),
        ("anthropic", encoders.anthropic),
        ("auto", encoders.python),
        ("auto", encoders.json_list),
        ("auto", encoders.gorilla),
    ],
)
@given(calls=calls_of(TOOLS, VALUES))
def test_calls_with_values_of_all_kinds(decoder: str, encode: Encoder, calls: list[Call]) -> None:
    found = DECODERS[decoder](encode(calls), ())
    assert found.malformed is None
    assert without_ids(found) == calls


@pytest.mark.parametrize(
    ("decoder", "encode", "values"),
    [
        ("api_blend_topv2", encoders.topv2, QUOTED | st.none()),
        ("api_blend_sgd", encoders.sgd, WORDS),
        ("api_blend_toolqa", encoders.toolqa, WORDS),
        ("api_blend_atis", encoders.atis, st.lists(st.text(), max_size=2)),
    ],
)
@given(data=st.data())
def test_calls_with_the_values_of_the_format(
    decoder: str, encode: Encoder, values: st.SearchStrategy[Json], data: st.DataObject
) -> None:
    calls = data.draw(calls_of(NAMES, values))
    assert DECODERS[decoder](encode(calls), ()) == Calls(tuple(calls))


@given(calls_of(NAMES, VALUES))
def test_arguments_by_position(calls: list[Call]) -> None:
    unique = list({call.name: call for call in calls}.values())
    tools = [Tool(call.name, parameters={"properties": dict.fromkeys(call.arguments, True)}) for call in unique]
    found = DECODERS["toolbench"](encoders.toolbench(unique), tools)
    assert found.malformed is None
    assert list(found.calls) == unique
