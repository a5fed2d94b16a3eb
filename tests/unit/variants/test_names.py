"""Other names of tools and parameters, in everything that bears the old ones."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.core import Call, Case, Json, Operator
from pytest_fcall.core.bounded_text import glob_matches
from pytest_fcall.variants.relations.names import Names, new_parameter_names, new_tool_names, residues
from tests.unit.variants.conftest import case_of, unmeasured_reason, varied, verdict

ASKED = """
prompt: Is it warm in Oslo, in fahrenheit, for two nights?
expect: [{get_weather: {city: Oslo, unit: fahrenheit}}]
"""


def parameters_of(case: Case) -> Mapping[str, Json]:
    """The parameters of the first tool."""
    found = case.tools[0].parameters["properties"]
    assert isinstance(found, Mapping)
    return found


def names_of(case: Case, relation: str) -> Names:
    found = new_tool_names(case) if relation == "tool_names" else new_parameter_names(case)
    assert isinstance(found, Names)
    return found


def test_tools_and_what_is_expected_of_them_get_the_same_new_names() -> None:
    case = varied("tool_names", case_of(ASKED))

    assert [tool.name for tool in case.tools] == ["weather_get", "cities_list", "do_remove"]
    assert "cities_list" in case.tools[0].description
    assert verdict(case, [("weather_get", {"city": "Oslo", "unit": "fahrenheit"})]).valid
    assert not verdict(case, [("get_weather", {"city": "Oslo", "unit": "fahrenheit"})]).valid


def test_parameters_and_what_is_expected_of_them_get_the_same_new_names() -> None:
    case = varied("parameter_names", case_of(ASKED))

    weather = case.tools[0].parameters
    assert [*parameters_of(case)] == ["given_city", "given_unit", "day_start", "given_days"]
    assert weather["required"] == ["given_city"]
    assert verdict(case, [("get_weather", {"given_city": "Oslo", "given_unit": "fahrenheit"})]).valid
    assert not verdict(case, [("get_weather", {"city": "Oslo", "unit": "fahrenheit"})]).valid


def test_names_that_somebody_says_stay() -> None:
    case = case_of("prompt: Please remove the city Oslo.\nexpect: [{remove: {city: Oslo}}]")

    assert [tool.name for tool in varied("tool_names", case).tools] == ["weather_get", "cities_list", "remove"]
    assert "city" in parameters_of(varied("parameter_names", case))


def test_a_name_of_one_word_in_the_system_prompt_stays_and_one_of_several_changes_there() -> None:
    case = case_of(
        "system: Use get_weather, never remove.\nprompt: Warm in Oslo?\nexpect: [{get_weather: {city: Oslo}}]"
    )

    changed = varied("tool_names", case)

    assert changed.turns[0].messages[0]["content"] == "Use weather_get, never remove."
    assert changed.tools[2].name == "remove"


def test_globs_of_forbidden_tools_forbid_the_same_tools() -> None:
    case = case_of(
        "prompt: Warm in Oslo?\n"
        "expect: {calls: [{get_weather: {city: Oslo}}], never: ['list_*', {remove: {city: Rome}}]}"
    )

    changed = varied("tool_names", case)

    right = ("weather_get", {"city": "Oslo"})
    assert verdict(changed, [right]).valid
    for forbidden in (("cities_list", {"country": "Norway"}), ("do_remove", {"city": "Rome"})):
        assert [reason.kind for reason in verdict(changed, [right, forbidden]).reasons].count("forbidden_call") == 1


def test_rules_hold_for_the_same_parameters() -> None:
    case = case_of(
        "prompt: Warm in Oslo?\nexpect: [{get_weather: {city: oslo}}]",
        'match:\n  "*.city": {strings: relaxed}\n  "get_weather.unit": {$ignore: true}',
    )

    for relation in ("tool_names", "parameter_names"):
        names = names_of(case, relation)
        call = names.call(Call("get_weather", {"city": "OSLO", "unit": "celsius"}))
        assert verdict(varied(relation, case), [(call.name, call.arguments)]).valid


def test_calls_in_earlier_messages_references_stubs_and_the_choice_of_a_tool_follow() -> None:
    case = case_of(
        """
        messages:
          - {role: user, content: Warm there?}
          - role: assistant
            tool_calls:
              - {id: c1, function: {name: get_weather, arguments: '{"city": "Oslo"}'}}
          - {role: tool, tool_call_id: c1, name: get_weather, content: cold}
          - {role: user, content: And the others?}
        settings: {tool_choice: list_cities}
        stubs: {list_cities: [Bergen]}
        expect:
          - list_cities: {country: Norway}
            as: found
          - then:
              - get_weather: {city: {$from: found.args.country}}
        """.replace("\n        ", "\n")
    )

    changed = varied("parameter_names", varied("tool_names", case))

    calls: Any = changed.turns[0].messages[1]["tool_calls"]
    call = calls[0]["function"]
    assert (call["name"], json.loads(call["arguments"])) == ("weather_get", {"given_city": "Oslo"})
    assert changed.turns[0].messages[2]["name"] == "weather_get"
    assert changed.settings["tool_choice"] == {"type": "function", "function": {"name": "cities_list"}}
    assert changed.conversation is not None
    assert [*changed.conversation.stubs] == ["cities_list"]
    assert changed.turns[0].expect is not None
    _, second = changed.turns[0].expect.calls
    assert second.arguments is not None
    reference = second.arguments["given_city"]
    assert isinstance(reference, Operator)
    assert reference.operand == "found.args.given_country"


def test_what_carries_calls_out_knows_the_old_names_only() -> None:
    text = "prompt: Warm?\nenvironment: shop.fake:make\nexpect: [{get_weather: {city: Oslo}}]"
    assert "environment" in unmeasured_reason("tool_names", case_of(text))
    assert "profile bfcl" in unmeasured_reason(
        "tool_names", case_of("prompt: Warm?\nprofile: bfcl\nexpect: [{get_weather: {city: Oslo}}]")
    )


@given(
    city=st.sampled_from(["Oslo", "oslo", "Rome"]),
    unit=st.sampled_from([None, "celsius", "fahrenheit"]),
    tool=st.sampled_from(["get_weather", "remove", "list_cities", "nothing"]),
    relation=st.sampled_from(["tool_names", "parameter_names"]),
)
def test_an_answer_is_judged_alike_under_new_names(city: str, unit: str | None, tool: str, relation: str) -> None:
    case = case_of(ASKED)
    answer = Call(tool, {"city": city} | ({"unit": unit} if unit else {}))
    changed, renamed = varied(relation, case), names_of(case, relation).call(answer)

    before = verdict(case, [(answer.name, answer.arguments)])
    after = verdict(changed, [(renamed.name, renamed.arguments)])

    assert (before.valid, [reason.kind for reason in before.reasons]) == (
        after.valid,
        [reason.kind for reason in after.reasons],
    )


@given(st.text("ab.*", max_size=8), st.text("ab.", max_size=5), st.text("ab.", max_size=5))
def test_a_glob_matches_a_text_where_what_is_left_of_it_matches_the_rest(glob: str, start: str, rest: str) -> None:
    assert glob_matches(glob, start + rest) is any(glob_matches(each, rest) for each in residues(glob, start))
