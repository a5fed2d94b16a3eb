"""Java and JavaScript source text, read as the official checker reads it."""

from __future__ import annotations

import contextlib
import re
from typing import Any

import pytest

from pytest_fcall.matching.bfcl.java import java_value
from pytest_fcall.matching.bfcl.javascript import javascript_value
from pytest_fcall.matching.bfcl.source_search import enclosed_texts
from tests.unit.matching.bfcl.exams import ruled

LONG = "9" * 5_000

JAVA: list[tuple[str, str, str | None, Any]] = [
    ("integer", "-5", None, -5),
    ("integer", "5\n", None, 5),
    ("integer", "٣", None, 3),
    ("integer", "+5", None, "+5"),
    ("integer", "5.0", None, "5.0"),
    ("byte", "200", None, 200),
    ("short", "1", None, 1),
    ("long", "5L", None, 5),
    ("long", "5l\n", None, 5),
    ("long", "5", None, "5"),
    ("float", "2.5f", None, 2.5),
    ("float", "1e3F", None, 1000.0),
    ("float", "2.5", None, "2.5"),
    ("double", "2.5", None, 2.5),
    ("double", "5", None, 5.0),
    ("double", "5.0f", None, "5.0f"),
    ("double", ".5", None, ".5"),
    ("boolean", "true", None, True),
    ("boolean", "True", None, "True"),
    ("String", '"a"', None, '"a"'),
    ("char", "'a'", None, "'a'"),
    ("any", "5", None, "5"),
    ("Array", "new int[]{1, 2}", "integer", [1, 2]),
    ("Array", "new int[] { 1,,2.5, }", "integer", [1, "2.5"]),
    ("Array", 'new String[]{"a", "b"}', "String", ['"a"', '"b"']),
    ("Array", "new String[]{a}", "String", ["a"]),
    ("Array", "new int[]{}", "integer", []),
    ("Array", "new int[]{1,\n2}", "integer", "new int[]{1,\n2}"),
    ("Array", "new int[][]{{1}}", "integer", "new int[][]{{1}}"),
    ("Array", "new int[]{1", "integer", "new int[]{1"),
    ("Array", 'new Object[]{1, 2L, 3f, 4.5, true, "a", b}', None, [1, 2, 3.0, 4.5, True, "a", "b"]),
    ("Array", "{1, 2}", "integer", "{1, 2}"),
    ("ArrayList", "new ArrayList<>(Arrays.asList(1, 2))", "integer", [1, 2]),
    ("ArrayList", 'new ArrayList<String>(Arrays.asList("a,b"))', "String", ["", ""]),
    ("ArrayList", "new ArrayList<>(Arrays.asList('a', 'b'))", "char", ["a", "b"]),
    ("ArrayList", "new ArrayList<>(Arrays.asList())", "integer", "new ArrayList<>(Arrays.asList())"),
    ("ArrayList", "new ArrayList<>() {{ add(1); add(2); }}", "integer", [1, 2]),
    ("ArrayList", 'new ArrayList<>() {{\n  add("a");\n  add("b");\n}}', "String", ["a", "b"]),
    ("ArrayList", "new ArrayList<>() {{ }}", "integer", []),
    ("ArrayList", "new ArrayList<>() {{}}", "integer", []),
    ("ArrayList", "new ArrayList<>()", "integer", []),
    ("ArrayList", "List.of(1)", "integer", "List.of(1)"),
    ("HashMap", 'new HashMap<>() {{ put("a", 1); put("b", "x"); put("a", 2.5f); }}', None, {"a": 2.5, "b": "x"}),
    ("HashMap", 'new HashMap<String, Long>() {{ put("a", 5L); }}', None, {"a": 5}),
    ("HashMap", 'new HashMap<>() {{ put("a",\n 1); }}', None, {"a": 1}),
    ("HashMap", 'new HashMap<>() {{ put("a", "b",\n 1); }}', None, {'a", "b': 1}),
    ("HashMap", 'new HashMap<>() {{ put(a, 1); put("b", 2); }}', None, {"b": 2}),
    ("HashMap", 'new HashMap<>() {{ put("a", new int[]{1}); put("b", 2); }}', None, {}),
    ("HashMap", 'new HashMap<>() {{ put("a", f(1)); }}', None, {"a": "f(1"}),
    ("HashMap", "new HashMap<>() {{}}", None, {}),
    ("HashMap", "new HashMap<>()", None, {}),
    ("HashMap", "new HashMap<\n>()", None, "new HashMap<\n>()"),
    ("HashMap", "new HashMap<\n>() {}", None, {}),
    ("HashMap", "Map.of()", None, "Map.of()"),
]

