"""The table of docs/reference/decoders.md, run through the decoders."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_fcall.core import Calls, Reply
from pytest_fcall.decoding.decoders import DECODERS, decode
from pytest_fcall.decoding.tagged.families import FAMILIES
from tests.unit.decoding.tools import TOOLS

PAGE = (Path(__file__).parents[2] / "docs/reference/decoders.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `(\w+)` \| ((?:[^|]|\\\|)*) \| `((?:[^`|]|\\\|)*)` \|$", re.MULTILINE)
ROWS = {name: (who, text.replace(r"\|", "|").replace(r"\n", "\n")) for name, who, text in ROW.findall(PAGE)}


def read(name: str) -> Calls:
    return decode(Reply(ROWS[name][1], decoder=name), TOOLS)


@pytest.mark.parametrize("name", ROWS)
def test_the_example_of_each_decoder_is_such_a_call(name: str) -> None:
    calls = read(name)
    assert calls.malformed is None
    for call in calls.calls:
        assert call.name == "get_weather"
        assert call.arguments["city"] in ("Oslo", ["Oslo"])
    assert calls.calls


@pytest.mark.parametrize("name", DECODERS)
def test_every_decoder_is_named(name: str) -> None:
    assert f"`{name}`" in PAGE


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_is_told_with_its_models(name: str) -> None:
    assert ROWS[name][0] == FAMILIES[name].models
