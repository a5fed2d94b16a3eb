"""Broken JavaScript that the official decoder's older parser still reads."""

from __future__ import annotations

import pytest

from pytest_fcall.decoding.bfcl.decoders import decode_prompt
from pytest_fcall.decoding.bfcl.official_form import Undecodable


@pytest.mark.parametrize(
    ("text", "decoded"),
    [
        ("f(a=1, b='x')", [{"f": {"a": "1", "b": "x"}}]),
        (" <  null geo.find", None),
        ("f(a=<this/>)", [{"f": {"a": "<this/>"}}]),
    ],
)
def test_a_reserved_word_names_a_tag_where_a_value_may_stand(text: str, decoded: object) -> None:
    assert decode_prompt(text, "javascript") == decoded


def test_behind_a_value_a_tag_begins_nothing() -> None:
    with pytest.raises(Undecodable):
        decode_prompt("a < null b.c", "javascript")


@pytest.mark.parametrize(
    ("text", "decoded"),
    [
        ("else", None),
        ("x = case", None),
        ("f(1); finally", [{"f": {}}]),
        ("default\nf(a=1)", [{"f": {"a": "1"}}]),
        ("x = while // until\nf(a=1)", [{"f": {"a": "1"}}]),
    ],
)
def test_a_reserved_word_is_a_name_also_where_a_statement_ends(text: str, decoded: object) -> None:
    assert decode_prompt(text, "javascript") == decoded


@pytest.mark.parametrize(
    ("text", "decoded"),
    [
        ("findgeo.find else", None),
        ("validateUserInput break", None),
        ("using", None),
        ("f(using, a=using)", [{"f": {None: "using", "a": "using"}}]),
    ],
)
def test_a_reserved_word_behind_the_last_name_is_another_name(text: str, decoded: object) -> None:
    assert decode_prompt(text, "javascript") == decoded


@pytest.mark.parametrize("text", ["f(a=1) else", "validate finally;", "validateUserInput while", "using x"])
def test_where_two_names_make_no_sense_a_reserved_word_does_not_either(text: str) -> None:
    with pytest.raises(Undecodable):
        decode_prompt(text, "javascript")


@pytest.mark.parametrize("text", ["while", "a\nin", "f(a=1)\ninstanceof"])
def test_a_word_that_begins_or_joins_statements_is_none(text: str) -> None:
    with pytest.raises(Undecodable):
        decode_prompt(text, "javascript")