JAVASCRIPT: list[tuple[str, str, str | None, Any]] = [
    ("String", "'a'", None, "a"),
    ("String", '"a"', None, "a"),
    ("String", "'a\"", None, "'a\""),
    ("String", "'", None, ""),
    ("String", "", None, ""),
    ("integer", "5", None, 5),
    ("integer", "5n", None, "5n"),
    ("Bigint", "5n", None, 5),
    ("float", "2.5", None, 2.5),
    ("float", "1e3", None, "1e3"),
    ("Boolean", "false", None, False),
    ("any", "5", None, "5"),
    ("array", "[1, 2]", "integer", [1, 2]),
    ("array", "new Array(1, 2)", "integer", [1, 2]),
    ("array", "['a', \"b\"]", "String", ["a", "b"]),
    ("array", "[]", "String", []),
    ("array", "[1, 2", "integer", "[1, 2"),
    ("array", "[1,\n2]", "integer", "[1,\n2]"),
    ("array", " [1] and more", "integer", [1]),
    ("array", "[[1, 2], [3]]", "array", [[1, 2], [3]]),
    ("array", "[ [1], 5, [2] ]", "array", [[1], [2]]),
    ("array", "new Array([1], [2])", "array", [[1], [2]]),
    ("array", "[[1], [2]", "integer", ["[1"]),
    ("array", "[[]]", "array", [[""]]),
    ("array", "[{a: 1}, {b: 2}]", "dict", [{"a": 1}, {"b": 2}]),
    ("array", "[{a: 1, b: 2}]", "dict", ["{a: 1", "b: 2}"]),
    ("array", f"[{LONG}n]", "Bigint", f"[{LONG}n]"),
    ("dict", "{}", None, {}),
    ("dict", "{a: 1, 'b': 'x', \"c\": true}", None, {"a": 1, "b": "x", "c": True}),
    ("dict", "{a: '5'}", None, {"a": 5}),
    ("dict", "{a: [1, 'x'], b: 2}", None, {"a": [1, "x"], "b": 2}),
    ("dict", "{a: new Array(1), b: new Array(1)]}", None, {"a": "new Array(1)", "b": "new Array(1)]"}),
    ("dict", "{a: 1,}", None, {"a": "1,"}),
    ("dict", "{a: 1, b:}", None, {"a": 1, "b": ""}),
    ("dict", "{a: 1, b}", None, {"a": "1, b"}),
    ("dict", "{a: 1, : 2}", None, {"a": 1, "": 2}),
    ("dict", "{a: {b: 1}}", None, {"a": "{b: 1"}),
    ("dict", "{a: x, y: z", None, "{a: x, y: z"),
    ("dict", "{a:\n1}", None, "{a:\n1}"),
    ("dict", "{::a: nan}", None, {"a": pytest.approx(float("nan"), nan_ok=True)}),
    ("dict", "{a: http://x, b: 1}", None, {"a": "http://x", "b": 1}),
    ("dict", "null", None, "null"),
]


@pytest.mark.parametrize(("word", "text", "inner", "value"), JAVA)
def test_java_source_text_is_read(word: str, text: str, inner: str | None, value: Any) -> None:
    read = java_value(text, word, inner)
    assert (type(read), read) == (type(value), value)


