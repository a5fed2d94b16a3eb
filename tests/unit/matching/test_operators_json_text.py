from __future__ import annotations

import json
import re
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_fcall.core import Json
from pytest_fcall.matching.operators import json_text
from pytest_fcall.matching.operators.json_text import json_values_in
from tests.by_night import by_night

FOUND: dict[str, list[Json]] = {
    '{"a": 1}': [{"a": 1}],
    'Here:\n```json\n{"a": [1, 2]}\n```\nDone.': [{"a": [1, 2]}],
    'first [1], then {"b": null}': [[1], {"b": None}],
    "{'l': ['b', 'a'], 'ok': True, 'no': None}": [{"l": ["b", "a"], "ok": True, "no": None}],
    "{'say': 'he said \"no\"', \"it's\": 1}": [{"say": 'he said "no"', "it's": 1}],
    r"{'a': 'it\'s', 'b': 'x\\'}": [{"a": "it's", "b": "x\\"}],
    "{'None': 'True story'}": [{"None": "True story"}],
    'in {braces} and {"a": 1}': [{"a": 1}],
    '{"a": {"b": {}}}': [{"a": {"b": {}}}],
    '{{"a": 1}}': [{"a": 1}],
    '{"a": NaN} {"b": 1}': [{"b": 1}],
    "{'a': 1": [],
    '{"a": "}"}': [{"a": "}"}],
    "{'a': ['It's late', 'O'Neil'], 'b': 'x'}": [{"a": ["It's late", "O'Neil"], "b": "x"}],
    "{'a':'b','c':'d'}": [{"a": "b", "c": "d"}],
    "{'a': 'It's": [],
    "{'a': Joe's}": [],
    "{1: 2}": [],
    "7": [],
    "": [],
    "{'a': __import__('os')}": [],
}


@pytest.mark.parametrize(("text", "values"), FOUND.items(), ids=ascii)
def test_the_values_of_a_text_are_its_objects_and_lists(text: str, values: list[Json]) -> None:
    assert json_values_in(text) == values


PIECE_AS_JSON = json_text._piece_as_json
RAW_DECODE = json.JSONDecoder.raw_decode
PIECES = [*"{}[]'\"\\,:1- \n", '"a"', '"a":', "NaN", "None", "[1]", '{"a": 1}', "1" * 4_400]

PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**9), 10**9)
    | st.text(st.characters(codec="utf-8", categories=["L", "P", "Zs"])),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=3), inside, max_size=3),
    max_leaves=10,
)
PROSE = st.text(st.sampled_from("abc .,:`\n"), max_size=20)


@given(st.dictionaries(st.text(max_size=3), PLAIN, max_size=3) | st.lists(PLAIN, max_size=3), PROSE, PROSE)
def test_a_value_is_found_in_any_prose(value: Any, before: str, after: str) -> None:
    assert json_values_in(f"{before}{json.dumps(value)}{after}") == [value]
    assert json_values_in(f"{before}{json.dumps(value, ensure_ascii=False, indent=1)}{after}") == [value]


@given(st.dictionaries(st.text(st.sampled_from("ab'\"\\ {}[]"), max_size=4), PLAIN, max_size=3))
def test_what_python_writes_is_read_as_well(value: dict[str, Any]) -> None:
    text = repr(value)
    if "\\x" not in text and "\\U" not in text:
        assert json_values_in(text) == [value]


@given(st.text(st.sampled_from("{}[]'\",:\\ab1 \nNone")))
def test_any_text_holds_values_or_none(text: str) -> None:
    for value in json_values_in(text):
        assert isinstance(value, dict | list)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("piece", ["{", "[", "{'", '{"a":', "['", "'", "[1,", "{'a':{", "[]", "\\'{"])
@pytest.mark.parametrize("size", [10_000, by_night(1_000_000)])
def test_a_long_text_takes_no_longer_for_what_it_is_made_of(piece: str, size: int) -> None:
    json_values_in(piece * (size // len(piece)))


@given(st.text(st.sampled_from("{}[]'\",:\\ab1 \n"), min_size=1, max_size=12))
@example("[")
@example("['[',")
@example("'['[',[")
@example('"["\n')
@example("'[a'b',")
def test_the_pieces_of_a_text_are_read_for_all_of_its_brackets_at_once(repeated: str) -> None:
    text = f"[{repeated * (3_000 // len(repeated))}"
    read = 0

    def piece_as_json(piece: re.Match[str]) -> str:
        nonlocal read
        read += 1
        return PIECE_AS_JSON(piece)

    with patch.object(json_text, "_piece_as_json", piece_as_json):
        json_values_in(text)
    assert read <= 3 * len(text)  # outside of all quotes, and within those of each kind


@given(st.text(st.sampled_from('{}[]",:\\ab1 \n'), min_size=1, max_size=12))
@example("[")
@example('"a",')
@example('["')
@example('["a\\"')
@example("1,NaN,")
@example(f"[{'1' * 5_000}],")
def test_json_that_breaks_off_is_read_once_for_all_of_its_brackets(repeated: str) -> None:
    text = f"{'[' * 30}{repeated * (20_000 // len(repeated))}"
    read = 0

    def raw_decode(decoder: json.JSONDecoder, text: str, idx: int) -> tuple[Any, int]:
        nonlocal read
        try:
            value, end = RAW_DECODE(decoder, text, idx)
        except ValueError as error:
            read += getattr(error, "pos", len(text)) - idx
            raise
        read += end - idx
        return value, end

    with patch.object(json.JSONDecoder, "raw_decode", raw_decode):
        json_values_in(text)
    assert read <= 4 * len(text)


@given(st.lists(st.sampled_from(PIECES), max_size=20).map("".join))
def test_to_try_no_bracket_again_changes_no_value(text: str) -> None:
    with patch.object(json_text, "_open_brackets", return_value=set()):
        values = json_values_in(text)
    assert json_values_in(text) == values


def test_a_value_in_pythons_notation_may_have_ten_thousand_characters() -> None:
    for characters, found in ((10_000, 1), (10_001, 0)):
        text = f"['{'a' * (characters - 4)}']"
        assert len(json_values_in(f"Here it is: {text} That is all.")) == found


def test_two_hundred_brackets_are_tried_and_no_more() -> None:
    assert json_values_in("{" * 199 + "[1]") == [[1]]
    assert json_values_in("{" * 200 + "[1]") == []
