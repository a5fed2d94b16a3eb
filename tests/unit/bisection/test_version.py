from __future__ import annotations

from collections.abc import Mapping
from itertools import chain, combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.bisection.version import Difference, LaterTurn, Version
from pytest_fcall.core import Json, Message, Request, Tool, request_digest

SENTENCES = st.sampled_from(
    ["Be brief.", "Call tools.", "Be  very brief!", "Ask first", "\n", "\n\n", " ", "- one\n", "é。"]
)
TEXTS = st.lists(SENTENCES, max_size=8).map(" ".join) | st.text(max_size=20)
CALLS: Json = [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}]
MESSAGES = st.one_of(
    st.builds(lambda text: {"role": "user", "content": text}, TEXTS),
    st.builds(lambda text: {"role": "assistant", "content": text}, TEXTS),
    st.builds(lambda text: {"role": "system", "content": text}, TEXTS),
    st.sampled_from(
        [
            {"role": "assistant", "content": None, "tool_calls": CALLS},
            {"role": "tool", "tool_call_id": "c1", "content": "4"},
            {"role": "user", "content": [{"type": "text", "text": "Look."}]},
        ]
    ),
)
SCHEMAS = st.fixed_dictionaries(
    {"type": st.sampled_from(["string", "integer"])},
    optional={"description": TEXTS, "enum": st.lists(st.sampled_from(["a", "b"]), unique=True)},
)
NAMES = st.sampled_from(["city", "unit", "days"])


def objects(values: st.SearchStrategy[Mapping[str, Json]]) -> st.SearchStrategy[Mapping[str, Json]]:
    return st.fixed_dictionaries(
        {"type": st.just("object"), "properties": st.dictionaries(NAMES, values, max_size=3)},
        optional={
            "required": st.lists(NAMES, max_size=3) | st.just("all"),
            "additionalProperties": st.booleans(),
        },
    )


PARAMETERS = objects(SCHEMAS | objects(SCHEMAS) | SCHEMAS.map(lambda items: {"type": "array", "items": items}))
TOOLS = st.lists(
    st.builds(
        Tool,
        st.sampled_from(["get_weather", "search", "send", "send "]),
        TEXTS,
        PARAMETERS,
        returns=st.none() | st.just({"type": "string"}),
    ),
    max_size=4,
    unique_by=lambda tool: tool.name,
).map(tuple)
SETTINGS = st.dictionaries(st.sampled_from(["temperature", "seed", "api_key"]), st.sampled_from([0, 1, 1.0, "x", True]))
REQUESTS = st.builds(Request, st.lists(MESSAGES, max_size=5).map(tuple), TOOLS, SETTINGS)
TURNS = st.builds(LaterTurn, st.lists(MESSAGES, max_size=2).map(tuple), st.none() | TOOLS)
VERSIONS = st.builds(Version, st.sampled_from(["openai:a", "openai:b"]), REQUESTS, st.just(()) | st.tuples(TURNS))


def digest_of(version: Version) -> tuple[str, ...]:
    later = [
        f"{turn.tools is None} {request_digest(version.model, Request(turn.messages, turn.tools or ()))}"
        for turn in version.turns
    ]
    return request_digest(version.model, version.request), *later


@given(VERSIONS, VERSIONS)
def test_without_edits_it_is_the_old_question_and_with_all_of_them_the_new_one(old: Version, new: Version) -> None:
    old = Version(old.model, old.request, old.turns if len(old.turns) == len(new.turns) else new.turns)
    difference = Difference(old, new)
    assert digest_of(difference.version(frozenset())) == digest_of(old)
    assert digest_of(difference.version(difference.all)) == digest_of(new)
    assert len({edit.key for edit in difference.edits}) == len(difference.edits)
    assert (digest_of(old) == digest_of(new)) == (not difference.edits)


@given(VERSIONS, VERSIONS)
def test_every_edit_changes_the_question(old: Version, new: Version) -> None:
    difference = Difference(old, new)
    without = digest_of(difference.version(frozenset()))
    assert all(digest_of(difference.version({place})) != without for place in difference.all)


@given(VERSIONS, VERSIONS)
def test_equal_choices_make_equal_questions_and_the_new_ones_can_be_compared_again(old: Version, new: Version) -> None:
    difference = Difference(old, new)
    half = frozenset(place for place in difference.all if place % 2)
    between = difference.version(half)
    assert digest_of(between) == digest_of(difference.version(half))
    again = Difference(between, new)
    assert digest_of(again.version(again.all)) == digest_of(new)


