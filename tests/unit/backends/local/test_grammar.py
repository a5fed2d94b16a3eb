"""The lists of calls that a grammar admits, as the JSON Schema that it is made from says it."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema_rs import validator_for

from pytest_fcall.backends.local.grammar import ANSWER_FORMS
from pytest_fcall.core import Json, Tool
from pytest_fcall.decoding.decoders import DECODERS

WEATHER = Tool(
    "get_weather",
    "Tell the weather",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": False},
)
RATE = Tool(
    "rate/it",
    "Rate a product",
    {"type": "object", "properties": {"stars": {"$ref": "#/$defs/stars"}}, "$defs": {"stars": {"enum": [1, 2, 3]}}},
)
TREE = Tool(
    "grow", "Grow a tree", {"type": "object", "properties": {"branch": {"$ref": "#"}, "leaf": {"type": "string"}}}
)


def call(name: str, **arguments: Json) -> dict[str, Json]:
    return {"name": name, "arguments": arguments}


@pytest.mark.parametrize(
    ("answer", "admitted"),
    [
        ([], True),
        ([call("get_weather", city="Oslo")], True),
        ([call("get_weather", city="Oslo"), call("rate/it", stars=3)], True),
        ([call("get_weather", city="Oslo")] * 8, True),
        ([call("get_weather", city="Oslo")] * 9, False),
        ([call("get_weather", city=7)], False),
        ([call("get_weather")], False),
        ([call("get_weather", city="Oslo", unit="celsius")], False),
        ([call("rate/it", stars=4)], False),
        ([call("forecast", city="Oslo")], False),
        ([call("grow", branch={"branch": {"leaf": "green"}})], True),
        ([call("grow", branch={"branch": {"leaf": 7}})], False),
        ([{"name": "get_weather"}], False),
        (call("get_weather", city="Oslo"), False),
    ],
)
def test_a_list_admits_calls_of_the_offered_tools_that_fit_their_schemas(answer: Json, admitted: bool) -> None:
    form: Any = ANSWER_FORMS["json"]([WEATHER, RATE, TREE])
    assert validator_for(form["json_schema"]).is_valid(answer) is admitted


def test_every_form_is_that_of_a_decoder() -> None:
    assert set(ANSWER_FORMS) <= set(DECODERS)


def test_marks_are_kept_out_of_the_strings_of_harmony_unless_their_length_is_limited() -> None:
    def calls(text: Json) -> list[Any]:
        tool = Tool("note", "", {"type": "object", "properties": {"text": text}})
        form: Any = ANSWER_FORMS["harmony"]([tool])
        return [each["content"] for each in form["elements"][1]["elements"] if "json_schema" in each["content"]]

    [free], [limited] = calls({"type": "string"}), calls({"type": "string", "maxLength": 9})
    assert "<|end|>" in free["excludes"]
    assert "excludes" not in limited
