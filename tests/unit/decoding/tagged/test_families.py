"""Texts as models of each family write them: right, wrong, cut off, and none of a call."""

from __future__ import annotations

import pytest

from pytest_fcall.core import Call, Calls, Tool
from pytest_fcall.decoding.decoders import DECODERS
from pytest_fcall.decoding.tagged.families import FAMILIES
from tests.unit.decoding.tagged.encoders import ENCODERS, Encoder

TOOLS = [
    Tool(
        "get_weather",
        parameters={
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}, "hourly": {"type": "boolean"}},
        },
    )
]


def read(family: str, text: str) -> Calls:
    return DECODERS[family](text, TOOLS)


def weather(city: str, **more: int | bool) -> Call:
    return Call("get_weather", {"city": city, **more})


WAYS = [pytest.param(name, way, id=f"{name}-{n}") for name, ways in ENCODERS.items() for n, way in enumerate(ways)]


@pytest.mark.parametrize(("family", "encode"), WAYS)
def test_a_tool_that_was_not_offered_is_read_all_the_same(family: str, encode: Encoder) -> None:
    calls = read(family, encode([Call("no_such_tool", {"place": "Paris"})]))
    assert [(call.name, call.arguments) for call in calls.calls] == [("no_such_tool", {"place": "Paris"})]
    assert calls.malformed is None


@pytest.mark.parametrize(("family", "encode"), WAYS)
def test_two_calls_are_read_in_their_order(family: str, encode: Encoder) -> None:
    calls = read(family, encode([weather("Rome"), weather("Paris", days=3)]))
    assert [call.arguments["city"] for call in calls.calls] == ["Rome", "Paris"]
    assert calls.calls[1].arguments["days"] == 3
    assert (calls.malformed, calls.notes) == (None, ())


BARE = {"glm4-0", "llama-0", "xlam-0"}


@pytest.mark.parametrize(("family", "encode"), [way for way in WAYS if way.id not in BARE])
def test_what_is_said_before_a_call_is_no_part_of_it(family: str, encode: Encoder) -> None:
    said = "<|channel|>commentary<|message|>Let me look.<|end|>" if family == "harmony" else "Let me look.\n"
    calls = read(family, said + encode([weather("Rome")]))
    assert [call.arguments for call in calls.calls] == [{"city": "Rome"}]
    assert (calls.malformed, calls.notes) == (None, ("Text beside the calls was dropped: 'Let me look.'.",))


@pytest.mark.parametrize(("family", "encode"), WAYS)
def test_a_text_that_breaks_off_within_a_call_is_malformed(family: str, encode: Encoder) -> None:
    text = encode([weather("San Francisco")])
    calls = read(family, text[: text.index("Francisco")])
    assert calls.calls == ()
    assert calls.malformed


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n ",
        "You are welcome.",
        "Which city do you mean, Paris (France) or Paris [Texas]?",
        '{"answer": 42}',
        "[1, 2, 3]",
        "[Note]: I cannot do that.",
        "Use `functools.partial`:\n```python\nimport functools\nprint(functools)\n```",
        "```json\n[1, 2]\n```",
        "a < b and b > c; <b>bold</b>",
        "<think>",
        "<think>\n\n</think>\n\nHello!<|im_end|>",
    ],
)
def test_prose_is_no_call(family: str, text: str) -> None:
    assert read(family, text) == Calls()


@pytest.mark.parametrize(("family", "encode"), WAYS)
def test_every_family_refuses_the_calls_of_others(family: str, encode: Encoder) -> None:
    text = encode([weather("Rome")])
    for other in FAMILIES:
        found = read(other, text)
        assert found.malformed or found.calls, other


