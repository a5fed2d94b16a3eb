"""JavaScript: values as source literals, right by their declared type and wrong, and calls as source text."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

from tests.conformance.generated.calls import Call
from tests.conformance.generated.chances import chance, one_made, one_of

ODDITIES = (
    "null",
    "undefined",
    "NaN",
    "this",
    "this.name",
    "window.location",
    "a?.b",
    "a ?? b",
    "a[0]",
    "Unit.CELSIUS",
    "() => 1",
    "x => x + 1",
    "async (x) => { await x; }",
    "function f(a) { return a; }",
    "class {}",
    "new Date()",
    "new Date(2024, 0, 5)",
    "new Array(3)",
    "new Array()",
    "new Array(1, 2, 3)",
    "new Array([1, 2], [3, 4])",
    "new Map([['a', 1]])",
    "[[1, 2], [3, 4]]",
    "[[1], 2]",
    "[ [ 'a' , 'b' ] , [] ]",
    "[{a: 1}, {b: 2}]",
    "[1, , 2]",
    "[...a]",
    "[,]",
    "['a, b', \"c\"]",
    "['a]', 'b']",
    "[1, 2].map(x => x)",
    "{a: 1, b: [1, 2], c: 'x'}",
    "{a: {b: 1}, c: 2}",
    "{'a': 'b:c', d: 1}",
    "{a: 1,}",
    "{a}",
    "{...a}",
    "{[a]: 1}",
    "{f() { return 1; }}",
    "{a: 'x, y: z'}",
    "{\n  a: 1\n}",
    "{ }",
    "/a+/g",
    "`text`",
    "`a${b}`",
    "'it\\'s'",
    '"a\\"b"',
    "'\\u00e9'",
    "'é'",
    "'日本語'",
    "'😀'",
    "''",
    '"',
    "'",
    "'a' + 'b'",
    "1 + 2",
    "-1",
    "+1",
    "- 1",
    "!true",
    "typeof a",
    "void 0",
    "a ? b : c",
    "a, b",
    "x = 1",
    "x += 1",
    "x++",
    "1n",
    "-5n",
    "0x1F",
    "1_000",
    "1e5",
    ".5",
    "5.",
    "1e400",
    "Infinity",
    "<div/>",
    "await x",
    "yield x",
    "import('a')",
    "f(1, g('x'))",
    "/* none */ 1",
    "1 // one\n",
    "\ud800",
    "\x00",
    "1 2",
    "'open",
    "#a",
    "@a",
    "٣",
    "5\n",
)


def literal(draw: st.DrawFn, value: Any, declared: Mapping[str, Any]) -> Any:
    """The value as source of its declared type, mostly."""
    if chance(draw, 12):
        return one_of(draw, ODDITIES)
    if chance(draw, 3):
        return value
    return _source(draw, value, str(declared.get("type")))


def _source(draw: st.DrawFn, value: Any, kind: str) -> str:
    if isinstance(value, list):
        parts = one_of(draw, (", ", ",", " ,", ",\n")).join(_source(draw, each, "") for each in value)
        return one_of(draw, (f"[{parts}]", f"[{parts}]", f"[ {parts} ]", f"new Array({parts})", f"[{parts},]"))
    if isinstance(value, dict):
        parts = one_of(draw, (", ", ",", ",\n")).join(_pair(draw, key, each) for key, each in value.items())
        return one_of(draw, (f"{{{parts}}}", f"{{{parts}}}", f"{{ {parts} }}", f"{{{parts},}}", f"({{{parts}}})"))
    return _plain(draw, value, kind)


def _pair(draw: st.DrawFn, key: str, value: Any) -> str:
    name = one_of(draw, (key, repr(key), json.dumps(key)))
    return f"{name}{one_of(draw, (': ', ':', ' : '))}{_source(draw, value, '')}"


def _plain(draw: st.DrawFn, value: Any, kind: str) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    quoted = json.dumps(text, ensure_ascii=False) if isinstance(value, str) else text
    spellings: tuple[Callable[[], str], ...] = (
        *[lambda: f"{text}n" if kind == "Bigint" else quoted] * 4,
        *[lambda: text] * 3,
        lambda: f"'{text}'",
        lambda: f'"{text}"',
        lambda: f"`{text}`",
        lambda: f"{text}n",
        lambda: f"{text}.0",
        lambda: f"{text}e2",
        lambda: f"-{text}",
        lambda: f" {text}",
        lambda: f"{text}\n",
        text.upper,
    )
    return one_made(draw, spellings)


def written(draw: st.DrawFn, calls: Sequence[Call]) -> str:
    """A whole answer. The values of the calls are source already, or whatever a model took for it."""
    text = one_of(draw, (", ", "; ", "\n")).join(_call(draw, call) for call in calls)
    text = f"[{text}]" if chance(draw, 85) else text
    return one_of(draw, _WRAPPINGS)(text) if chance(draw, 25) else text


def _call(draw: st.DrawFn, call: Call) -> str:
    name, arguments = call
    parts = [f"{key}={value}" for key, value in arguments.items()]
    if parts and chance(draw, 12):
        first, *rest = parts
        parts = one_of(
            draw,
            (
                [first.partition("=")[2], *rest],
                [part.partition("=")[2] for part in parts],
                [*parts, first],
                ["a", "b", *rest],
                ["a", *parts],
                ["true", *parts],
                ["/* none */", *parts],
                [first.replace("=", " = ", 1), *rest],
                [first.replace("=", " == ", 1), *rest],
                [first.replace("=", ": ", 1), *rest],
                [first.replace("=", " += ", 1), *rest],
                [f"{{{first}}}", *rest],
                [f"{{{', '.join(parts).replace('=', ': ')}}}"],
                ["é = 1", *parts],
                ["[a, b] = c", *parts],
                ["...a", *parts],
                [*parts, ""],
            ),
        )
    if chance(draw, 4):
        name = one_of(
            draw,
            (f"a.b().{name}", f"new {name}", f"é.{name}", "a[0]", f"x = {name}", f"await {name}", f"a?.{name}", ""),
        )
    inner = one_of(draw, (", ", ",", ",\n  ")).join(parts)
    return f"{name}({inner}){one_of(draw, ('', '', '', ';'))}"


_WRAPPINGS: tuple[Callable[[str], str], ...] = (
    lambda text: f"```\n{text}\n```",
    lambda text: f"```javascript\n{text}\n```",
    lambda text: f"[{text}]",
    lambda text: f"[// first\n{text[1:]}",
    lambda text: f"[/* é */ {text[1:]}",
    lambda text: f"Sure! {text}",
    lambda text: f"{text} Done.",
    lambda text: text[:-1],
    lambda text: f" {text}\n",
    lambda text: f"\t{text}\r\n",
    lambda text: text.replace("=", ": "),
    lambda text: text.replace('"', "'"),
    lambda text: f"{text}\x00",
    lambda text: text.replace("(", "((", 1),
    lambda text: text.replace("(", "({").replace(")", "})"),
    lambda text: f"[(() => {{ {text[1:-1]} }})()]",
    lambda text: f"[let x = 1; {text[1:]}",
    lambda text: f"[#!node\n{text[1:]}",
    lambda _: "",
    lambda _: "[]",
    lambda _: "[a]",
)