def asked(
    system: str = "", tools: tuple[Tool, ...] = (), messages: tuple[Message, ...] = (), **settings: Json
) -> Version:
    before: tuple[Message, ...] = ({"role": "system", "content": system},) if system else ()
    prompt: tuple[Message, ...] = ({"role": "user", "content": "Weather in Oslo?"},)
    return Version("openai:exam", Request((*before, *messages, *prompt), tools, settings))


def edits(old: Version, new: Version) -> list[tuple[str, str, str]]:
    return [edit.key for edit in Difference(old, new).edits]


def test_a_system_prompt_is_compared_by_paragraph_and_sentence() -> None:
    old = asked("You help people.\n\nCall one tool. Use Celsius.")
    new = asked("You help people.\n\nCall one tool at a time. Use Celsius. Answer briefly.")
    assert edits(old, new) == [
        ("system prompt, paragraph 2, sentence 1", "Call one tool.", "Call one tool at a time."),
        ("system prompt, paragraph 2, sentence 3", "", "Answer briefly."),
    ]


def test_a_new_system_prompt_is_as_many_edits_as_sentences() -> None:
    difference = Difference(asked(), asked("Call tools. Answer briefly."))
    assert [edit.after for edit in difference.edits] == ["Call tools.", "Answer briefly."]
    assert difference.version({1}).request.messages[0]["content"] == "Answer briefly."


def test_parts_of_tools_are_edits_of_their_own() -> None:
    old_schema: dict[str, Json] = {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city"],
    }
    new_schema: dict[str, Json] = {
        "type": "object",
        "properties": {"city": {"type": "string", "enum": ["Oslo"]}, "unit": {"type": "string"}},
        "required": ["unit"],
    }
    old = asked(tools=(Tool("get_weather", "Weather.", old_schema), Tool("send", "Mail.")))
    new = asked(tools=(Tool("mail", "Mail."), Tool("get_weather", "Weather of a city.", new_schema)))
    assert [where for where, _, _ in edits(old, new)] == [
        "tool mail: name",
        "tool get_weather: description",
        "tool get_weather: parameter city: enum",
        "tool get_weather: parameter days",
        "tool get_weather: parameter unit",
        "tool get_weather: parameter city: required",
        "order of the tools",
    ]


def test_a_required_parameter_that_is_added_is_one_edit() -> None:
    old = asked(tools=(Tool("send"),))
    schema: Mapping[str, Json] = {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]}
    assert [where for where, _, _ in edits(old, asked(tools=(Tool("send", "", schema),)))] == [
        "tool send: parameter to"
    ]


def test_an_example_comes_and_goes_as_a_whole() -> None:
    example: tuple[Message, ...] = (
        {"role": "user", "content": "Weather in Rome?"},
        {"role": "assistant", "content": None, "tool_calls": CALLS},
        {"role": "tool", "tool_call_id": "c1", "content": "4"},
    )
    difference = Difference(asked("Help."), asked("Help.", messages=example))
    assert [edit.where for edit in difference.edits] == ["messages 2-4"]


def test_settings_and_the_model_are_edits_and_keys_are_not_shown() -> None:
    old, new = asked(temperature=0, api_key="one"), asked(temperature=1, api_key="two")
    found = edits(old, Version("openai:other", new.request))
    assert ("model", "openai:exam", "openai:other") in found
    assert ("settings: temperature", "0", "1") in found
    assert not any("one" in edit or "two" in edit for edit in chain.from_iterable(found))


@pytest.mark.parametrize("text", ["a " * 20_000, ". " * 20_000, "\n" * 20_000, '."' * 20_000, "word. \n" * 20_000])
def test_long_texts_are_compared_in_time(text: str) -> None:
    difference = Difference(asked("x" + text), asked("y" + text + "z"))
    assert difference.version(difference.all).request.messages[0]["content"] == "y" + text + "z"


@given(st.lists(SENTENCES, min_size=1, max_size=5), st.lists(SENTENCES, max_size=5))
def test_each_subset_of_sentences_can_be_asked(old: list[str], new: list[str]) -> None:
    difference = Difference(asked(" ".join(old)), asked(" ".join(new)))
    some = sorted(difference.all)[:6]
    for chosen in chain.from_iterable(combinations(some, size) for size in range(len(some) + 1)):
        assert difference.version(frozenset(chosen)).request.messages[-1]["content"] == "Weather in Oslo?"
