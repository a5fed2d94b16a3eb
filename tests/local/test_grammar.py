"""Answers of a model without sense, held to a grammar."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from importlib import import_module
from random import Random
from string import ascii_letters
from typing import Any

import pytest

from pytest_fcall.backends.local.answerer import Answerer, ModelPrompt
from pytest_fcall.backends.local.grammar import ANSWER_FORMS
from pytest_fcall.core import Call, CaseRefused, Json, ModelUnavailable, Reply, Tool
from pytest_fcall.decoding.decoders import decode
from pytest_fcall.schema.tool_schema import tool_schema
from tests.local.asking import ALARM, WEATHER, ask, generate, requests

TOOLS = (WEATHER, ALARM)
SEEDS = range(16)
BEGUN = {
    "hermes": "<tool_call>",
    "llama": '{"name"',
    "mistral": "[TOOL_CALLS]",
    "granite": "<|tool_call|>",
    "phi": "functools",
    "deepseek": "<｜tool▁calls▁begin｜>",
    "kimi": "<|tool_calls_section_begin|>",
    "harmony": "<|channel|>commentary to=functions.",
}
"""What a model writes that has made up its mind to call."""


def drawn(model: Answerer, tools: tuple[Tool, ...], seeds: Sequence[int] = SEEDS, **settings: Json) -> list[Reply]:
    """Answers as they fall, ended ones only: what is cut off is no fault of the grammar."""
    replies = []
    for seed in seeds:
        said = {"grammar": "tools", "temperature": 1.0, "seed": seed, "max_tokens": 200, **settings}
        request = requests(tools, **said)[0]
        reply = model.reply(request, ask(model, [request])[0])
        replies += [reply] if reply.finish == "stop" else []
    return replies


def assert_fits(call: Call, tools: Sequence[Tool] = TOOLS) -> None:
    tool = next(tool for tool in tools if tool.name == call.name)
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
CALLS["deepseek"] = (
    "<｜tool▁calls▁begin｜>"
    '<｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{"city": "Oslo"}<｜tool▁call▁end｜>'
    '<｜tool▁call▁begin｜>set_alarm<｜tool▁sep｜>{"at": 7}<｜tool▁call▁end｜>'
    "<｜tool▁calls▁end｜>"
)
CALLS["kimi"] = (
    "<|tool_calls_section_begin|>"
    '<|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{"city": "Oslo"}<|tool_call_end|>'
    '<|tool_call_begin|>functions.set_alarm:1<|tool_call_argument_begin|>{"at": 7}<|tool_call_end|>'
    "<|tool_calls_section_end|>"
)
CALLS |= {"auto": CALLS["json"], "xlam": CALLS["json"]}
ONE = {
    "get_weather": '<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"city": "Oslo"}',
    "set_alarm": "<|channel|>analysis<|message|>At seven, then.<|end|><|start|>assistant"
    '<|channel|>commentary to=functions.set_alarm <|constrain|>json<|message|>{"at": 7}',
}
"""The calls of harmony: it makes one in an answer."""
NO_CALL = {"json": "[]", "auto": "[]", "xlam": "[]", "harmony": "<|channel|>final<|message|>I cannot help with that."}


def admits(model: Answerer, text: str) -> bool:
    engine: Any = model.engine
    matcher = import_module("xgrammar").GrammarMatcher(
        engine._grammars._grammar(TOOLS), terminate_without_stop_token=True
    )
    return bool(matcher.accept_string(text) and (matcher.is_terminated() or matcher.is_completed()))


@pytest.mark.parametrize("decoder", CALLS)
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


@pytest.mark.parametrize("decoder", ANSWER_FORMS)
def test_each_form_admits_no_call(load: Callable[..., Answerer], decoder: str) -> None:
    assert admits(load(decoder=decoder), NO_CALL.get(decoder, "I cannot help with that."))


@pytest.mark.parametrize(("name", "arguments"), [("get_weather", {"city": "Oslo"}), ("set_alarm", {"at": 7})])
def test_one_call_after_a_thought_or_none_is_admitted_by_harmony(
    load: Callable[..., Answerer], name: str, arguments: Json
) -> None:
    model, text = load(decoder="harmony"), ONE[name]
    assert admits(model, text)
    assert not admits(model, text + ONE["get_weather"])
    [call] = decode(Reply(text=text, decoder="harmony"), TOOLS).calls
    assert (call.name, dict(call.arguments)) == (name, arguments)


@pytest.mark.parametrize("decoder", CALLS)
@pytest.mark.parametrize(
    ("right", "wrong"),
    [("get_weather", "get_whether"), ("Oslo", "a place with a long name"), ('"at"', '"hour"'), ("7", "9")],
)
def test_no_form_admits_another_tool_or_other_arguments(
    load: Callable[..., Answerer], decoder: str, right: str, wrong: str
) -> None:
    assert not admits(load(decoder=decoder), CALLS[decoder].replace(right, wrong))


NOTE = Tool(
    "note",
    "Take a note",
    {
        "type": "object",
        "properties": {"text": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}}},
        "required": ["text"],
    },
)
MARKED = ("deepseek", "kimi", "harmony")
PIECES = sorted(
    {piece for text in [*CALLS.values(), *ONE.values()] for piece in [*re.findall(r"<[^<>]+>|\w+", text), *text]}
    | {*ascii_letters}
)
"""What an answer may be put together from: marks of all families, names, values, signs."""


def written(matcher: Any, begun: str, dice: Random) -> str:
    """Go on with pieces that the grammar lets pass, until the answer may end."""
    assert matcher.accept_string(begun)
    while not (matcher.is_terminated() or matcher.is_completed()):
        passing = (piece for piece in dice.sample(PIECES, len(PIECES)) if matcher.accept_string(piece))
        begun += next(passing)
    return begun


@pytest.mark.parametrize("decoder", MARKED)
def test_a_call_that_is_begun_can_be_read_however_the_dice_fall(load: Callable[..., Answerer], decoder: str) -> None:
    engine: Any = load(decoder=decoder).engine
    tools = (NOTE, *TOOLS)
    grammar, xgrammar = engine._grammars._grammar(tools), import_module("xgrammar")
    names = set()
    for seed in SEEDS:
        matcher = xgrammar.GrammarMatcher(grammar, terminate_without_stop_token=True)
        text = written(matcher, BEGUN[decoder], Random(seed))  # noqa: S311  a failure must come again
        calls = decode(Reply(text=text, decoder=decoder), tools)
        assert calls.malformed is None, text
        assert calls.calls, text
        for call in calls.calls:
            assert_fits(call, tools)
            names.add(call.name)
    assert names == {"note", "get_weather", "set_alarm"}


@pytest.mark.parametrize("decoder", MARKED)
def test_whatever_a_model_without_sense_says_can_be_read(load: Callable[..., Answerer], decoder: str) -> None:
    replies = drawn(load(decoder=decoder), TOOLS, range(3))
    assert [decode(reply, TOOLS).malformed for reply in replies] == [None] * len(replies)


def test_prompts_with_and_without_tools_share_a_batch(model: Answerer) -> None:
    asked = [requests(tools, grammar="tools", max_tokens=12)[0] for tools in (TOOLS, (), (ALARM,))]
    together = [generated.text for generated in ask(model, asked)]
    assert together == [ask(model, [request])[0].text for request in asked]
    assert together[0].startswith("[")
    assert together[1] == generate(model, [ModelPrompt(model.prompt(asked[1]).text)], {"max_tokens": 12})[0].text


def test_a_reply_names_the_grammar_it_was_held_to(model: Answerer) -> None:
    [held, free] = requests(TOOLS, grammar="tools", max_tokens=2)[0], requests(TOOLS, max_tokens=2)[0]
    assert str(model.reply(held, ask(model, [held])[0]).engine["grammar"]).startswith("tools, xgrammar ")
    assert "grammar" not in model.reply(free, ask(model, [free])[0]).engine


def test_a_form_without_a_grammar_is_refused_with_those_that_have_one(load: Callable[..., Answerer]) -> None:
    with pytest.raises(CaseRefused, match="`grammar` is not available for the decoder 'python'; available: json"):
        drawn(load(decoder="python"), TOOLS)


def test_a_schema_without_a_grammar_is_refused(model: Answerer) -> None:
    unknown = Tool("odd", "", {"type": "object", "properties": {"x": {"type": "string", "pattern": "(?<=a)b"}}})
    with pytest.raises(CaseRefused, match="no grammar can be made for the tools"):
        drawn(model, (unknown,))


def test_without_xgrammar_it_is_told_how_to_install_it(
    load: Callable[..., Answerer], without: Callable[[str], None]
) -> None:
    model = load()
    without("xgrammar")
    with pytest.raises(ModelUnavailable, match=r'`grammar` needs xgrammar.*pip install "pytest-fcall\[local\]"'):
        drawn(model, TOOLS)
