"""Broken JavaScript that the official decoder's older parser still reads."""

from __future__ import annotations

import pytest

from pytest_fcall.decoding.bfcl import Undecodable, decode_prompt


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
