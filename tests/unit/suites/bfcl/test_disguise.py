from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.core import Calls, Case, FaultyCase, Json, Reply
from pytest_fcall.core.reply import Call
from pytest_fcall.suites.bfcl.disguise import disguise_row
from pytest_fcall.suites.bfcl.figures import FALL, suite_figures
from pytest_fcall.suites.bfcl.suite import BfclSuite
from tests.bfcl_data import PACK, SAIL, question, truth, write_category, write_leaderboard
from tests.unit.suites.bfcl.rows import SUM, WEATHER, case_row, forecast


def hidden(**changed: Json) -> dict[str, Any]:
    return disguise_row({**case_row(forecast(city=["Oslo"])), **changed})


def test_functions_have_other_names_of_the_same_words_and_right_calls_have_them_too() -> None:
    row = hidden()
    assert sorted(each["name"] for each in row["function"]) == ["do_sum", "forecast_weather"]
    assert row["ground_truth"] == [{"forecast_weather": {"city": ["Oslo"]}}]


@pytest.mark.parametrize(
    ("name", "new"),
    [
        ("get_weather", "weather_get"),
        ("math.gcdOf", "gcd_of_math"),
        ("HTTPClient", "client_http"),
        ("sum", "do_sum"),
        ("do_do", "do_do_again"),
        ("+", "do_+"),
    ],
)
def test_a_new_name_has_all_words_of_the_old_one(name: str, new: str) -> None:
    (function,) = hidden(function=[{**SUM, "name": name}])["function"]
    assert function["name"] == new


def test_two_functions_never_get_one_name() -> None:
    functions: Json = [{**SUM, "name": name} for name in ("a_b", "a.b", "aB", "b_a")]
    names = [each["name"] for each in hidden(function=functions)["function"]]
    assert len({*names}) == 4
    assert not {*names} & {"a_b", "a.b", "aB", "b_a"}


def test_functions_parameters_and_choices_have_another_order_which_is_the_same_each_time() -> None:
    row = hidden()
    assert [each["name"] for each in row["function"]] == ["do_sum", "forecast_weather"]
    weather = row["function"][1]["parameters"]
    published = ["city", "days", "unit", "heights", "place"]
    assert [*weather["properties"]] != published
    assert sorted(weather["properties"]) == sorted(published)
    assert weather["properties"]["unit"]["enum"] == ["fahrenheit", "celsius"]
    assert json.dumps(hidden()) == json.dumps(row)


def test_descriptions_are_in_other_words_and_name_functions_by_their_new_names() -> None:
    told = "Like weather.forecast, but not weather.forecasts."
    row = hidden(function=[WEATHER, {**SUM, "description": told}])
    assert row["function"][0]["description"] == "Purpose: Like forecast_weather, but not weather.forecasts."
    assert row["function"][1]["parameters"]["properties"]["city"]["description"] == "Meaning: Where."


def test_a_question_that_names_a_function_names_it_anew_but_keeps_common_words() -> None:
    question = [[{"role": "user", "content": "By weather.forecast, and sum it up. Use weather.forecast."}]]
    asked = hidden(question=question)["question"]
    assert asked == [[{"role": "user", "content": "By forecast_weather, and sum it up. Use forecast_weather."}]]


@given(names=st.lists(st.text(min_size=1), min_size=1, unique=True))
def test_whatever_the_names_are_all_differ_afterwards(names: list[str]) -> None:
    row = hidden(function=[{**SUM, "name": name} for name in names], ground_truth=[{names[0]: {"numbers": [[1]]}}])
    new = [each["name"] for each in row["function"]]
    assert len({*new}) == len(names)
    assert not {*new} & {*names}
    assert {*row["ground_truth"][0]} <= {*new}


def test_a_part_in_disguise_has_ids_and_a_category_of_its_own_and_the_rules_of_the_published_one(
    tmp_path: Path,
) -> None:
    folder = write_leaderboard(tmp_path)
    published = [case for case in BfclSuite().cases("simple_python", folder) if isinstance(case, Case)]
    found = [case for case in BfclSuite().cases("disguised_simple_python", folder) if isinstance(case, Case)]
    assert [case.id for case in found] == [f"disguised_{case.id}" for case in published]
    assert {case.category for case in found} == {"disguised_simple_python"}
    case = found[0]
    assert case.judge is not None
    (tool,) = case.tools
    right = Calls((Call("do_sail", {"port": "Oslo", "crew": 0}),))
    assert tool.name == "do_sail"
    assert case.judge(case, Reply(""), right).valid
    assert not case.judge(case, Reply(""), Calls((Call("sail", {"port": "Oslo", "crew": 0}),))).valid


def test_a_row_that_cannot_be_disguised_is_a_case_that_errs(tmp_path: Path) -> None:
    nameless: Json = {"description": "No name."}
    ids = ("simple_python_0", "simple_python_1")
    write_category(
        tmp_path,
        "simple_python",
        [question(ids[0], "Sail.", nameless), question(ids[1], "Sail.", SAIL, PACK)],
        [truth(each, {"sail": {}}) for each in ids],
    )
    faulty, sound = BfclSuite().cases("disguised_simple_python", tmp_path)
    assert isinstance(faulty, FaultyCase)
    assert isinstance(sound, Case)


def test_the_fall_is_over_the_categories_that_were_asked_both_ways_with_its_interval() -> None:
    tallies = {
        "simple_python": (90, 100),
        "disguised_simple_python": (80, 100),
        "multiple": (10, 10),
        "disguised_parallel": (0, 10),
    }
    (fall,) = [each for each in suite_figures(tallies) if each.name == FALL]
    assert fall.share == pytest.approx(0.1)
    assert fall.note == "95 %: 0.1 to 19.9, over 100 questions"


def test_no_score_of_the_leaderboard_counts_answers_in_disguise() -> None:
    published = {"simple_python": (90, 100)}
    both = [*suite_figures({**published, "disguised_simple_python": (0, 100)})]
    assert [each for each in both if each.name != FALL] == suite_figures(published)
    assert suite_figures({"disguised_simple_python": (1, 2)}) == []
