"""Any text gives Calls, soon."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.core import Tool
from pytest_fcall.decoding.decoders import DECODERS
from pytest_fcall.decoding.model_text import END_TOKENS
from pytest_fcall.decoding.tagged.families import FAMILIES
from pytest_fcall.decoding.tagged.family import json_end
from tests.by_night import by_night
from tests.unit.decoding.tagged.encoders import ENCODERS
from tests.unit.decoding.tagged.test_round_trip import calls

TOOLS = [Tool("f", parameters={"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "object"}}})]
SIGNS = [
    sign
    for family in FAMILIES.values()
    for form in family.forms
    for sign in (form.opening, form.closing, *family.sections, *family.thinking)
]
BITS = ["<parameter=a>", "</parameter>", "<function=f>", "<arg_key>", "<arg_value>", "call:f{", "<escape>", "to=f", "f"]
JSON_BITS = ['{"name": "f", ', '"arguments": ', "{", "}", "[", "]", '"', "\\", ",", ":", " ", "1", "\ud800", "\x00"]
MARKUP = st.lists(st.sampled_from([*SIGNS, *BITS, *JSON_BITS, *END_TOKENS]), max_size=30).map("".join)


@pytest.mark.parametrize("family", FAMILIES)
@given(st.text(st.characters(codec=None)) | MARKUP)
def test_any_text_gives_calls(family: str, text: str) -> None:
    found = DECODERS[family](text, TOOLS)
    assert len(str(found.malformed)) < 5_000
    assert found == DECODERS[family](text, TOOLS)


@pytest.mark.parametrize("family", FAMILIES)
@given(data=st.data())
def test_a_text_with_a_piece_missing_gives_calls(family: str, data: st.DataObject) -> None:
    encode = data.draw(st.sampled_from(ENCODERS[family]))
    text = encode(data.draw(st.lists(calls(), min_size=1, max_size=2)))
    start = data.draw(st.integers(0, len(text)))
    DECODERS[family](text[:start] + text[data.draw(st.integers(start, len(text))) :], TOOLS)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("unit", ['{"a":"', "[", "<parameter=a>", "<arg_key>a</arg_key><arg_value>", "<escape>", "1"])
@pytest.mark.parametrize("size", [15_000, *map(by_night, (50_000, 500_000))])
def test_long_text_of_openings_is_read(family: str, unit: str, size: int) -> None:
    opening = FAMILIES[family].forms[0].opening
    text = (opening + unit) * (size // len(opening + unit))
    assert len(str(DECODERS[family](text, TOOLS).malformed)) < 5_000


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("{}", 2),
        ('{"a": [1, {"b": "}"}]} and so on', 22),
        ('"a\\"b" c', 6),
        ("[-1.5e+3, true, null]x", 21),
        ("{", None),
        ('{"a', None),
        ('{"a": "b\\"}', None),
        ("{a}", None),
        ("[NaN]", None),
        ("[<tool_call>]", None),
    ],
)
def test_where_json_ends(text: str, end: int | None) -> None:
    assert json_end(text, 0) == end
