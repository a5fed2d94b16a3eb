"""Questions that are put to compiled libraries and to what stands in for them."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import Any

from tests.pages import ROOT

_TEXTS = ["", "a", "ab", "x-1", "2026-11-21", "16:30:00Z", "2026-11-21T16:30:00Z", "a@example.org", "10.0.0.1", "::1"]
_SCALARS: list[Any] = [*_TEXTS, 0, 1, 2, -3, 7, 1.0, 0.5, 0.3, 1e300, 2**40, True, False, None]
_NAMES = ["a", "b", "c", "x-1"]
_PATTERNS = ["^a", "b$", r"^\d{4}-\d\d", r"^[\w-]+$", "a|b", r"\.", "^(?:x|y)-1$", r"^\S*$"]
FORMATS = [
    *("date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6"),
    *("json-pointer", "relative-json-pointer", "time", "uuid"),
]
"""The formats that the playground checks."""


def schema_questions(count: int) -> Iterator[Any]:
    """Parameters of tools, each with values; always the same ones."""
    for seed in range(count):
        chance = random.Random(seed)  # noqa: S311  no secret
        properties = {name: _schema(chance, 3) for name in chance.sample(_NAMES, chance.randint(1, 3))}
        parameters = {"type": "object", "properties": properties, "$defs": {"d": _referred(chance)}}
        if chance.random() < 0.5:
            parameters["required"] = chance.sample(_NAMES, 1)
        if chance.random() < 0.2:
            parameters["additionalProperties"] = _schema(chance, 1)
        yield parameters, [_object(chance, 3) for _ in range(6)]


def _referred(chance: random.Random) -> Any:
    inside = _schema(chance, 0)
    if chance.random() < 0.5:
        return inside
    return {"type": "object", "properties": {"a": inside, "b": {"$ref": "#/$defs/d"}}, "required": ["a"]}


def _schema(chance: random.Random, depth: int) -> Any:
    kinds = [_typed, _typed, _bounded, _text, _fixed]
    if depth > 0:
        kinds += [_array, _object_schema, _object_schema, _union, _union, _combined, _conditional, _reference]
    if chance.random() < 0.05:
        return chance.choice([True, False])
    return chance.choice(kinds)(chance, depth - 1)


def _typed(chance: random.Random, depth: int) -> Any:
    names = ["string", "integer", "number", "boolean", "null", "object", "array"]
    return {"type": chance.choice(names) if chance.random() < 0.7 else chance.sample(names, 2)}


def _bounded(chance: random.Random, depth: int) -> Any:
    names = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]
    schema: Any = {"type": chance.choice(["integer", "number"]), chance.choice(names): chance.choice([0, 1, 2.5, -3])}
    if chance.random() < 0.4:
        schema["multipleOf"] = chance.choice([1, 2, 0.1, 0.5, 0.01])
    if chance.random() < 0.2:
        schema["format"] = chance.choice(["int8", "uint8", "int64"])
    return schema


def _text(chance: random.Random, depth: int) -> Any:
    rules: list[Any] = [{"minLength": 2}, {"maxLength": 1}, {"pattern": chance.choice(_PATTERNS)}]
    return {"type": "string", **chance.choice([*rules, {"format": chance.choice(FORMATS)}])}


def _fixed(chance: random.Random, depth: int) -> Any:
    return chance.choice([{"enum": chance.sample(_SCALARS, 3)}, {"const": chance.choice([*_SCALARS, [1], {"a": 1}])}])


def _array(chance: random.Random, depth: int) -> Any:
    rules: list[Any] = [
        {"items": _schema(chance, depth)},
        {"minItems": 1, "maxItems": 2},
        {"uniqueItems": True},
        {"contains": _schema(chance, depth)},
        {"contains": _schema(chance, depth), "minContains": 2},
        {"contains": _schema(chance, depth), "maxContains": 1},
        {"prefixItems": [_schema(chance, depth)], "items": chance.choice([False, _schema(chance, depth)])},
        {"prefixItems": [_schema(chance, depth)], "unevaluatedItems": False},
    ]
    return {"type": "array", **chance.choice(rules)}


def _object_schema(chance: random.Random, depth: int) -> Any:
    schema: Any = {"type": "object", "properties": {name: _schema(chance, depth) for name in chance.sample(_NAMES, 2)}}
    rules: list[Any] = [
        {},
        {"required": chance.sample(_NAMES, 2)},
        {"additionalProperties": False},
        {"additionalProperties": _schema(chance, depth)},
        {"minProperties": 1, "maxProperties": 2},
        {"patternProperties": {chance.choice(_PATTERNS): _schema(chance, depth)}},
        {"propertyNames": {"maxLength": 1}},
        {"propertyNames": {"pattern": "^[a-z]$"}},
        {"dependentRequired": {"a": ["b", "c"]}},
        {"dependentSchemas": {"a": _object_schema(chance, depth - 1) if depth > 0 else {}}},
        {"unevaluatedProperties": False},
        {"unevaluatedProperties": _schema(chance, depth)},
    ]
    return {**schema, **chance.choice(rules)}


def _union(chance: random.Random, depth: int) -> Any:
    return {chance.choice(["anyOf", "oneOf"]): [_schema(chance, depth) for _ in range(chance.randint(1, 3))]}


def _combined(chance: random.Random, depth: int) -> Any:
    if chance.random() < 0.3:
        return {"not": _schema(chance, depth)}
    return {"allOf": [_schema(chance, depth), _schema(chance, depth)]}


def _conditional(chance: random.Random, depth: int) -> Any:
    return {"if": _schema(chance, depth), "then": _schema(chance, depth), "else": _schema(chance, depth)}


def _reference(chance: random.Random, depth: int) -> Any:
    return {"$ref": "#/$defs/d"}


def _object(chance: random.Random, depth: int) -> Any:
    return {name: _value(chance, depth - 1) for name in chance.sample(_NAMES, chance.randint(0, 3))}


def _value(chance: random.Random, depth: int) -> Any:
    if depth > 0 and chance.random() < 0.5:
        if chance.random() < 0.6:
            return _object(chance, depth)
        return [_value(chance, depth - 1) for _ in range(chance.randint(0, 3))]
    return chance.choice(_SCALARS)


def yaml_texts() -> Iterator[str]:
    """All YAML of the repository: files, and blocks of pages."""
    for path in sorted(
        [*ROOT.glob("cases/**/*.yaml"), *ROOT.glob("docs/**/*.yaml"), *ROOT.glob("benchmarks/**/*.yaml")]
    ):
        yield path.read_text("utf-8")
    for page in sorted(ROOT.glob("docs/**/*.md")):
        yield from re.findall(r"^```ya?ml\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)


def broken_texts(count: int) -> Iterator[str]:
    """The examples of the playground with a letter more or less; always the same ones.

    Without tags and directives, in whose errors both parsers differ.
    """
    texts = [path.read_text("utf-8") for path in sorted(ROOT.glob("docs/site/playground/examples/*.yaml"))]
    for seed in range(count):
        chance = random.Random(seed)  # noqa: S311  no secret
        text = chance.choice(texts)
        place = chance.randrange(len(text))
        end = place + chance.choice([0, 1, 1, 2])
        yield text[:place] + chance.choice(["", "", *"[]{},:-'\"&*|>@`#\t\n ", ": ", "- "]) + text[end:]


def expressions() -> Iterator[Any]:
    """Regular expressions with texts."""
    texts = ["", "a", "aa", "Anna", "2026-11-21", "19:30", "a b", "é", "x\n", "NW-1", "+47 123", "()", "a{2}", "ab"]
    written = [
        *("a", "a+", "[Aa]nna", r"\d{4}-\d\d-\d\d", "19:(15|30|45)", r"\w+", "(?i)ANNA", r"(?P<x>a)(?P=x)", "a{1,2}"),
        *(
            "(?:NW|SE)-[0-9]",
            r"\+?[0-9 ]+",
            ".",
            ".*",
            "(?s).*",
            "[^a]",
            r"\(\)",
            r"a\{2}",
            "a{,2}",
            "(?<=a)b",
            "é",
            "[é-ü]",
        ),
        *(
            "a++",
            "(?>a+)",
            r"\s",
            r"\bAnna\b",
            r"\A.*\Z",
            "a|b",
            "(a)?(?(1)b|c)",
            "[",
            "(",
            "a{2",
            "*",
            r"\p{L}+",
            r"\X",
        ),
        *("(?:ab){e<=1}", "[[:alpha:]]+", "(?|a|b)", r"(a)(?1)", "(?<=a+)b", r"\K", "(?b)a", r"\h", "a{1e}", "[a--b]"),
    ]
    return ([each, texts] for each in written)
