from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fcall.core import Case, Json, Location, Message, Request, Rules, Tool, Turn
from pytest_fcall.tracking.question_digests import (
    PROMPT,
    PROMPT_CHANGED,
    SYSTEM,
    SYSTEM_CHANGED,
    expectation_digest,
    prompt_text,
    provenance_changes,
    question_changes,
    question_digests,
    renamed_tools,
    system_prompt,
)
from tests.unit.cases.reading import case

TOOL = Tool("get_weather", "Current weather.", {"type": "object", "properties": {"city": {"type": "string"}}})
OTHER = Tool("get_time")
ASKED = Request(({"role": "system", "content": "Be brief."}, {"role": "user", "content": "Oslo?"}), (TOOL,), {"t": 0})


@pytest.mark.parametrize(
    ("now", "told"),
    [
        (ASKED, []),
        (replace(ASKED, sample=3), []),
        (replace(ASKED, messages=ASKED.messages[1:]), ["the system prompt changed"]),
        (replace(ASKED, messages=(ASKED.messages[0], {"role": "user", "content": "Bergen?"})), ["the prompt changed"]),
        (replace(ASKED, settings={"t": 1}), ["the settings of the model changed"]),
        (replace(ASKED, tools=(replace(TOOL, description="Weather."),)), ["the description of get_weather changed"]),
        (replace(ASKED, tools=(replace(TOOL, parameters={}),)), ["the parameters of get_weather changed"]),
        (replace(ASKED, tools=(TOOL, OTHER)), ["the tool get_time is new"]),
        (replace(ASKED, tools=()), ["the tool get_weather is gone"]),
    ],
)
def test_what_changed_in_the_question_is_named(now: Request, told: list[str]) -> None:
    assert question_changes(question_digests(ASKED), question_digests(now)) == told


def test_changes_of_prompts_are_known_by_what_is_told_of_them() -> None:
    others = dict.fromkeys((SYSTEM, PROMPT), "00000000")
    assert question_changes(question_digests(ASKED), question_digests(ASKED) | others) == [
        SYSTEM_CHANGED,
        PROMPT_CHANGED,
    ]


def test_the_text_of_a_question_has_its_messages_in_lines_and_no_system_prompt() -> None:
    picture: Message = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,"}}]}
    more = (*ASKED.messages, {"role": "user", "content": "And Bergen?"})
    assert prompt_text(replace(ASKED, messages=more)) == "Oslo?\nAnd Bergen?"
    assert prompt_text(replace(ASKED, messages=(*more, picture))) == ""


WITH_OTHER = replace(ASKED, tools=(TOOL, OTHER))
FORECAST = replace(TOOL, name="forecast")


@pytest.mark.parametrize(
    ("now", "told"),
    [
        ((OTHER, TOOL), ["the order of the tools changed"]),
        ((TOOL, OTHER), []),
        ((FORECAST, OTHER), ["the tool get_weather is forecast now"]),
        ((OTHER, FORECAST), ["the tool get_weather is forecast now"]),
        ((OTHER, replace(TOOL, parameters={})), ["the parameters of get_weather changed"]),
        ((TOOL, Tool("send", "Sends.")), ["the tool get_time is gone", "the tool send is new"]),
        (
            (replace(FORECAST, parameters={}), OTHER),
            ["the tool forecast is new", "the tool get_weather is gone"],
        ),
    ],
)
def test_another_order_of_the_tools_is_named_only_where_the_tools_are_the_same(
    now: tuple[Tool, ...], told: list[str]
) -> None:
    assert question_changes(question_digests(WITH_OTHER), question_digests(replace(ASKED, tools=now))) == told


def test_each_tool_that_is_the_same_under_another_name_is_paired_with_one_tool() -> None:
    twins = tuple(replace(TOOL, name=name) for name in ("a", "b"))
    old, new = (question_digests(replace(ASKED, tools=tools)) for tools in ((TOOL, OTHER), (*twins, OTHER)))
    assert [*renamed_tools(old, new)] == ["get_weather"]
    assert [*renamed_tools(new, old).values()] == ["get_weather"]
    assert renamed_tools(old, old) == {}


