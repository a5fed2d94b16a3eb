from __future__ import annotations

from string import ascii_lowercase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.backends.tool_prompts import STYLES
from pytest_fcall.core import Call, Json
from pytest_fcall.decoding.decoders import DECODERS

BARE = ("bfcl_json", "bfcl_json_tagged")
IN_XML = tuple(style for style in STYLES if "xml" in style)
OTHERS = tuple(style for style in STYLES if style not in (*BARE, *IN_XML, "bfcl_java", "bfcl_javascript"))

TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["C"]), max_size=20)
WORDS = st.tuples(*[st.text(ascii_lowercase, min_size=1, max_size=4)] * 2).map("_".join)
PLAIN: st.SearchStrategy[Json] = (
    st.none() | st.booleans() | st.integers(-(10**15), 10**15) | st.floats(allow_nan=False, allow_infinity=False)
)


def nested(text: st.SearchStrategy[str]) -> st.SearchStrategy[Json]:
    return st.recursive(
        PLAIN | text,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
        max_leaves=6,
    )


def calls(values: st.SearchStrategy[Json]) -> st.SearchStrategy[list[Call]]:
    made = st.builds(Call, WORDS, st.dictionaries(WORDS, values, max_size=3))
    return st.lists(made, min_size=1, max_size=3)


def read(style: str, made: list[Call]) -> list[Call]:
    """What the style's decoder makes of what the style writes."""
    return list(DECODERS[style](STYLES[style].calls_as_text(made), ()).calls)


@pytest.mark.parametrize("style", OTHERS)
@given(made=calls(nested(TEXT)))
def test_what_is_written_is_read_as_the_same_calls(style: str, made: list[Call]) -> None:
    assert read(style, made) == made


@pytest.mark.parametrize("style", IN_XML)
@given(made=calls(nested(TEXT.map(str.strip))))
def test_xml_tells_all_but_white_space_around_a_text(style: str, made: list[Call]) -> None:
    assert read(style, made) == made


@pytest.mark.parametrize("style", BARE)
@given(made=calls(PLAIN | TEXT.filter(lambda text: not set("[]{}") & set(text))))
def test_the_leaderboard_s_json_tells_values_without_brackets(style: str, made: list[Call]) -> None:
    assert read(style, made) == made
