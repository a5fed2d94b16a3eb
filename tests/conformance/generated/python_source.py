"""Calls as Python source text, in the spellings of models and of people who try a reader's patience.

The official decoder evaluates arithmetic. Whatever is written into an operation here is harmless and small.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import strategies as st

from tests.conformance.generated.calls import Call
from tests.conformance.generated.chances import chance, one_made, one_of

ODDITIES = (
    "...",
    "true",
    "null",
    "NaN",
    "Unit.CELSIUS",
    "x[0]",
    "x['a'][1:2]",
    "x[-1, ...]",
    "today()",
    "date(2024, 1, 5)",
    "date(year=2024, month=1)",
    "geo.find(city='Oslo', near=spot(x=1))",
    "f(g(1), 'é')",
    "f(*a)",
    "f(**k)",
    "lambda: 0",
    "lambda x: x + 1",
    "f'a{1}b'",
    "'a' 'b'",
    "b'bytes'",
    "r'\\d'",
    "'\\d'",
    "{1, 2}",
    "{**a}",
    "{**{}, 'b': 1}",
    "{[1]: 2}",
    "{(1, 2): 3}",
    "{1: 'a', 1.0: 'b', True: 'c'}",
    "{a: 1, 'b': c}",
    "[*a]",
    "[x for x in y]",
    "1 if a else 2",
    "1 < 2",
    "1 < 2 < 3",
    "a or b",
    "(a := 1)",
    "(yield)",
    "await x",
    "2j",
    "-2j",
    "0x1F",
    "0b11",
    "1_000",
    "007",
    "1e400",
    "-1e400",
    "()",
    "(1,)",
    "(1)",
    "[[1, (2, 3)], {}]",
    "-True",
    "+1",
    "~1",
    "~1.5",
    "not 1",
    "not 'a'",
    "-'a'",
    "- -1",
    "-x",
    "-(1)",
    "-(1, 2)",
    "--1",
    "-None",
    "-...",
    "𝓍",
    "None",
    "print",
    "__debug__",
    "*a",
    "a b",
    "'",
    '"""three\nlines"""',
    "'\\ud800'",
    "'\\N{BULLET}'",
    "99999999999999999999999999",
)


def written(draw: st.DrawFn, calls: Sequence[Call]) -> str:
    """A whole answer."""
    text = one_of(draw, (", ", ",", ",\n    ", " , ", "\n", "; ")[: 4 if chance(draw, 90) else 6]).join(
        _call(draw, call) for call in calls
    )
    text = f"[{text}]" if chance(draw, 80) else text
    return one_of(draw, _WRAPPINGS)(text) if chance(draw, 30) else text


_WRAPPINGS: tuple[Callable[[str], str], ...] = (
    lambda text: f"```\n{text}\n```",
    lambda text: f"```python\n{text}\n```",
    lambda text: f"`{text}`",
    lambda text: f"  \n{text}\n ",
    lambda text: f"'{text}'",
    lambda text: f"\t{text}\r\n",
    lambda text: f"({text})",
    lambda text: f"{text},",
    lambda text: f"{text};",
    lambda text: f"{text}  # done",
    lambda text: f"# first\n{text}",
    lambda text: f"Sure! {text}",
    lambda text: f"{text}\nThat is all.",
    lambda text: f"{text}{text}",
    lambda text: f"{text}\n{text}",
    lambda text: text[:-1],
    lambda text: text[1:],
    lambda text: text.replace("(", "(\n    "),
    lambda text: text.replace(", ", ",\\\n"),
    lambda text: text.replace("'", '"'),
    lambda text: text.replace("=", ": "),
    lambda text: f"calls = {text}",
    lambda text: f"\ufeff{text}",
    lambda text: f"\x0c{text}",
    lambda text: f"{text}\x00",
    lambda text: text.replace("\n", "\r\n"),
)


def _call(draw: st.DrawFn, call: Call) -> str:
    name, arguments = call
    parts = [f"{key}={literal(draw, value)}" for key, value in arguments.items()]
    if parts and chance(draw, 15):
        parts = _changed(draw, parts)
    if chance(draw, 3):
        name = one_of(draw, (f"{name}()", f"{name}[0]", f"api().{name}", f"'{name}'", f"({name})", f"class.{name}", ""))
    space = one_of(draw, ("", "", "", " ", "\n"))
    return f"{name}({space}{', '.join(parts)}{space})"


def _changed(draw: st.DrawFn, parts: list[str]) -> list[str]:
    first, *rest = parts
    return one_of(
        draw,
        (
            [first.partition("=")[2], *rest],
            [part.partition("=")[2] for part in parts],
            [*rest, first.partition("=")[2]],
            [*parts, first],
            [*parts, "**more"],
            ["*more", *parts],
            [*parts, "**{'a': 1}"],
            [first.replace("=", " = ", 1), *rest],
            [first.replace("=", ":", 1), *rest],
            [first.replace("=", "'=", 1), *rest],
            [*parts, ""],
        ),
    )


def literal(draw: st.DrawFn, value: Any) -> str:
    """The value, mostly; now and then something else, or arithmetic."""
    if chance(draw, 6):
        return one_of(draw, ODDITIES)
    if chance(draw, 4):
        return _operation(draw, 3)
    if isinstance(value, str):
        return _string(draw, value)
    if isinstance(value, bool) or value is None:
        return one_of(draw, (repr(value), repr(value), repr(value), repr(value).lower()))
    if isinstance(value, (int, float)):
        return _number(draw, value)
    if isinstance(value, dict):
        items = (f"{literal(draw, key)}: {literal(draw, each)}" for key, each in value.items())
        return f"{{{', '.join(items)}}}"
    items = (literal(draw, each) for each in value)
    text = ", ".join(items)
    if isinstance(value, tuple):
        return f"({text},)" if len(value) == 1 else f"({text})"
    return f"[{text}]"


def _string(draw: st.DrawFn, text: str) -> str:
    spellings: tuple[Callable[[], str], ...] = (
        lambda: repr(text),
        lambda: repr(text),
        lambda: json.dumps(text, ensure_ascii=False),
        lambda: json.dumps(text),
        lambda: f"'{text}'",
        lambda: f'"""{text}"""',
        lambda: f"{text[:2]!r} {text[2:]!r}",
        lambda: f"{text[:2]!r} + {text[2:]!r}",
        lambda: f"u{text!r}",
        lambda: f"b{text!r}",
        lambda: f"f{text!r}",
        lambda: text,
    )
    return one_made(draw, spellings)


def _number(draw: st.DrawFn, number: float) -> str:
    plain = repr(number)
    spellings: tuple[Callable[[], str], ...] = (
        lambda: plain,
        lambda: plain,
        lambda: plain,
        lambda: f"+{plain}",
        lambda: f"({plain})",
        lambda: f"{plain}.0" if plain.isdigit() else plain,
        lambda: f"{int(plain):_}" if plain.isdigit() else plain,
        lambda: hex(int(plain)) if plain.isdigit() else plain,
        lambda: f"{plain} + 0",
        lambda: f"{plain}*1.0",
        lambda: f"0 - {plain}",
        lambda: f"int({plain})",
        lambda: f"'{plain}'",
    )
    return one_made(draw, spellings)


def _operation(draw: st.DrawFn, depth: int) -> str:
    """Arithmetic on numbers, texts and lists; no name, no call, no large exponent, shift or repetition."""
    left, right = (_operand(draw, depth - 1) for _ in range(2))
    operator = one_of(draw, ("+", "-", "*", "/", "//", "%", "&", "|", "^", "<<", ">>", "**", "@"))
    if operator in {"**", "<<"}:
        left, right = (
            one_of(draw, ("2", "3", "-2", "1.5", "0", "(-8)")),
            one_of(draw, ("0", "1", "2", "5", "-1", "0.5")),
        )
    return f"{left} {operator} {right}"


def _operand(draw: st.DrawFn, depth: int) -> str:
    if depth and chance(draw, 40):
        inner = _operation(draw, depth)
        return one_of(draw, (f"({inner})", inner, f"-({inner})"))
    plain = ("1", "2", "7", "10", "0", "2.5", "1e3", "0.1", "True", "-1", "+2", "~3", "(not 1)", "2j")
    odd = ("None", "'ab'", "'%s'", "'%d!'", "b'x'", "[1, 2]", "(1, 2)", "'é'", "x", "x.y", "[]", "{1: 2}", "...")
    return one_of(draw, odd if chance(draw, 25) else plain)
