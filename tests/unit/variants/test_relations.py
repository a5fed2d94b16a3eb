"""The relations that are built in."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.core import Case, Json, Tool
from pytest_fcall.core.variants import RELATIONS, REPETITION, WORDED, Dice, WantedRelation
from pytest_fcall.variants.plan import plan_variants
from pytest_fcall.variants.relations.messages import number_words
from pytest_fcall.variants.relations.table import BUILT_IN
from pytest_fcall.variants.relations.tools import CATALOGUE
from tests.by_night import by_night
from tests.unit.variants.conftest import case_of, prompt_of, unmeasured_reason, varied, verdict

ASKED = """
system: You know the weather everywhere.
prompt: Please tell me whether it will be warm in Oslo during the following 12 days from 2026-12-24 onwards.
expect: [{get_weather: {city: Oslo, days: 12, start_day: {$date: 2026-12-24}}}]
"""
RIGHT: tuple[str, Mapping[str, Json]] = "get_weather", {"city": "Oslo", "days": 12, "start_day": "2026-12-24"}


def test_every_relation_that_is_named_has_a_function() -> None:
    assert {*RELATIONS} == {REPETITION, *WORDED, *BUILT_IN}


@pytest.mark.parametrize("relation", [name for name in BUILT_IN if not name.endswith("_names")])
def test_the_right_answer_stays_right(relation: str) -> None:
    case = case_of(ASKED)
    changed = varied(relation, case)

    assert changed != case
    assert verdict(changed, [RIGHT]).valid
    assert not verdict(changed, [("get_weather", {"city": "Rome"})]).valid


@pytest.mark.parametrize("relation", BUILT_IN)
def test_a_variant_is_the_same_each_time(relation: str) -> None:
    case = case_of(ASKED)
    assert varied(relation, case, 3) == varied(relation, case, 3)


def test_tools_come_in_another_order() -> None:
    case = case_of(ASKED)
    orders = {tuple(tool.name for tool in varied("tool_order", case, number).tools) for number in range(30)}
    assert len(orders) == 5  # all but the one that they had
    assert "second tool" in unmeasured_reason("tool_order", case_of(f"tools: {{only: [get_weather]}}\n{ASKED}"))


def test_distractors_have_nothing_to_do_with_the_question() -> None:
    case = case_of(ASKED)
    changed = varied("distractors", case)
    added = {tool.name for tool in changed.tools} - {tool.name for tool in case.tools}
    assert len(added) == 5
    assert added <= {tool.name for tool in CATALOGUE}
    moon = case_of("prompt: In which phase is the moon over Oslo?\nexpect: no_call")
    for number in range(20):
        assert "moon_phase" not in [tool.name for tool in varied("distractors", moon, number).tools]


def test_distractors_may_be_a_teams_own_and_the_nearest() -> None:
    own = (Tool("get_weather_history", "The weather of a city in the past."), Tool("boil_egg"), Tool("get_weather"))
    wanted = WantedRelation("distractors", options={"tools": 1, "near": True}, tools=own)
    names = [tool.name for tool in varied("distractors", case_of(ASKED), 0, wanted).tools]
    assert sorted(names) == ["get_weather", "get_weather_history", "list_cities", "remove"]
    assert "no further tool" in unmeasured_reason(
        "distractors", case_of(ASKED), WantedRelation("distractors", tools=own[2:])
    )
    assert "any call" in unmeasured_reason("distractors", case_of("prompt: Help me.\nexpect: any_call"))


def test_descriptions_say_the_same_in_other_words_or_nothing() -> None:
    case = case_of(ASKED)
    words, none = varied("descriptions", case).tools[0], varied("no_descriptions", case).tools[0]
    assert "Current weather of a city." in words.description != case.tools[0].description
    assert none.description == ""
    assert "description" not in str(none.parameters)
    bare = case_of("prompt: Hi.\nexpect: no_call\ntools: {only: []}")
    assert unmeasured_reason("no_descriptions", bare) == "it has no tool"


def test_a_parameter_that_is_called_description_stays() -> None:
    tool = Tool("note", "", {"type": "object", "properties": {"description": {"type": "string", "description": "x"}}})
    case = case_of(ASKED)
    (changed,) = varied("no_descriptions", Case(case.id, case.location, case.turns, (tool,))).tools
    assert changed.parameters == {"type": "object", "properties": {"description": {"type": "string"}}}


def test_each_tool_takes_one_more_parameter_that_must_be_left_out() -> None:
    case = case_of(ASKED)
    changed = varied("optional_parameters", case)
    for before, after in zip(case.tools, changed.tools, strict=True):
        (added,) = {*after.parameters["properties"]} - {*before.parameters["properties"]}  # type: ignore[misc]
        assert added not in (after.parameters.get("required") or ())  # type: ignore[operator]
        assert not verdict(changed, [(RIGHT[0], {**RIGHT[1], added: "x"})]).valid


def test_the_system_prompt_moves_to_the_user() -> None:
    (message,) = varied("system_position", case_of(ASKED)).turns[0].messages
    assert message["role"] == "user"
    assert str(message["content"]).startswith("You know the weather everywhere.\n\nPlease tell me")
    assert unmeasured_reason("system_position", case_of("prompt: Hi.\nexpect: no_call")) == "it has no system prompt"


def test_small_talk_comes_before_the_question_and_after_the_system_prompt() -> None:
    messages = varied("turns_before", case_of(ASKED)).turns[0].messages
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "user"]


def test_white_space_between_words_only() -> None:
    case = case_of('prompt: Note "two  blanks" and `a b` for me and for you.\nexpect: no_call')
    changed = prompt_of(varied("white_space", case))
    assert changed.split() == prompt_of(case).split()
    assert changed != prompt_of(case)
    assert '"two  blanks"' in changed
    assert "`a b`" in changed


@pytest.mark.parametrize("relation", ["typos", "letter_case"])
def test_words_that_the_answer_needs_stay(relation: str) -> None:
    case = case_of(
        """
        prompt: Tell Oslo's weather to "Anna Berg", in celsius, for reference AB-17, see get_weather or `remove it`.
        expect: [{get_weather: {city: {$regex: "oslo.*"}, unit: celsius}}]
        """.replace("\n        ", "\n")
    )
    for number in range(40):
        changed = prompt_of(varied(relation, case, number))
        for kept in ("Oslo's", '"Anna Berg"', "celsius", "AB-17", "get_weather", "`remove it`"):
            assert kept in changed


@pytest.mark.parametrize("length", [50_000, by_night(200_000)])
def test_long_texts_take_no_longer_than_their_length(length: int) -> None:
    for text in ("あ" * length, " " * length + "a", "a" * length, '"' * (length // 4)):
        case = case_of(f"prompt: '{text} warm tomorrow'\nexpect: no_call")
        for relation in ("typos", "white_space", "punctuation", "letter_case", "numbers", "dates"):
            BUILT_IN[relation].vary(case, Dice("it"), WantedRelation(relation))


def test_typing_errors_are_few_and_each_in_a_word() -> None:
    case = case_of(ASKED)
    for number in range(40):
        before, after = prompt_of(case).split(), prompt_of(varied("typos", case, number)).split()
        assert len(before) == len(after)
        assert 1 <= sum(map(str.__ne__, before, after)) <= 2


def test_where_no_word_is_free_there_is_no_variant() -> None:
    case = case_of('prompt: "Oslo"\nexpect: [{get_weather: {city: Oslo}}]')
    assert unmeasured_reason("typos", case) == "no word of its prompt is free to change"


@pytest.mark.parametrize(
    ("expected", "changes"),
    [
        ("remove: {city: {$date: 2026-12-24}}", True),
        ("remove: {city: 2026-12-24}", False),
        ("get_weather: {city: x, start_day: 2026-12-24}", True),  # its schema says how dates are written
    ],
)
def test_a_date_is_written_out_where_the_answer_does_not_have_to_repeat_it(expected: str, changes: bool) -> None:
    tool = expected.partition(":")[0]
    case = case_of(f"tools: {{only: [{tool}]}}\nprompt: From 2026-12-24 on.\nexpect: [{{{expected}}}]")
    if changes:
        assert prompt_of(varied("dates", case)) in ("From 24 December 2026 on.", "From December 24, 2026 on.")
    else:
        assert "no date" in unmeasured_reason("dates", case)


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("Show 12 days.", "Show twelve days."),
        ("Show 42 days.", "Show forty-two days."),
        ("Show 12000 days.", "Show 12,000 days."),
        ("Show 12.5 of 007 or AB-12, 12% or $12.", None),
    ],
)
def test_numbers_are_written_in_another_way_unless_they_are_part_of_something(
    prompt: str, expected: str | None
) -> None:
    case = case_of(f"prompt: '{prompt}'\nexpect: [{{get_weather: {{city: Oslo, days: 12}}}}]")
    if expected:
        assert prompt_of(varied("numbers", case)) == expected
    else:
        assert "no number" in unmeasured_reason("numbers", case)


def test_numbers_that_are_texts_stay() -> None:
    case = case_of("prompt: Remove city 12.\nexpect: [{remove: {city: '12'}}]")
    assert "no number" in unmeasured_reason("numbers", case)
    assert [number_words(value) for value in (0, 19, 20, 99)] == ["zero", "nineteen", "twenty", "ninety-nine"]


def test_where_a_judge_alone_knows_what_is_right_no_word_changes() -> None:
    case = case_of("prompt: Is it warm in Oslo?\nprofile: bfcl\nexpect: [{get_weather: {city: Oslo}}]")
    for relation in ("typos", "letter_case", "numbers", "dates", "parameter_names"):
        assert "bfcl" in unmeasured_reason(relation, case)


def test_a_plan_has_different_variants_and_says_what_does_not_fit() -> None:
    case = case_of("prompt: Is it warm in Oslo today?\nexpect: [{get_weather: {city: Oslo}}]")
    wanted = [
        WantedRelation("tool_order", 9),
        WantedRelation("typos", 2, samples=3),
        WantedRelation("system_position"),
        WantedRelation(REPETITION, 4),
    ]

    plan = plan_variants(case, wanted, BUILT_IN)

    names = [variant.name for variant in plan.variants]
    assert names[:3] == ["tool_order-1", "tool_order-2", "tool_order-3"]
    assert len(names) <= 5 + 2  # there are no more orders of three tools
    assert plan.unfit == {"system_position": "it has no system prompt"}
    assert plan.repetitions == 4
    assert {variant.samples for variant in plan.variants if variant.relation == "typos"} == {3}


def test_what_has_tools_of_its_own_keeps_them() -> None:
    case = case_of(ASKED)
    plan = plan_variants(case, [WantedRelation("tool_order"), WantedRelation("typos")], BUILT_IN, has_own_tools=True)
    assert [variant.name for variant in plan.variants] == ["typos-1"]
    assert plan.unfit == {"tool_order": "an app has its own tools"}


def test_dice_fall_alike_everywhere() -> None:
    dice = Dice("a", "b")
    assert [dice.below(100) for _ in range(5)] == [51, 34, 91, 78, 85]
    assert sorted(Dice("a").order([3, 1, 2])) == [1, 2, 3]


_SENTENCES = st.lists(
    st.one_of(
        st.sampled_from(["Oslo", "oslo's", '"Oslo Rd"', "2026-12-24", "12", "`x y`", "celsius", "AB-1", "a@b.no", "…"]),
        st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), min_size=1, max_size=9),
    ),
    min_size=1,
    max_size=12,
).map(" ".join)


@given(prompt=_SENTENCES, relation=st.sampled_from([*BUILT_IN]), number=st.integers(0, 3))
def test_whatever_a_user_says_what_is_expected_stays_in_it(prompt: str, relation: str, number: int) -> None:
    case = case_of(ASKED)
    turn = case.turns[0]
    said = Case(
        case.id,
        case.location,
        (type(turn)((turn.messages[0], {"role": "user", "content": f"{prompt} in Oslo"}), turn.expect),),
        case.tools,
        case.rules,
    )

    found = BUILT_IN[relation].vary(said, Dice("it", relation, number), WantedRelation(relation))

    if isinstance(found, Case):
        assert "Oslo" in prompt_of(found)
        assert found == BUILT_IN[relation].vary(said, Dice("it", relation, number), WantedRelation(relation))
