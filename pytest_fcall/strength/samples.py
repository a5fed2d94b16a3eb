"""Values made up: such as a schema allows, such as the question of a case has, such as an expression matches."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from types import MappingProxyType
from typing import Final, cast

from pytest_fcall.core.case import Case
from pytest_fcall.core.values import Json
from pytest_fcall.schema.tool_schema import ToolSchema

_MOST_WORDS: Final = 60
_LONGEST_TEXT: Final = 4000
_DEEPEST: Final = 6
_MOST_FORMS: Final = 4
_OF_FORMAT: Final[Mapping[str, str]] = MappingProxyType(
    {
        "date": "2026-11-21",
        "date-time": "2026-11-21T16:30:00Z",
        "time": "16:30:00Z",
        "duration": "PT1H30M",
        "email": "ana@example.org",
        "hostname": "example.org",
        "ipv4": "192.0.2.1",
        "ipv6": "2001:db8::1",
        "uri": "https://example.org/a",
        "uuid": "2eb8aa08-aa98-11ea-b4aa-73b441d16380",
    }
)
_QUOTED: Final = re.compile(r"\"([^\"\n]{1,80})\"|“([^”\n]{1,80})”|'([^'\n]{2,80})'(?!\w)")
_NUMBER: Final = re.compile(r"(?<![\w.])-?\d{1,9}(?:\.\d{1,6})?(?![\w.]*\d)")
_NAME: Final = re.compile(r"[A-ZÀ-Þ][\w'’-]*(?: [A-ZÀ-Þ0-9][\w'’-]*)*")
_WORD: Final = re.compile(r"[^\W_][\w'-]*")


def words_of_question(case: Case) -> tuple[str, ...]:
    """The quoted texts, the names and the words in the user's messages, each once, in this order."""
    text = "\n".join(_texts(case))[:_LONGEST_TEXT]
    found = dict.fromkeys(next(filter(None, quoted.groups())) for quoted in _QUOTED.finditer(text))
    found |= dict.fromkeys(name[0] for name in _NAME.finditer(text))
    found |= dict.fromkeys(word[0] for word in _WORD.finditer(text))
    return tuple(islice(found, _MOST_WORDS))


def numbers_of_question(case: Case) -> tuple[int | float, ...]:
    """The numbers in the user's messages, each once."""
    text = "\n".join(_texts(case))[:_LONGEST_TEXT]
    written = dict.fromkeys(found[0] for found in _NUMBER.finditer(text))
    return tuple(float(number) if "." in number else int(number) for number in islice(written, _MOST_WORDS))


def _texts(case: Case) -> Iterator[str]:
    for turn in case.turns:
        for message in turn.messages:
            content = message.get("content")
            if message.get("role") == "user" and isinstance(content, str):
                yield content


def schema_sample(schema: Mapping[str, Json], depth: int = 0) -> Iterator[Json]:
    """Values that a schema is likely to allow, the most telling first. The caller checks them."""
    if "const" in schema:
        yield schema["const"]
    for key in ("examples", "enum"):
        listed = schema.get(key)
        if isinstance(listed, list):
            yield from (item for item in listed if item is not None)
    for key in ("example", "default"):
        if schema.get(key) is not None:
            yield schema[key]
    for key in ("anyOf", "oneOf", "allOf"):
        forms = schema.get(key)
        for form in forms[:_MOST_FORMS] if isinstance(forms, list) and depth < _DEEPEST else ():
            if isinstance(form, Mapping) and form.get("type") != "null":
                yield from schema_sample(form, depth + 1)
    kinds = schema.get("type")
    for kind in kinds if isinstance(kinds, list) else [kinds]:
        yield from _of_type(kind, schema, depth)


def _of_type(kind: Json, schema: Mapping[str, Json], depth: int) -> Iterator[Json]:
    match kind:
        case "string":
            yield from _texts_of(schema)
        case "integer" | "number":
            yield from _numbers_of(schema)
        case "boolean":
            yield True
        case "array":
            yield from _list_of(schema, depth)
        case "object":
            yield from _object_of(schema, depth)
        case None if "properties" in schema:
            yield from _object_of(schema, depth)
        case None if not schema.keys() & {"const", "enum", "anyOf", "oneOf", "allOf"}:
            yield from ("something", 7)


def _texts_of(schema: Mapping[str, Json]) -> Iterator[str]:
    name = schema.get("format")
    if isinstance(name, str) and name in _OF_FORMAT:
        yield _OF_FORMAT[name]
    written = schema.get("pattern")
    if isinstance(written, str):
        yield from expression_samples(written)
    least = schema.get("minLength")
    yield "something"
    if isinstance(least, int) and 9 < least <= _LONGEST_TEXT:
        yield ("something " * least)[:least]
    yield "a"