def test_of_a_question_that_was_not_kept_nothing_is_said() -> None:
    assert question_changes({}, question_digests(ASKED)) == []
    assert question_changes(question_digests(ASKED), {}) == []


def test_what_answered_is_told_where_both_sides_know_it() -> None:
    old: dict[str, Json] = {"engine": {"model": "m-1", "dtype": "fp16", "wire": ["floats"]}, "date": "2026-11-01"}
    new: dict[str, Json] = {"engine": {"model": "m-2", "grammar": "tools", "wire": []}, "date": "2026-11-01"}

    assert provenance_changes(old, new) == ["engine.model: 'm-1' → 'm-2'"]


def test_a_tool_that_is_there_on_both_sides_is_not_renamed_although_another_is_equal() -> None:
    old = {"tool:a": "1", "tool:b": "1", "prompt": "1"}
    assert renamed_tools(old, {"tool:a": "1", "tool:c": "1", "prompt": "1"}) == {"b": "c"}
    assert renamed_tools(old, {"tool:a": "1", "tool:b": "1", "other": "1"}) == {}
    assert renamed_tools({"tool:a": "1"}, {"tool:a": "2", "tool:b": "1"}) == {}
    assert renamed_tools({"tool:a": "1", "tool:b": "1"}, {"tool:b": "1"}) == {}


def test_system_messages_stand_in_lines() -> None:
    roles = ("system", "developer", "user")
    several = Request(tuple({"role": role, "content": text} for role, text in zip(roles, "abc", strict=True)))
    assert system_prompt(several) == "a\nb"
    assert prompt_text(several) == "c"


def test_an_expectation_is_another_one_under_another_profile_but_for_the_two_names_of_the_official_rules() -> None:
    case = Case("one", Location(""), (Turn(()),))
    strict, bfcl, original = (
        expectation_digest(replace(case, rules=Rules(profile))) for profile in ("strict", "bfcl", "original")
    )
    assert bfcl == original != strict


def test_the_digest_of_an_expectation_stays_as_it_stands_in_baselines() -> None:
    assert expectation_digest(Case("one", Location(""), (Turn(()),))) == "30a24442"


@pytest.mark.parametrize(
    ("expected", "kept"),
    [
        ("expect: [{book: {seat: {$regex: 'x+'}, n: {$le: 3}}}, {then: [{pay: {}}]}]", "8176891d"),
        ("expect: {any_of: [{calls: [{book: {}}], extra: allow}, no_call]}\nanswer: {$contains: b}", "aabf0bc6"),
        ("expect: [{book: {}}]\nmatch: {book.seat: {strings: relaxed}, 'pay.*': {$any: [a, b]}}", "e2a421c5"),
        ("expect: {calls: [{book: {}}], never: [pay, {pay: {to: eve}}]}", "41262e09"),
        ("expect: [{book: {n: 1}, as: b, returns: {id: x}}, {then: [{pay: {to: {$from: b.result.id}}}]}]", "86f1d5d4"),
        ("expect: any_call\nwire: {count: {$le: 2}, calls: [{book: {}}]}", "84aa3417"),
        ("spans: {calls: {calls: [{book: {}}], never: [pay]}}", "acfbe10f"),
    ],
)
def test_the_digest_of_each_part_stays_as_it_stands_in_baselines(expected: str, kept: str, tmp_path: Path) -> None:
    head = (
        "tools:\n  - {name: book, parameters: {type: object, properties: {seat: {type: string}, n: {type: integer}}}}\n"
    )
    head += "  - {name: pay, parameters: {type: object, properties: {to: {type: string}}}}\n"
    assert expectation_digest(case(f"prompt: a\n{expected}", tmp_path, head=head)) == kept
