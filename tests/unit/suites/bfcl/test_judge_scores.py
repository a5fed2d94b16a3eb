from __future__ import annotations

import pytest

from pytest_fcall.core import Json
from pytest_fcall.suites.bfcl.profile_differences import profile_difference
from tests.unit.suites.bfcl.rows import case, decoded, fc, forecast, prompt, scored, verdicts

OSLO = forecast(city=["Oslo"], unit=["celsius", ""])
SUMS = [{"sum": {"numbers": [[1, 2]]}}, {"sum": {"numbers": [[1, 2], [3, 4]]}}]


@pytest.mark.parametrize(
    ("answer", "official", "strict"),
    [
        pytest.param(decoded(forecast(city="Oslo")), True, True, id="right"),
        pytest.param(decoded(forecast(city="Bergen")), False, False, id="wrong"),
        pytest.param(decoded(), False, False, id="no_call"),
        pytest.param(decoded(forecast(city="Oslo", days=1)), False, True, id="a_default_spelled_out"),
        pytest.param(decoded(forecast(city="oslo")), True, True, id="case_does_not_count"),
        pytest.param(decoded(forecast(city="O-s.l,o")), True, False, id="punctuation_counts"),
        pytest.param(decoded(forecast(city="Oslo", unit="Celsius")), True, False, id="an_enumeration_is_exact"),
        pytest.param(fc(("weather_forecast", {"city": "Oslo"})), True, True, id="a_name_without_its_dot"),
        pytest.param(fc(("weather.forecast", {"city": "Oslo"})), False, True, id="a_name_with_its_dot"),
        pytest.param(fc(("Weather_Forecast", {"city": "Oslo"})), False, False, id="another_name"),
        pytest.param(prompt("[weather.forecast(city='Oslo')]"), True, True, id="python"),
        pytest.param(prompt("[weather_forecast(city='Oslo')]"), False, False, id="no_wire_took_the_dot"),
        pytest.param(prompt("```python\n[weather.forecast(city='Oslo')]\n```"), False, True, id="fenced"),
        pytest.param(prompt("[weather.forecast('Oslo')]"), False, True, id="without_the_argument's_name"),
        pytest.param(prompt("I do not know."), False, False, id="prose"),
    ],
)
def test_both_profiles_judge(answer: dict[str, Json], official: bool, strict: bool) -> None:
    assert verdicts(case(OSLO), answer) == (official, strict)


@pytest.mark.parametrize(
    ("answer", "official", "strict"),
    [
        pytest.param(prompt("There is nothing to call for."), True, True, id="prose"),
        pytest.param(fc(), True, True, id="no_native_call"),
        pytest.param({"style": "FC", "raw": "Sorry."}, True, True, id="native_prose"),
        pytest.param({"style": "FC", "raw": ["Sorry."]}, True, True, id="native_prose_in_a_list"),
        pytest.param({"style": "FC", "raw": [{}]}, True, False, id="a_call_without_a_name"),
        pytest.param({"style": "FC", "raw": None}, True, False, id="nothing_at_all"),
        pytest.param({"style": "FC", "raw": ""}, True, False, id="an_empty_text"),
        pytest.param({"style": "FC", "raw": [{"sum": "{"}]}, True, False, id="a_broken_call"),
        pytest.param(prompt("[sum(numbers=[1, 2]"), True, False, id="an_unfinished_call"),
        pytest.param(prompt("```python\n[sum(numbers=[1])]\n```"), True, False, id="a_fenced_call"),
        pytest.param(prompt("[sum(numbers=[1])]"), False, False, id="a_call"),
    ],
)
def test_only_a_clean_abstention_is_one(answer: dict[str, Json], official: bool, strict: bool) -> None:
    assert verdicts(case(category="irrelevance"), answer) == (official, strict)


@pytest.mark.parametrize(
    ("answer", "official", "strict"),
    [
        pytest.param(decoded({"sum": {"numbers": [1]}}), True, True, id="a_call"),
        pytest.param(decoded({"sum": {"numbers": ["1"]}}), True, False, id="against_the_schema"),
        pytest.param(decoded({"product": {}}), True, False, id="of_a_tool_that_was_not_offered"),
        pytest.param(decoded(), False, False, id="no_call"),
    ],
)
def test_any_call_that_could_be_made_will_do(answer: dict[str, Json], official: bool, strict: bool) -> None:
    assert verdicts(case(category="live_relevance"), answer) == (official, strict)


def test_calls_are_paired_as_they_fit_best() -> None:
    parallel = case(*reversed(SUMS), category="parallel")
    one, other = {"sum": {"numbers": [1, 2]}}, {"sum": {"numbers": [3, 4]}}
    assert verdicts(parallel, decoded(other, one)) == (True, True)
    assert verdicts(parallel, decoded(one, other)) == (False, True)


@pytest.mark.parametrize(
    "said",
    [None, 3, "text", [3], [[]], [{}], [{"f": 3}], [{"": {}}], [{"f": {}, "g": {}}], [{"f": {"x": float("nan")}}]],
)
@pytest.mark.parametrize("style", ["FC", "prompt", "calls"])
@pytest.mark.parametrize("category", ["simple_python", "parallel", "irrelevance", "live_relevance"])
def test_whatever_stands_in_a_row_is_judged(said: Json, style: str, category: str) -> None:
    judged = case(*([] if "relevance" in category else [OSLO]), category=category)
    row: dict[str, Json] = {"style": style, "raw": said, "decoded": said}
    found = scored(judged, row)
    agree = found.official.ruling.valid == found.strict.verdict.valid
    assert (profile_difference(judged, found) is None) == agree


@pytest.mark.parametrize("odd", [b"bytes", 1j, {None: 1}, float("inf"), {("a",): 1}])
def test_what_json_cannot_say_is_malformed(odd: object) -> None:
    from pytest_fcall.suites.bfcl.answers import BfclAnswer
    from pytest_fcall.suites.bfcl.judge import score_answer

    found = score_answer(case(OSLO), BfclAnswer("decoded", [{"weather.forecast": {"city": odd}}]))
    assert [reason.kind for reason in found.strict.verdict.reasons] == ["malformed"]


def test_a_row_shows_both_verdicts() -> None:
    assert scored(case(OSLO), decoded(forecast(city=7))).as_row() == {
        "valid": False,
        "error_type": "type_error:simple",
        "strict_valid": False,
        "strict_reasons": [
            {
                "kind": "wrong_type",
                "path": "calls[0].args.city",
                "message": "`city` must be a string, not the integer 7",
            }
        ],
    }