@pytest.mark.parametrize(("word", "text", "inner", "value"), JAVASCRIPT)
def test_javascript_source_text_is_read(word: str, text: str, inner: str | None, value: Any) -> None:
    read = javascript_value(text, word, inner)
    assert (type(read), read) == (type(value), value)


@pytest.mark.parametrize(
    ("language", "word", "alternatives", "value", "error"),
    [
        ("java", "integer", [5], "5", None),
        ("java", "integer", [5], 5, "type_error:java"),
        ("java", "long", [5], "5", "type_error:simple"),
        ("java", "integer", ["count"], "count", None),
        ("java", "integer", ["count"], "Count", "value_error:others"),
        ("java", "String", ["a"], '"a"', "value_error:string"),
        ("java", "Array[String]", [["a"]], 'new String[]{"a"}', "value_error:list/tuple"),
        ("java", "Array[String]", [["a"]], "new String[]{a}", None),
        ("java", "HashMap", [{"a": [1]}], 'new HashMap<>() {{ put("a", 1); }}', None),
        ("java", "Set", [[]], "new HashSet<>()", "case_error:NotImplementedError"),
        ("java", "Array[Set]", [[]], "new Set[]{a}", "case_error:NotImplementedError"),
        ("java", "Array[string]", [[]], "new Set[]{a}", "case_error:KeyError"),
        ("java", "string", ["a"], "a", "case_error:KeyError"),
        ("java", "integer", [5], LONG, "case_error:ValueError"),
        ("javascript", "integer", [5], "5", None),
        ("javascript", "integer", [5], 5, "type_error:js"),
        ("javascript", "String", ["a"], "'A'", None),
        ("javascript", "array[float]", [[1.5]], "[1.5]", None),
        ("javascript", "array[String]", [["a"]], "a", "type_error:simple"),
        ("javascript", "dict", [{"a": [1]}], "{a: 1}", None),
        ("javascript", "Bigint", [5], "5n\n", "case_error:ValueError"),
        ("javascript", "string", ["a"], "a", "case_error:KeyError"),
    ],
)
def test_source_text_is_judged_by_its_value(
    language: Any, word: str, alternatives: Any, value: Any, error: str | None
) -> None:
    assert ruled(word, alternatives, value, language=language) == error


PIECES = [
    *("new ", "new ArrayList<>(Arrays.asList(", "new ArrayList<>() {{", "add(", "add(1)", "))\n", "new a[]{"),
    *("new HashMap<", "new HashMap<>() {", ">()", 'put("', 'put("a",', 'put("a",\n', 'put("a",1)', '",', "{", "}"),
    *(
        "[",
        "]",
        "[]",
        "[[",
        "],[",
        "[1],",
        "new Array(",
        ")",
        "a:",
        ": ",
        "::",
        "a:1,",
        ",",
        "-,",
        "9",
        "9.",
        " ",
        "\n",
    ),
]


@pytest.mark.timeout(60)
@pytest.mark.parametrize("piece", PIECES)
def test_a_megabyte_is_read_in_no_time(piece: str) -> None:
    openings = {
        java_value: {
            "Array": ("new int[]{", "}"),
            "ArrayList": ("new ArrayList<>() {{", "}}"),
            "HashMap": ('new HashMap<>() {{ put("a",', ""),
        },
        javascript_value: {"array": ("[[", ""), "dict": ("{a:", "}")},
    }
    for read, words in openings.items():
        for word, (opening, closing) in words.items():
            text = opening + piece * (200_000 // len(piece)) + closing
            with contextlib.suppress(ValueError):  # more digits than Python reads
                read(text, word, "integer" if "rray" in word else None)


def test_what_is_enclosed_may_begin_at_the_second_character() -> None:
    assert list(enclosed_texts("[a] [b", re.compile(r"\["), "]")) == ["a"]
