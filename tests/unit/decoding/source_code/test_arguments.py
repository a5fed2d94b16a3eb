"""Values that models write as Java or JavaScript."""

from __future__ import annotations

import pytest

from pytest_fcall.core import Call, Calls, Json, Language, Tool
from pytest_fcall.decoding.source_code.arguments import typed_arguments

TOOL = Tool(
    "f",
    "",
    {
        "type": "object",
        "properties": {
            "any": {},
            "flag": {"type": "boolean"},
            "list": {"type": "array"},
            "map": {"type": "object"},
            "number": {"type": "number"},
            "text": {"type": "string"},
        },
    },
)

JAVA: list[tuple[str, str, Json]] = [
    ("number", "5L", 5),
    ("number", "5.0f", 5.0),
    ("number", "-3", -3),
    ("number", "0x1F", 31),
    ("number", "017", 15),
    ("number", "1_000", 1000),
    ("number", "(long) 5", 5),
    ("flag", "true", True),
    ("any", "null", "null"),
    ("any", "count", "count"),
    ("text", "plain words", "plain words"),
    ("text", r'"a\n\u0041"', "a\nA"),
    ("text", "'c'", "c"),
    ("text", "5", "5"),
    ("list", 'new String[]{"a", "b"}', ["a", "b"]),
    ("list", "new String[]{a}", ["a"]),
    ("list", "new int[][]{{1}, {2}}", [[1], [2]]),
    ("list", "Arrays.asList(1, 2)", [1, 2]),
    ("list", 'List.of("a")', ["a"]),
    ("list", 'new ArrayList<String>(Arrays.asList("a"))', ["a"]),
    ("list", "new ArrayList<Integer>() {{ add(1); add(2); }}", [1, 2]),
    ("map", 'Map.of("k", 1)', {"k": 1}),
    ("map", 'new HashMap<>() {{ put("k", 1); put("j", x); }}', {"k": 1, "j": "x"}),
    ("map", "new HashMap<>()", {}),
    ("number", "1e999", "1e999"),
    ("number", "1; var y = 2", "1; var y = 2"),
    ("number", "Runtime.getRuntime()", "Runtime.getRuntime()"),
]

JAVASCRIPT: list[tuple[str, str, Json]] = [
    ("number", "1e3", 1000.0),
    ("number", "10n", 10),
    ("number", ".5", 0.5),
    ("number", "-5", -5),
    ("flag", "false", False),
    ("text", "`c`", "c"),
    ("text", "'it'", "it"),
    ("text", "`${x}`", "`${x}`"),
    ("list", "[1, [2, 'x'], name]", [1, [2, "x"], "name"]),
    ("list", "new Array(1, 2)", [1, 2]),
    ("map", "{a: 1, 'b': {c: [true, null]},}", {"a": 1, "b": {"c": [True, None]}}),
    ("map", "new Map([['a', 1]])", {"a": 1}),
    ("number", "1)+(2", "1)+(2"),
    ("map", "() => 1", "() => 1"),
]


def read(language: Language, name: str, text: Json) -> Json:
    calls = typed_arguments(Calls((Call("f", {name: text}),)), [TOOL], language)
    return calls.calls[0].arguments[name]


@pytest.mark.parametrize(("name", "text", "value"), JAVA)
def test_java_literals_become_the_values_that_they_write(name: str, text: str, value: Json) -> None:
    assert repr(read("java", name, text)) == repr(value)


@pytest.mark.parametrize(("name", "text", "value"), JAVASCRIPT)
def test_javascript_literals_become_the_values_that_they_write(name: str, text: str, value: Json) -> None:
    assert repr(read("javascript", name, text)) == repr(value)


@pytest.mark.parametrize("language", ["java", "javascript"])
@pytest.mark.parametrize(
    "text", ["[" * 50_000, "(" * 5_000 + ")" * 5_000, "\ud800", "\0", "9" * 50_000, '"\\', "/*" * 3_000]
)
def test_hostile_text_stays_text(language: Language, text: str) -> None:
    assert read(language, "number", text) == text


@pytest.mark.parametrize("value", [5, None, [1], {"a": 1}, True])
def test_values_that_are_no_text_stay(value: Json) -> None:
    assert read("java", "any", value) is value


def test_python_has_values_already() -> None:
    assert read("python", "number", "5") == "5"
