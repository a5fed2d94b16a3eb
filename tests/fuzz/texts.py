"""Text that looks like calls, more or less."""

from __future__ import annotations

from hypothesis import strategies as st

_TAGS = """
<tool_call> </tool_call> <tool_calls> </tool_calls> <TOOLCALL> </TOOLCALL> <function_call> <function=find>
<function= </function> <parameter=city> <parameter= </parameter> > <|python_tag|> <|eom_id|> <|eot_id|>
[TOOL_CALLS] [ARGS] [CALL_ID] [THINK] [/THINK] <|tool_call|> <|/tool_call|> functools[ functools </s> <think>
</think> <|im_end|> <｜tool▁calls▁begin｜> <｜tool▁calls▁end｜> <｜tool▁call▁begin｜> <｜tool▁sep｜>
<｜tool▁call▁end｜> </｜DSML｜invoke> </｜DSML｜parameter> <｜DSML｜function_calls> </｜DSML｜function_calls>
<｜end▁of▁sentence｜>
<|tool_calls_section_begin|> <|tool_calls_section_end|> <|tool_call_begin|> functions.find:0
<|tool_call_argument_begin|> <|tool_call_end|> <arg_key> </arg_key> <arg_value> </arg_value>
<start_function_call> <end_function_call> call:find{ <escape> <|tool_call> <tool_call|> <|"|> <|channel|>
analysis commentary <|constrain|>json <|message|> <|call|> <|start|>assistant <|end|> <|return|> <<function>>
<functions> </functions> <params> </param> Action: Thought: Finish https://a.example/b?c=d&e=f ```
"""
_WORDS = """
find geo.find city city= days=3 find(city='Oslo') [find()] null ( ) [ ] { } < > </ /> ' ` /* : , ; = == . .. - +
* ** // # % @ | & ~ ! ? $ _ é 日 😀 𝓪 0 1 -1 1e5 1e999 0x1F NaN Infinity true True None f'{x}' b'x' ... }}
Arrays.asList( ${ 5L 'c'
"""
MARKS = (
    *_TAGS.split(),
    '<｜DSML｜invoke name="find">',
    '<｜DSML｜parameter name="city" string="true">',
    " to=functions.find",
    '<function name="find">',
    '<param name="city" type="string">',
    "<invoke name=",
    "Action Input:",
    "curl -X GET ",
    "-H 'a: b'",
    "-d '",
    "```json\n",
)
PIECES = (
    *_WORDS.split(),
    '"name": "find"',
    '"arguments": {',
    '"parameters": ',
    '"function": ',
    '{"name": "find", "arguments": {"city": "Oslo"}}',
    '{"city": "Oslo"}',
    '"',
    '"""',
    "\\",
    "\\u",
    "\\ud800",
    "\\x",
    "\\N{",
    " ",
    "\n",
    "\r\n",
    "\t",
    "\x00",
    "\x0b",
    "\x0c",
    "\x1b[31m",
    "\xa0",
    "\u2028",
    "\ufeff",
    "\ud800",
    "\udfff",
    "9" * 400,
    "1" * 5000,
    " not ",
    " lambda x: x",
    " for x in y",
    " if a else b",
    "new ",
    "new HashMap<>() {{ ",
    'put("a", 1); ',
    "new int[]{",
    "=> ",
    "I will look that up for you. ",
)
SAMPLES = (
    '<tool_call>\n{"name": "find", "arguments": {"city": "Oslo", "days": 3}}\n</tool_call>',
    "<tool_call>\n<function=find>\n<parameter=city>\nOslo\n</parameter>\n</function>\n</tool_call>",
    '[TOOL_CALLS]find[CALL_ID]abc[ARGS]{"city": "Oslo"}[TOOL_CALLS]find{"city": "Rome"}</s>',
    '[TOOL_CALLS] [{"name": "find", "arguments": {"city": "Oslo"}}]</s>',
    '<|python_tag|>{"name": "find", "parameters": {"city": "Oslo"}}; {"name": "find", "parameters": {}}<|eom_id|>',
    'functools[{"name": "find", "arguments": {"city": "Oslo"}}]<|end|>',
    '<|tool_call|>[{"name": "find", "arguments": {"city": "Oslo"}}]<|end_of_text|>',
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>find<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    '<｜DSML｜function_calls><｜DSML｜invoke name="find"><｜DSML｜parameter name="city" string="true">Oslo'
    "</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜function_calls>",
    '<|tool_call_begin|>functions.find:0<|tool_call_argument_begin|>{"city": "Oslo"}<|tool_call_end|>',
    "<tool_call>find\n<arg_key>city</arg_key>\n<arg_value>Oslo</arg_value>\n</tool_call>",
    "<start_function_call>call:find{city:<escape>Oslo<escape>,days:3,at:[1,{a:true}]}<end_function_call>",
    '<|tool_call>call:find{city:<|"|>Oslo<|"|>,days:3}<tool_call|>',
    '<|channel|>commentary to=functions.find <|constrain|>json<|message|>{"city": "Oslo"}<|call|>',
    "<<function>>find(city='Oslo', days=3)<<function>>geo.find()",
    "[find(city='Oslo', at=[1, 2.5, {'a': None}], days=1 + 2 * -3), geo.find('Rome', **more)]",
    '```json\n[{"name": "find", "arguments": "{\\"city\\": \\"Oslo\\"}"}]\n```',
    '{"tool_calls": [{"function": {"name": "find", "arguments": "{}"}, "id": "1", "type": "function"}]}',
    "Thought: look\nAction: find\nAction Input: {'city': 'Oslo'}\n\nThought: done",
    "curl -X POST https://a.example/find?city=Oslo -H 'accept: text/plain' -d '{\"days\": 3}'",
    'geo.find(city="Oslo", list=new ArrayList<String>(Arrays.asList("a", "b")), to=new HashMap<>() {{ put("a", 1); }})',
    "find(city='Oslo', list=[1, 'a', {b: 2}], at=new Date(2024, 0, 5), when=() => 1)",
    '<functions><function name="find"><params><param name="city" value="Oslo" type="string"/></params></function>'
    "</functions>",
    "It is sunny in Oslo, and 3 < 5 but [not] {quite} so.",
)
REPEATED = (
    *(piece for piece in (*MARKS, *PIECES) if len(piece) < 60),
    '{"a":',
    "[1,",
    "f(a=",
    "a.",
    "1+",
    "-",
    "(",
    "{1:",
    "'a' ",
)


@st.composite
def _edited(draw: st.DrawFn) -> str:
    """An answer in some family's form, cut and stuffed."""
    text = draw(st.sampled_from(SAMPLES))
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 12)))
        stuffing = draw(st.sampled_from(("", text[start:end] * 2, *MARKS, *PIECES)))
        text = text[:start] + stuffing + text[end:]
    return text


_repeated = st.builds(
    lambda before, piece, times, after: before + piece * times + after,
    st.sampled_from(("", *SAMPLES)),
    st.sampled_from(REPEATED),
    st.integers(1, 3000),
    st.sampled_from(("", *SAMPLES)),
)

texts: st.SearchStrategy[str] = st.one_of(
    st.lists(st.sampled_from((*MARKS, *PIECES)), max_size=40).map("".join),
    _edited(),
    _repeated,
    st.text(st.characters(exclude_categories=()), max_size=60),
)