@pytest.mark.parametrize(
    ("family", "text", "calls"),
    [
        ("hermes", '<tool_call>{"name": "get_weather", "arguments": {"city": "Rome"}}</tool_call>', [weather("Rome")]),
        ("hermes", '<tool_call>{"arguments": {"city": "Rome"}, "name": "get_weather"}</tool_call>', [weather("Rome")]),
        (
            "hermes",
            '<tool_call>{"name": "get_weather", "arguments": {"city": "</tool_call>"}}</tool_call>',
            [weather("</tool_call>")],
        ),
        (
            "hermes",
            '<tool_call>{"name": "get_weather", "arguments": {"city": "<tool_call>\\"<|im_end|>"}}</tool_call>',
            [weather('<tool_call>"<|im_end|>')],
        ),
        (
            "hermes",
            '<tool_call>{"name": "get_weather", "arguments": {"city": "<think>"}}</tool_call></think>',
            [weather("<think>")],
        ),
        (
            "qwen_coder",
            "<tool_call>\n<function=get_weather>\n<parameter=city>\nSan\nJosé\n\n</parameter>\n"
            "<parameter=days>\n3\n</parameter>\n<parameter=hourly>\nTrue\n</parameter>\n</function>\n</tool_call>",
            [weather("San\nJosé\n", days=3, hourly=True)],
        ),
        ("qwen_coder", "<function=get_weather><parameter=city>3</parameter></function>", [weather("3")]),
        ("qwen_coder", "<function=get_weather>\n</function>\n</tool_call>", [Call("get_weather", {})]),
        (
            "llama",
            '{"type": "function", "name": "get_weather", "parameters": {"city": "Rome"}}<|eot_id|>',
            [weather("Rome")],
        ),
        (
            "llama",
            '<|python_tag|>{"name": "get_weather", "parameters": {"city": "a; b"}};\n'
            '{"name": "get_weather", "arguments": {"city": "Rome"}};',
            [weather("a; b"), weather("Rome")],
        ),
        (
            "llama",
            '{"name": "get_weather", "parameters": {"city": "Oslo"}}\n\n'
            '{"name": "get_weather", "parameters": {"city": "Rome"}}',
            [weather("Oslo"), weather("Rome")],
        ),
        (
            "llama",
            '[{"name": "get_weather", "parameters": {"city": "Oslo"}},\n'
            ' {"name": "get_weather", "parameters": {"city": "Rome"}}]<|eom_id|>',
            [weather("Oslo"), weather("Rome")],
        ),
        ("llama", '```json\n{"name": "get_weather", "parameters": {"city": "Rome"}}\n```', [weather("Rome")]),
        ("llama", '```\n[{"name": "get_weather", "parameters": {"city": "Rome"}}]\n```', [weather("Rome")]),
        ("mistral", '[{"name": "get_weather", "arguments": {"city": "Rome"}}]', [weather("Rome")]),
        ("mistral", '[TOOL_CALLS]get_weather{"city": "Rome"}', [weather("Rome")]),
        (
            "mistral",
            '[TOOL_CALLS]get_weather[CALL_ID]a1b2c3d4e[ARGS]{"city": "[TOOL_CALLS]"}[TOOL_CALLS]get_weather[ARGS]{}',
            [Call("get_weather", {"city": "[TOOL_CALLS]"}, "a1b2c3d4e"), Call("get_weather", {})],
        ),
        (
            "mistral",
            '[THINK][TOOL_CALLS]?[/THINK][TOOL_CALLS][{"name": "get_weather", "arguments": {"city": "Rome"}}]',
            [weather("Rome")],
        ),
        ("granite", '[{"name": "get_weather", "arguments": {"city": "Rome"}}]', [weather("Rome")]),
        ("granite", '<tool_call>[{"name": "get_weather", "arguments": {"city": "Rome"}}]', [weather("Rome")]),
        (
            "xlam",
            '</think>\n[\n  {"name": "get_weather", "arguments": {"city": "Rome"}}\n]',
            [weather("Rome")],
        ),
        ("xlam", '<tool_call>[{"name": "get_weather", "arguments": {"city": "Rome"}}]</tool_call>', [weather("Rome")]),
        ("xlam", '[TOOL_CALLS][{"name": "get_weather", "arguments": {"city": "Rome"}}]', [weather("Rome")]),
        ("xlam", "[]", []),
        (
            "phi",
            '<|tool_call|>[{"name": "get_weather", "parameters": {"city": "Rome"}}]<|/tool_call|>',
            [weather("Rome")],
        ),
        (
            "deepseek",
            "<｜DSML｜tool_calls>\n"
            '<｜DSML｜invoke name="get_weather">\n<｜DSML｜parameter name="city" string="true">3</｜DSML｜parameter>\n'
            '<｜DSML｜parameter name="days" string="false">3</｜DSML｜parameter>\n</｜DSML｜invoke>\n'
            "</｜DSML｜tool_calls><｜end▁of▁sentence｜>",
            [weather("3", days=3)],
        ),
        (
            "kimi",
            "<|tool_call_begin|> functions.get_weather:12 <|tool_call_argument_begin|> "
            '{"city": "Rome"} <|tool_call_end|>',
            [Call("get_weather", {"city": "Rome"}, "functions.get_weather:12")],
        ),
        (
            "glm",
            "<think>I need it</think>\n<tool_call>get_weather<arg_key>city</arg_key><arg_value>Rome</arg_value>"
            "<arg_key>days</arg_key><arg_value>3</arg_value></tool_call><|observation|>",
            [weather("Rome", days=3)],
        ),
        ("glm", "<tool_call>get_weather</tool_call>", [Call("get_weather", {})]),
        ("glm4", '\nweather.now \n{"city": "Rome"}<|observation|>', [Call("weather.now", {"city": "Rome"})]),
        ("glm4", 'a\n{}\n<|assistant|>b\n{"x": 1}', [Call("a", {}), Call("b", {"x": 1})]),
        (
            "functiongemma",
            "<start_function_call>call:get_weather{city:<escape>a, b:{c}<escape>,more:[1,{x:None}]}<end_function_call>",
            [Call("get_weather", {"city": "a, b:{c}", "more": [1, {"x": None}]})],
        ),
        (
            "gemma4",
            '<|channel>thought\nHm.<channel|><|tool_call>call:get_weather{city:<|"|>say "hi"<|"|>}<tool_call|><turn|>',
            [weather('say "hi"')],
        ),
        (
            "harmony",
            "<|channel|>analysis<|message|>to=functions.x?<|end|><|start|>assistant to=functions.get_weather"
            '<|channel|>commentary json<|message|>{"city": "Rome"}',
            [weather("Rome")],
        ),
        (
            "harmony",
            '<|channel|>commentary to=browser.search<|message|>{"query": "Rome"}<|call|>',
            [Call("browser.search", {"query": "Rome"})],
        ),
    ],
)
def test_calls_are_read(family: str, text: str, calls: list[Call]) -> None:
    found = read(family, text)
    assert list(found.calls) == calls
    assert found.malformed is None


