from __future__ import annotations

from dataclasses import replace

from pytest_fcall.backends.local.answerer import GeneratedText
from pytest_fcall.core import Tool
from tests.unit.backends.local.asking import request
from tests.unit.backends.local.engines import spelling


def test_samples_by_lot_have_seeds_of_their_own() -> None:
    answerer = spelling({})
    drawn = [answerer.prompt(request("x", sample, temperature=1, seed=7)).settings["seed"] for sample in range(3)]
    likely = [answerer.prompt(request("x", sample, seed=7)).settings["seed"] for sample in range(3)]
    assert (drawn, likely) == ([7, 8, 9], [7, 7, 7])


def test_no_form_of_calls_is_looked_for_where_no_tools_were_told() -> None:
    answerer = spelling({})
    plain = request("x")
    assert answerer.reply(plain, GeneratedText("x", 1, 1)).decoder is None
    assert answerer.reply(replace(plain, tools=(Tool("add"),)), GeneratedText("x", 1, 1)).decoder == "json"
