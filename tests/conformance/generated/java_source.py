"""Java: values as source literals, right by their declared type and wrong, and calls as source text."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

from tests.conformance.generated.calls import Call
from tests.conformance.generated.chances import chance, one_made, one_of

ODDITIES = (
    "null",
    "this",
    "this.name",
    "Unit.CELSIUS",
    "java.util.Map.Entry",
    "String.class",
    "new Object()",
    "new Point(1, 2)",
    'new Point(x, "a b").move(3)',
    "new int[5]",
    "new int[2][3]",
    "new int[][]{{1, 2}, {3}}",
    "new int[] {}",
    "{1, 2}",
    "new Runnable() { public void run() { } }",
    "() -> 1",
    "x -> x + 1",
    "String::valueOf",
    "1 + 2",
    "-(-1)",
    "!true",
    "(int) 5",
    "(String) value",
    "a ? b : c",
    "a[0]",
    "a.b().c(1)",
    "List.of(1, 2)",
    'Map.of("a", 1)',
    "Arrays.asList(1, 2)",
    "new ArrayList<>()",
    "new ArrayList<String>() ",
    "new HashMap<>()",
    "new HashMap<String, List<Integer>>()",
    'new HashMap<String, Object>() { { put("a", "b,c)"); } }',
    'new HashMap<>(Map.of("a", 1))',
    "new HashMap<>(other)",
    "'c'",
    "'\\n'",
    "'\\u0041'",
    '"a\\"b"',
    '"tab\\t"',
    '"\\u00e9"',
    '"é"',
    '"日本語"',
    '"😀"',
    '""',
    '"""\ntext block\n"""',
    "'é'",
    "0x1F",
    "1_000",
    "1e5",
    ".5",
    "5.",
    "1e400",
    "-1",
    "+1",
    "- 1",
    "5L",
    "5l",
    "5.0f",
    "5d",
    "9223372036854775808L",
    "/* none */ 1",
    "1 // one\n",
    "x = 1",
    "x += 1",
    "x++",
    "a && b",
    "a instanceof B",
    "switch (a) { default -> 1; }",
    '@A "x"',
    "<T>f()",
    'f(g("x"), 1)',
    "f()",
    "new T<A>[]{}",
    "\ud800",
    "\x00",
    "`",
    "1 2",
    '"open',
    "5%",
    "٣",
)


def literal(draw: st.DrawFn, value: Any, declared: Mapping[str, Any]) -> Any:
    """The value as source of its declared type, mostly."""
    if chance(draw, 12):
        return one_of(draw, ODDITIES)
    if chance(draw, 3):
        return value
    kind = declared.get("type")
    if isinstance(value, list) and kind in {"Array", "ArrayList", "any"}:
        return _list(draw, value, str(kind), declared.get("items", {}))
    if isinstance(value, dict):
        return _map(draw, value)
    return _plain(draw, value, str(kind))


def _plain(draw: st.DrawFn, value: Any, kind: str) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    usual = {"long": f"{text}L", "float": f"{text}f", "String": f'"{text}"', "char": f"'{text}'"}
    spellings: tuple[Callable[[], str], ...] = (
        *[lambda: usual.get(kind, text)] * 3,
        *[lambda: text] * 3,
        lambda: f"{text}L",
        lambda: f"{text}f",
        lambda: f"{text}.0",
        lambda: f"{text}e2",
        lambda: f'"{text}"',
        lambda: f"'{text}'",
        lambda: f"-{text}",
        lambda: f" {text}",
        lambda: f"{text}\n",
        text.upper,
        lambda: f"{text} /* so */",
    )
    return one_made(draw, spellings)


def _list(draw: st.DrawFn, values: list[Any], kind: str, items: Mapping[str, Any]) -> str:
    parts = [str(_plain(draw, each, str(items.get("type", "any")))) for each in values]
    text = one_of(draw, (", ", ",", " , ", ",\n")).join(parts)
    word = one_of(draw, ("String", "", "Integer", "List<String>", "int", "?"))
    added = " ".join(f"add({part});" for part in parts)
    lists = (
        f"new ArrayList<{word}>(Arrays.asList({text}))",
        f"new ArrayList<{word}>() {{{{ {added} }}}}",
        f"new ArrayList<{word}>(){{{{{added}}}}}",
        f"new ArrayList<{word}>(List.of({text}))",
        f"new  ArrayList<{word}>()",
    )
    arrays = (
        f"new {word}[]{{{text}}}",
        f"new {word}[] {{ {text} }}",
        f"new {word}[][]{{{{{text}}}}}",
        f"{{{text}}}",
        f"[{text}]",
    )
    usual = arrays if kind == "Array" else lists
    return one_of(draw, usual if chance(draw, 85) else lists + arrays)


def _map(draw: st.DrawFn, values: Mapping[str, Any]) -> str:
    puts = [
        f"put({_plain(draw, key, one_of(draw, ('String', 'String', 'any')))}, {_plain(draw, each, _kind(each))});"
        for key, each in values.items()
    ]
    text = one_of(draw, (" ", "", "\n")).join(puts)
    words = one_of(draw, ("", "String, Object", "String, List<Integer>", "K"))
    return one_of(
        draw,
        (
            f"new HashMap<{words}>() {{{{ {text} }}}}",
            f"new HashMap<{words}>() {{{{{text}}}}}",
            f"new HashMap<{words}>() {{ {{ {text} }} }}",
            f"new HashMap<{words}>() {{\n{{\n{text}\n}}\n}}",
            f"new HashMap<{words}> () {{{text}}}",
            f"new HashMap<{words}>()",
            f"new HashMap({text})",
            f"Map.of({', '.join(values)})",
        ),
    )


def _kind(value: Any) -> str:
    return "String" if isinstance(value, str) else "any"


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
                ["/* none */", *parts],
                [first.replace("=", " = ", 1), *rest],
                [first.replace("=", " == ", 1), *rest],
                [first.replace("=", ": ", 1), *rest],
                [first.replace("=", " += ", 1), *rest],
                ["String.class", *parts],
                ["é = 1", *parts],
                ["this.a = 1", *parts],
                ["a[0] = 1", *parts],
                [*parts, ""],
            ),
        )
    if chance(draw, 4):
        name = one_of(
            draw, (f"a.b().{name}", f"this.{name}", f"new {name}", f"é.{name}", f"{name}[0]", f"x = {name}", "")
        )
    inner = one_of(draw, (", ", ",", ",\n  ")).join(parts)
    return f"{name}({inner}){one_of(draw, ('', '', '', ';'))}"


_WRAPPINGS: tuple[Callable[[str], str], ...] = (
    lambda text: f"```\n{text}\n```",
    lambda text: f"```java\n{text}\n```",
    lambda text: f"[{text}]",
    lambda text: text.replace("]", ";]"),
    lambda text: f"/* é */ {text}",
    lambda text: f"[// first\n{text[1:]}",
    lambda text: f"Sure! {text}",
    lambda text: f"{text} Done.",
    lambda text: text[:-1],
    lambda text: f" {text}\n",
    lambda text: f"\t{text}\r\n",
    lambda text: text.replace("=", ": "),
    lambda text: text.replace('"', "'"),
    lambda text: f"{text}\x00",
    lambda text: text.replace("(", "((", 1),
    lambda text: f"[class A {{ void f() {{ {text[1:-1]}; }} }}]",
    lambda text: f"[int x = 1; {text[1:]}",
    lambda _: "",
    lambda _: "[]",
    lambda _: "[A]",
)