def _numbers_of(schema: Mapping[str, Json]) -> Iterator[int | float]:
    bounds = [schema.get(key) for key in ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf")]
    known = [bound for bound in bounds if isinstance(bound, int | float) and not isinstance(bound, bool)]
    yield 7
    for bound in known:
        yield from (bound, bound + 1, bound - 1, (known[0] + known[-1]) / 2)


def _list_of(schema: Mapping[str, Json], depth: int) -> Iterator[Json]:
    items = schema.get("items")
    least = schema.get("minItems")
    count = least if isinstance(least, int) and 0 < least <= 20 else 1
    if isinstance(items, Mapping) and depth < _DEEPEST:
        for item in islice(schema_sample(items, depth + 1), 4):
            yield [item] * count
    else:
        yield ["something"] * count


def _object_of(schema: Mapping[str, Json], depth: int) -> Iterator[Json]:
    properties, required = schema.get("properties"), schema.get("required")
    made: dict[str, Json] = {}
    for name in required if isinstance(required, list) and depth < _DEEPEST else ():
        inner = properties.get(str(name)) if isinstance(properties, Mapping) else None
        made[str(name)] = next(schema_sample(inner if isinstance(inner, Mapping) else {}, depth + 1), "something")
    yield made


def fitting_sample(schema: ToolSchema, path: Sequence[str | int], declared: Mapping[str, Json]) -> Iterator[Json]:
    """Values that the schema allows at a path, of those that are made of its text."""
    for value in islice(schema_sample(declared), 30):
        if not schema.check_at(path, value):
            yield value


def declared_schema(schema: ToolSchema | None, path: Sequence[str | int]) -> Mapping[str, Json]:
    """The schema that the tool declares at a path of its arguments; empty where that is unknown."""
    if schema is None or not path:
        return {}
    *above, last = path
    if isinstance(last, int):
        listed = declared_schema(schema, above).get("items")
        return listed if isinstance(listed, Mapping) else {}
    return schema.properties_at(tuple(above)).schemas.get(last, {})


_MOST_REPEATS: Final = 3
_LETTERS: Final = "aA0 -.,é"
_CATEGORIES: Final = {"CATEGORY_DIGIT": "1", "CATEGORY_WORD": "a", "CATEGORY_SPACE": " ", "CATEGORY_NOT_DIGIT": "a"}


def expression_samples(written: str) -> Iterator[str]:
    """Texts that a regular expression of the common kind matches; none where it is of another."""
    try:
        from re import _parser  # type: ignore[attr-defined]  # the only parser of expressions in the library

        parsed = _parser.parse(written)
        for repeats in (0, 1, _MOST_REPEATS):
            yield _expression_text(parsed, repeats)
    except (ImportError, re.error, RecursionError, OverflowError, LookupError, ValueError):
        return


def _expression_text(parsed: object, repeats: int) -> str:
    return "".join(_piece_text(str(kind), argument, repeats) for kind, argument in parsed)  # type: ignore[attr-defined]


def _piece_text(kind: str, argument: object, repeats: int) -> str:
    match kind, argument:
        case "LITERAL", int(code):
            return chr(code)
        case "NOT_LITERAL", int(code):
            return "a" if code != ord("a") else "b"
        case "ANY", _:
            return "a"
        case "IN", list():
            return _class_text(cast("Sequence[tuple[object, object]]", argument))
        case "BRANCH", (_, [first, *_]):
            return _expression_text(first, repeats)
        case "SUBPATTERN", (*_, inner):
            return _expression_text(inner, repeats)
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT", (int(least), int(most), inner):
            times = max(least, min(repeats, most))
            return _repeated(_expression_text(inner, repeats), times)
        case "AT" | "ASSERT" | "ASSERT_NOT", _:
            return ""
    raise ValueError(kind)


def _repeated(text: str, times: int) -> str:
    if len(text) * times > _LONGEST_TEXT:
        raise ValueError("too long")
    return text * times


def _class_text(options: Sequence[tuple[object, object]]) -> str:
    if not options or str(options[0][0]) == "NEGATE":
        return next((letter for letter in _LETTERS if ord(letter) not in _codes(options)), "a")
    match str(options[0][0]), options[0][1]:
        case "LITERAL", int(code):
            return chr(code)
        case "RANGE", (int(first), _):
            return chr(first)
        case _, category:
            return _CATEGORIES.get(str(category), "a")


def _codes(options: Sequence[tuple[object, object]]) -> set[int]:
    """The letters that a class names one by one or as a range, as far as they are ASCII."""
    found: set[int] = set()
    for kind, argument in options:
        match str(kind), argument:
            case "LITERAL", int(code):
                found.add(code)
            case "RANGE", (int(first), int(last)):
                found |= {*range(first, min(last, 127) + 1)}
            case "CATEGORY", category if str(category) in ("CATEGORY_WORD", "CATEGORY_DIGIT"):
                found |= {ord(letter) for letter in _LETTERS if letter.isalnum()}
    return found
