from __future__ import annotations

import pytest

from pytest_fcall.core import Json
from pytest_fcall.suites.bfcl.answers import read_answer
from pytest_fcall.suites.bfcl.cases import BfclCase
from pytest_fcall.suites.bfcl.judge import strict_reading
from tests.unit.suites.bfcl.rows import SUM, WEATHER, case, decoded, fc, forecast, prompt

OSLO = case(forecast(city=["Oslo"]))
JAVA = case(
    {"Store.put": {"key": ["a"], "count": [5]}},
    category="simple_java",
    functions=[
        {
            "name": "Store.put",
            "parameters": {
                "type": "dict",
                "properties": {"key": {"type": "String"}, "count": {"type": "integer"}},
                "required": ["key"],
            },
        }
    ],
)


def read(judged: BfclCase, row: dict[str, Json]) -> list[Json]:
    _, calls = strict_reading(read_answer(row), judged.case)
    assert calls.malformed is None
    return [{call.name: dict(call.arguments)} for call in calls.calls]


def malformed(judged: BfclCase, row: dict[str, Json]) -> str:
    _, calls = strict_reading(read_answer(row), judged.case)
    assert calls.malformed is not None
    return calls.malformed


@pytest.mark.parametrize(
    "row",
    [
        fc(("weather_forecast", {"city": "Oslo", "days": 3})),
        decoded(forecast(city="Oslo", days=3)),
        prompt("[weather.forecast(city='Oslo', days=3)]"),
        prompt("```python\n[weather.forecast(city='Oslo', days=3)]\n```"),
        prompt("Here it is:\n\n[weather.forecast(city='Oslo', days=1+2)]"),
        prompt("[weather.forecast('Oslo', 3)]"),
    ],
)
def test_one_call_is_read_whatever_its_form(row: dict[str, Json]) -> None:
    assert read(OSLO, row) == [forecast(city="Oslo", days=3)]


@pytest.mark.parametrize(
    ("row", "text"),
    [
        (prompt("Nothing fits."), "Nothing fits."),
        ({"style": "FC", "raw": "Nothing fits."}, "Nothing fits."),
        ({"style": "FC", "raw": ["Nothing", "fits."]}, "Nothing\nfits."),
        (fc(), "…"),
        (decoded(), "…"),
    ],
)
def test_what_is_said_beside_calls_is_the_text_of_the_reply(row: dict[str, Json], text: str) -> None:
    reply, calls = strict_reading(read_answer(row), OSLO.case)
    assert (reply.text, calls.calls, calls.malformed) == (text, (), None)


@pytest.mark.parametrize(
    "row",
    [
        {"style": "FC", "raw": None},
        {"style": "FC", "raw": [{}]},
        {"style": "FC", "raw": [{"a": "{}", "b": "{}"}]},
        {"style": "FC", "raw": [{"sum": "{"}]},
        {"style": "prompt", "raw": 3},
        {"style": "calls", "decoded": [3]},
        prompt("[weather.forecast(city='Oslo'"),
    ],
)
def test_what_is_no_answer_is_malformed(row: dict[str, Json]) -> None:
    assert malformed(OSLO, row)


def test_a_decoder_that_failed_on_text_has_its_text_read() -> None:
    row: dict[str, Json] = {"decoder": "other", "raw": "Rainy.", "decoded": None}
    reply, calls = strict_reading(read_answer(row), OSLO.case)
    assert (reply.text, calls.calls) == ("Rainy.", ())


def test_names_are_changed_back_only_where_one_tool_can_be_meant() -> None:
    twins = case({"a.b_c": {}}, functions=[{**SUM, "name": name} for name in ("a.b_c", "a_b.c", "d.e", "f_g", "f.g")])
    made = fc(*((name, {"numbers": [1]}) for name in ("a_b_c", "d_e", "f_g", "h_i")))
    assert [name for call in read(twins, made) if isinstance(call, dict) for name in call] == [
        "a_b_c",
        "d.e",
        "f_g",
        "h_i",
    ]


def test_names_stay_where_no_wire_took_the_dots() -> None:
    assert read(OSLO, prompt("[weather_forecast(city='Oslo')]")) == [{"weather_forecast": {"city": "Oslo"}}]


@pytest.mark.parametrize(
    "row",
    [
        prompt("[Store.put(key='a', count='5')]"),
        prompt('[Store.put(key="a", count=5)]'),
        decoded({"Store.put": {"key": '"a"', "count": "5"}}),
        fc(("Store_put", {"key": "a", "count": "5"})),
    ],
)
def test_source_text_is_read_by_the_language_of_the_case(row: dict[str, Json]) -> None:
    assert read(JAVA, row) == [{"Store.put": {"key": "a", "count": 5}}]


def test_values_that_only_python_has_are_malformed() -> None:
    assert malformed(case(forecast(city=["Oslo"]), functions=[WEATHER]), decoded(forecast(city={"__bytes__": "a"})))