@pytest.mark.parametrize(
    ("family", "text", "words"),
    [
        ("hermes", "<tool_call>", "Call 1: it is cut off before '</tool_call>'."),
        ("hermes", '<tool_call>{"name": "get_weather", "arg', "the call of 'get_weather' is cut off"),
        ("hermes", '<tool_call>{"name": "get_weather", "arguments": {}}', "the call of 'get_weather' is cut off"),
        ("hermes", '<tool_call>{"name": "get_weather", "arguments": {}}}</tool_call>', "not JSON: Extra data"),
        ("hermes", '<tool_call>[{"name": "get_weather", "arguments": {}}]</tool_call>', "is not an object"),
        ("hermes", '<tool_call>{"name": "get_weather", "parameters": {}}</tool_call>', "has no `arguments`"),
        ("hermes", '<tool_call>{"tool": "get_weather", "arguments": {}}</tool_call>', "has no `name`"),
        ("hermes", '<tool_call>{"name": "get_weather", "arguments": "{}"}</tool_call>', "encoded twice"),
        ("hermes", "<tool_call>{'name': 'get_weather', 'arguments': {}}</tool_call>", "not JSON"),
        (
            "hermes",
            '{"name": "get_weather", "arguments": {"city": "Rome"}}\n</tool_call>',
            "this decoder does not read",
        ),
        ("hermes", "<tool_call>\nget_weather\n</tool_call>", "not JSON"),
        ("qwen_coder", '<tool_call>{"name": "get_weather", "arguments": {}}</tool_call>', "name of a tool"),
        ("qwen_coder", "<tool_call><function=get_weather><parameter=city>Ro", "'get_weather' is cut off"),
        (
            "qwen_coder",
            "<tool_call><function=get_weather><parameter=city>Rome</function></tool_call>",
            "a parameter of 'get_weather' is not closed",
        ),
        (
            "qwen_coder",
            "<function=get_weather><parameter=city>Rome<parameter=days>3</parameter></function>",
            "the parameter 'city' of 'get_weather' is not closed",
        ),
        (
            "qwen_coder",
            "<tool_call><function=get_weather><parameter=city>Rome</parameter></tool_call>",
            "not closed by `</function>`",
        ),
        ("qwen_coder", '<function=get_weather>{"city": "Rome"}</function>', "more than parameters"),
        ("llama", '{"name": "get_weather", "parameters": {"city": "Rome"}', "not JSON"),
        ("llama", '{"name": "get_weather"}', "has no `arguments`"),
        ("llama", '<|python_tag|>get_weather.call(city="Rome")', "not JSON"),
        ("mistral", "[TOOL_CALLS]", "name of a tool"),
        ("mistral", '[TOOL_CALLS][ARGS]{"city": "Rome"}', "not JSON"),
        ("mistral", '[TOOL_CALLS]get_weather[ARGS]{"city": "Ro', "arguments of 'get_weather' cannot be read"),
        ("mistral", '[TOOL_CALLS] [{"name": "get_weather", "arguments": {}}]]', "not JSON: Extra data"),
        ("granite", '<|tool_call|>[{"name": "get_weather", "arguments": {"city": "Rome"}', "not JSON"),
        ("xlam", '[{"name": "get_weather", "arguments": {"city": "Rome"}', "not JSON"),
        ("xlam", '```json\n[{"name": "get_weather", "arguments": {}}]', "'get_weather' is cut off before '```'."),
        ("phi", 'functools[{"name": "get_weather"}]', "has no `arguments`"),
        ("deepseek", "<｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{}", "'get_weather' is cut off"),
        (
            "deepseek",
            "<｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n{}<｜tool▁call▁end｜>",
            "name of a tool",
        ),
        ("kimi", "<|tool_call_begin|>tool_call_1<|tool_call_argument_begin|>{}<|tool_call_end|>", "name of a tool"),
        ("kimi", "<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|><|tool_call_end|>", "of 'f' cannot"),
        ("glm", '<tool_call>{"name": "get_weather", "arguments": {}}</tool_call>', "name of a tool"),
        ("glm4", 'get_weather\n{"city": Rome}', "cannot be read"),
        ("glm", "<tool_call>get_weather\n<arg_key>city</arg_key>\nRome</tool_call>", "is not closed"),
        ("functiongemma", "<start_function_call>get_weather{}<end_function_call>", "`call:`"),
        ("functiongemma", "<start_function_call>call:get_weather{city:Rome}<end_function_call>", "cannot be read"),
        ("functiongemma", '<start_function_call>call:get_weather{city:"Rome"}<end_function_call>', "`<escape>`"),
        ("functiongemma", "<start_function_call>call:get_weather<end_function_call>", "cannot be read"),
        ("gemma4", '<|tool_call>call:get_weather{city:<|"|>Rome}<tool_call|>', "cannot be read"),
        ("harmony", "<|channel|>commentary to=functions.get_weather", "'get_weather' is cut off"),
        ("harmony", '<|channel|>commentary to=functions.get_weather<|message|>{"city"', "of 'get_weather' cannot"),
        ("harmony", "<|channel|>analysis to=python code<|message|>print(1)<|call|>", "of 'python' cannot"),
        ("harmony", 'commentary to=functions.get_weather json{"city": "Rome"}', "'get_weather' is cut off"),
    ],
)
def test_a_call_that_cannot_be_read_says_why(family: str, text: str, words: str) -> None:
    found = read(family, text)
    assert found.calls == ()
    assert words in str(found.malformed)


