"""The formats that the prompt may ask for: JSON and two ways of XML, with tags around or without."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from hypothesis import strategies as st

from tests.conformance.generated import python_source
from tests.conformance.generated.calls import Call
from tests.conformance.generated.chances import chance, one_of
from tests.conformance.official.client import Format

TYPES = (
    "string",
    "integer",
    "float",
    "boolean",
    "null",
    "array",
    "tuple",
    "object",
    "dict",
    "any",
    "number",
    "",
    "int",
)


def written(draw: st.DrawFn, calls: Sequence[Call], form: Format) -> str:
    """A whole answer in this format."""
    text = _WRITERS[form](draw, calls)
    if chance(draw, 30):
        text = one_of(draw, _WRAPPINGS)(text)
    if not chance(draw, 45):
        return text
    return one_of(draw, _TAGS)(text)


def _json(draw: st.DrawFn, calls: Sequence[Call]) -> str:
    keys = ("function", "parameters") if chance(draw, 90) else ("name", "arguments")
    if chance(draw, 5):
        keys = one_of(draw, (("function", "arguments"), ("parameters", "function"), ("function", "function")))
    made: list[Any] = [dict(zip(keys, call, strict=True)) for call in calls]
    if chance(draw, 8):
        made = one_of(draw, ([*made, "text"], [*made, {}], [made], [*made, [1]], [], [1, 2]))
    return json.dumps(made, ensure_ascii=draw(st.booleans()), indent=one_of(draw, (None, None, 2)))


def _verbose(draw: st.DrawFn, calls: Sequence[Call]) -> str:
    return _xml(draw, calls, lambda name, kind, text: f"<param name={name} value={quoteattr(text)} type={kind}/>", True)


def _concise(draw: st.DrawFn, calls: Sequence[Call]) -> str:
    return _xml(draw, calls, lambda name, kind, text: f"<param name={name} type={kind}>{escape(text)}</param>", False)


def _xml(draw: st.DrawFn, calls: Sequence[Call], parameter: Callable[[str, str, str], str], container: bool) -> str:
    functions = []
    space = one_of(draw, ("", "\n", "\n  "))
    for name, arguments in calls:
        parts = [parameter(quoteattr(key), _type(draw, each), _text(draw, each)) for key, each in arguments.items()]
        inner = space.join(parts)
        if container != chance(draw, 8):
            inner = f"<params>{space}{inner}{space}</params>"
        functions.append(f"<function name={quoteattr(name)}>{space}{inner}{space}</function>")
    text = space.join(functions)
    return f"<functions>{space}{text}{space}</functions>"


def _type(draw: st.DrawFn, value: Any) -> str:
    usual = {str: "string", int: "integer", float: "float", bool: "boolean", list: "array", dict: "dict"}
    return quoteattr(usual.get(type(value), "null") if chance(draw, 85) else one_of(draw, TYPES))


def _text(draw: st.DrawFn, value: Any) -> str:
    if isinstance(value, str):
        return value
    if chance(draw, 15):
        return one_of(
            draw, ("", " 5 ", "5.0", "TRUE", "yes", "[1, 2", "(1, 2)", "{1, 2}", "1_000", "٣", "nan", "1 + 2j")
        )
    return repr(value) if chance(draw, 60) else json.dumps(value, default=str)


_WRITERS: dict[Format, Callable[[st.DrawFn, Sequence[Call]], str]] = {
    "python": python_source.written,
    "json": _json,
    "verbose_xml": _verbose,
    "concise_xml": _concise,
}

_TAGS: tuple[Callable[[str], str], ...] = (
    *[lambda text: f"<TOOLCALL>{text}</TOOLCALL>"] * 4,
    lambda text: f"<TOOLCALL>\n{text}\n</TOOLCALL>",
    lambda text: f"So: <TOOLCALL>{text}</TOOLCALL> and <TOOLCALL>[]</TOOLCALL>",
    lambda text: f"<TOOLCALL>{text}",
    lambda text: f"<toolcall>{text}</toolcall>",
    lambda text: f"<TOOLCALL></TOOLCALL>{text}",
)

_WRAPPINGS: tuple[Callable[[str], str], ...] = (
    lambda text: f"```json\n{text}\n```",
    lambda text: f"```xml\n{text}\n```",
    lambda text: f"```\n{text}\n```",
    lambda text: f"Here you are: {text} Good luck [1].",
    lambda text: f"[note] {text}",
    lambda text: text[:-1],
    lambda text: text[1:],
    lambda text: text[1:-1],
    lambda text: f"{text}{text}",
    lambda text: f"{text}\n{text}",
    lambda text: text.replace('"', "'"),
    lambda text: text.replace("}", "},", 1),
    lambda text: text.replace("/>", ">"),
    lambda text: text.replace("name=", "title=", 1),
    lambda text: text.replace("function", "tool"),
    lambda text: text.replace("param ", "param value='1' "),
    lambda text: text.replace("type=", "kind="),
    lambda text: text.replace("<params>", "<params/><params>"),
    lambda text: text.replace("</param>", "<b>x</b></param>"),
    lambda text: text.replace("<functions>", "<functions><!-- all -->"),
    lambda text: text.replace("<functions>", "<functions a='1'>"),
    lambda text: text.replace("<functions>", "<functions>&amp;&lt;&#65;"),
    lambda text: text.replace("<functions>", "<functions>&nbsp;"),
    lambda text: text.replace("<functions>", "<functions><![CDATA[x]]>"),
    lambda text: f"<?xml version='1.0'?>{text}",
    lambda text: f"<!DOCTYPE functions [<!ENTITY e 'x'>]>{text}",
    lambda text: f"{text}\x00",
    lambda _: "",
    lambda _: "[]",
    lambda _: "No call.",
)
