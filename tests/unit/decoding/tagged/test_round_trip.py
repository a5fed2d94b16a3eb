"""What an encoder writes, the decoder of its family reads."""

from __future__ import annotations

from dataclasses import replace
from string import ascii_lowercase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.core import Call, Json, Tool
from pytest_fcall.decoding.decoders import DECODERS
from tests.unit.decoding.tagged.encoders import ENCODERS, Encoder

# Every parameter is declared, since formats that write values as text need to be told which are strings.
TYPES = ("string", "integer", "number", "boolean", "null", "array", "object")
PROPERTIES: dict[str, Json] = {f"a_{kind}": {"type": kind} for kind in TYPES}
TOOLS = [Tool(name, parameters={"type": "object", "properties": PROPERTIES}) for name in ("book", "shop.find-flights")]
KEYS = st.text(f"{ascii_lowercase}_", min_size=1, max_size=8)
# Tokens of a family stand in no text of its models, and no format can say them.
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="<>|[]")) | st.sampled_from(
    [
        "",
        " ",
        "3",
        "true",
        "null",
        '{"a": 1}',
        "two\nlines",
        '"quoted"',
        "back\\slash",
        "it's",
        "東京",
        "a; b",
        "}",
        "{",
    ]
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=8
)
OF_TYPE: dict[str, st.SearchStrategy[Json]] = {
    "string": TEXTS,
    "integer": st.integers(),
    "number": st.floats(allow_nan=False, allow_infinity=False),
    "boolean": st.booleans(),
    "null": st.none(),
    "array": st.lists(VALUES, max_size=3),
    "object": st.dictionaries(KEYS, VALUES, max_size=3),
}


@st.composite
def calls(draw: st.DrawFn) -> Call:
    tool = draw(st.sampled_from(TOOLS))
    kinds = draw(st.lists(st.sampled_from(TYPES), unique=True))
    return Call(tool.name, {f"a_{kind}": draw(OF_TYPE[kind]) for kind in kinds})


@pytest.mark.parametrize(
    ("name", "encode"),
    [pytest.param(name, each, id=f"{name}-{n}") for name, all_ in ENCODERS.items() for n, each in enumerate(all_)],
)
@given(made=st.lists(calls(), max_size=3))
def test_calls_survive_the_way_through_text(name: str, encode: Encoder, made: list[Call]) -> None:
    text = encode(made)
    found = DECODERS[name](text, TOOLS)
    assert found.malformed is None, text
    assert tuple(replace(call, id=None) for call in found.calls) == tuple(made), text