@pytest.mark.parametrize(
    ("family", "broken", "whole"),
    [
        (
            "hermes",
            '<tool_call>{"name": "get_weather", "arguments": {"city": "Pa}}</tool_call>',
            '<tool_call>{"name": "get_weather", "arguments": {"city": "Rome"}}</tool_call>',
        ),
        (
            "hermes",
            '<tool_call>{"name": "get_weather", ',
            '<tool_call>{"name": "get_weather", "arguments": {"city": "Rome"}}</tool_call>',
        ),
        (
            "qwen_coder",
            "<tool_call><function=get_weather><parameter=city>\nPa\n</function></tool_call>",
            "<tool_call><function=get_weather><parameter=city>\nRome\n</parameter></function></tool_call>",
        ),
        ("mistral", '[TOOL_CALLS]get_weather[ARGS]{"city": "Pa', '[TOOL_CALLS]get_weather[ARGS]{"city": "Rome"}'),
        (
            "phi",
            'functools[{"name": 1, "arguments": {}}, ',
            '{"name": "get_weather", "arguments": {"city": "Rome"}}]',
        ),
        (
            "kimi",
            "<|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{city}<|tool_call_end|>",
            '<|tool_call_begin|>get_weather:1<|tool_call_argument_begin|>{"city": "Rome"}<|tool_call_end|>',
        ),
        (
            "harmony",
            "<|channel|>commentary to=functions.get_weather<|message|>{<|call|>",
            '<|start|>assistant<|channel|>commentary to=functions.get_weather<|message|>{"city": "Rome"}<|call|>',
        ),
    ],
)
def test_one_broken_call_leaves_the_others(family: str, broken: str, whole: str) -> None:
    found = read(family, broken + whole)
    assert [call.arguments for call in found.calls] == [{"city": "Rome"}]
    assert str(found.malformed).startswith("Call 1: ")
    assert "Call 2" not in str(found.malformed)
