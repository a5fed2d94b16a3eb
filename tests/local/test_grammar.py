"""Answers of a model without sense, held to a grammar."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

from pytest_fcall.backends.local.answer_forms import FORMS
from pytest_fcall.backends.local.answerer import Answerer
from pytest_fcall.backends.local.generation import Prompt
from pytest_fcall.core import Call, CaseRefused, Json, ModelUnavailable, Reply, Tool
from pytest_fcall.decoding import decode
from pytest_fcall.schema import tool_schema
from tests.local.asking import ALARM, WEATHER, ask, generate, requests

TOOLS = (WEATHER, ALARM)
SEEDS = range(16)
BEGUN = {
    "hermes": "<tool_call>",
    "llama": '{"name"',
    "mistral": "[TOOL_CALLS]",
    "granite": "<|tool_call|>",
    "phi": "functools",
}
"""What a model writes that has made up its mind to call."""


def drawn(model: Answerer, tools: tuple[Tool, ...], **settings: Json) -> list[Reply]:
    """Answers as they fall, ended ones only: what is cut off is no fault of the grammar."""
    replies = []
    for seed in SEEDS:
        said = {"grammar": "tools", "temperature": 1.0, "seed": seed, "max_tokens": 200, **settings}
        request = requests(tools, **said)[0]
        reply = model.reply(request, ask(model, [request])[0])
        replies += [reply] if reply.finish == "stop" else []
    return replies


def assert_fits(call: Call) -> None:
    tool = next(tool for tool in TOOLS if tool.name == call.name)
    assert not tool_schema(tool).check(call.arguments)


@pytest.mark.parametrize("decoder", ["json", "auto", "xlam"])
def test_a_list_holds_calls_of_the_offered_tools_only(load: Callable[..., Answerer], decoder: str) -> None:
    replies = drawn(load(decoder=decoder), TOOLS)
    read = [decode(reply, TOOLS) for reply in replies]
    assert [calls.malformed for calls in read] == [None] * len(read)
    assert any(calls.calls for calls in read)
    for calls in read:
        for call in calls.calls:
            assert_fits(call)


@pytest.mark.parametrize("decoder", BEGUN)
def test_a_call_that_is_begun_is_one_of_an_offered_tool(load: Callable[..., Answerer], decoder: str) -> None:
    """The form of the family is admitted and nothing else where its marks stand."""
    model = load(decoder=decoder)
    engine: Any = model.engine
    xgrammar = import_module("xgrammar")
    matcher = xgrammar.GrammarMatcher(engine._grammars._grammar(TOOLS))
    assert matcher.accept_string(BEGUN[decoder])
    assert not matcher.accept_string("!")
    assert matcher.accept_string(matcher.find_jump_forward_string() or "")


CALLS = {
    "json": '[{"name": "get_weather", "arguments": {"city": "Oslo"}}, {"name": "set_alarm", "arguments": {"at": 7}}]',
    "hermes": '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>\n'
    '<tool_call>\n{"name": "set_alarm", "arguments": {"at": 7}}\n</tool_call>',
    "llama": '{"name": "get_weather", "parameters": {"city": "Oslo"}}; {"name": "set_alarm", "parameters": {"at": 7}}',
    "mistral": '[TOOL_CALLS][{"name": "get_weather", "arguments": {"city": "Oslo"}}, '
    '{"name": "set_alarm", "arguments": {"at": 7}}]',
    "granite": '<|tool_call|>[{"name": "get_weather", "arguments": {"city": "Oslo"}}, '
    '{"name": "set_alarm", "arguments": {"at": 7}}]',
    "phi": 'functools[{"name": "get_weather", "arguments": {"city": "Oslo"}}, '
    '{"name": "set_alarm", "arguments": {"at": 7}}]',
}
CALLS |= {"auto": CALLS["json"], "xlam": CALLS["json"]}
NO_CALL = {"json": "[]", "auto": "[]", "xlam": "[]"}


def admits(model: Answerer, text: str) -> bool:
    engine: Any = model.engine
    matcher = import_module("xgrammar").GrammarMatcher(
        engine._grammars._grammar(TOOLS), terminate_without_stop_token=True
    )
    return bool(matcher.accept_string(text) and (matcher.is_terminated() or matcher.is_completed()))


@pytest.mark.parametrize("decoder", FORMS)
def test_each_form_admits_parallel_calls_that_its_decoder_reads(load: Callable[..., Answerer], decoder: str) -> None:
    model = load(decoder=decoder)
    text = CALLS[decoder]
    assert admits(model, text)
    calls = decode(Reply(text=text, decoder=decoder), TOOLS)
    assert [(call.name, dict(call.arguments)) for call in calls.calls] == [
        ("get_weather", {"city": "Oslo"}),
        ("set_alarm", {"at": 7}),
    ]
    assert calls.malformed is None


@pytest.mark.parametrize("decoder", FORMS)
def test_each_form_admits_no_call(load: Callable[..., Answerer], decoder: str) -> None:
    assert admits(load(decoder=decoder), NO_CALL.get(decoder, "I cannot help with that."))


@pytest.mark.parametrize("decoder", FORMS)
@pytest.mark.parametrize(
    ("right", "wrong"),
    [("get_weather", "get_whether"), ("Oslo", "a place with a long name"), ('"at"', '"hour"'), ("7", "9")],
)
def test_no_form_admits_another_tool_or_other_arguments(
    load: Callable[..., Answerer], decoder: str, right: str, wrong: str
) -> None:
    assert not admits(load(decoder=decoder), CALLS[decoder].replace(right, wrong))


def test_prompts_with_and_without_tools_share_a_batch(model: Answerer) -> None:
    asked = [requests(tools, grammar="tools", max_tokens=12)[0] for tools in (TOOLS, (), (ALARM,))]
    together = [generated.text for generated in ask(model, asked)]
    assert together == [ask(model, [request])[0].text for request in asked]
    assert together[0].startswith("[")
    assert together[1] == generate(model, [Prompt(model.prompt(asked[1]).text)], {"max_tokens": 12})[0].text


def test_a_reply_names_the_grammar_it_was_held_to(model: Answerer) -> None:
    [held, free] = requests(TOOLS, grammar="tools", max_tokens=2)[0], requests(TOOLS, max_tokens=2)[0]
    assert str(model.reply(held, ask(model, [held])[0]).engine["grammar"]).startswith("tools, xgrammar ")
    assert "grammar" not in model.reply(free, ask(model, [free])[0]).engine


def test_a_form_without_a_grammar_is_refused_with_those_that_have_one(load: Callable[..., Answerer]) -> None:
    with pytest.raises(
        CaseRefused, match=r"no grammar of the answers that the decoder 'python' reads; there are .*json"
    ):
        drawn(load(decoder="python"), TOOLS)


def test_a_schema_without_a_grammar_is_refused(model: Answerer) -> None:
    unknown = Tool("odd", "", {"type": "object", "properties": {"x": {"type": "string", "pattern": "(?<=a)b"}}})
    with pytest.raises(CaseRefused, match="no grammar can be made of the tools"):
        drawn(model, (unknown,))


def test_without_xgrammar_it_is_told_how_to_install_it(
    load: Callable[..., Answerer], without: Callable[[str], None]
) -> None:
    model = load()
    without("xgrammar")
    with pytest.raises(ModelUnavailable, match=r"`grammar` needs xgrammar.*pip install 'pytest-fcall\[local\]'"):
        drawn(model, TOOLS)
