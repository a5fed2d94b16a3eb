"""The official rules for one argument: first its type, then its value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

from pytest_fcall.core.expectation import Language
from pytest_fcall.matching.bfcl.java import java_value
from pytest_fcall.matching.bfcl.javascript import javascript_value
from pytest_fcall.matching.bfcl.official_case import Objection, Ruling, objection, short_repr

_DROPPED = " ,./-_*^"
_LISTS = (list, str)
_Typed: TypeAlias = tuple[Any, type, type | None]
"""A value, its declared type, and that of its items."""

_PYTHON: Mapping[str, type] = MappingProxyType(
    {
        "string": str,
        "integer": int,
        "float": float,
        "boolean": bool,
        "array": list,
        "tuple": list,
        "dict": dict,
        "any": str,
    }
)
_JAVA: Mapping[str, type] = MappingProxyType(
    {
        "byte": int,
        "short": int,
        "integer": int,
        "long": int,
        "float": float,
        "double": float,
        "boolean": bool,
        "char": str,
        "String": str,
        "any": str,
        "Array": list,
        "ArrayList": list,
        "Queue": list,
        "Stack": list,
        "Set": set,
        "HashMap": dict,
        "Hashtable": dict,
    }
)
_JAVASCRIPT: Mapping[str, type] = MappingProxyType(
    {
        "String": str,
        "integer": int,
        "Bigint": int,
        "float": float,
        "Boolean": bool,
        "array": list,
        "dict": dict,
        "any": str,
    }
)


def check_argument(language: Language, name: str, schema: Any, value: Any, alternatives: Any) -> Objection:
    """Check a value by the schema of its parameter and the alternatives.

    If the first alternative has another type than the declared one, it counts as the name of a variable: values of its
    type are accepted, too, and all values are compared without standard forms.
    """
    typed = SOURCE_READERS[language](schema, value)
    if typed is None:
        error_type = "type_error:java" if language == "java" else "type_error:js"
        return objection(error_type, f"`{name}` is not source text: {short_repr(value)}", argument=name)
    value, declared, inner = typed
    meant = _first_type(alternatives)
    if wrong := _check_type(name, value, alternatives, declared, inner, meant):
        return wrong
    if meant is None or meant is declared:
        check = _check_objects if inner is dict else _CHECKS.get(declared)
        if check is not None:
            return check(name, value, alternatives)
    if value in alternatives:
        return None
    message = f"`{name}` is {short_repr(value)}, not one of {short_repr(alternatives)}"
    return objection("value_error:others", message, argument=name)


def _check_string(name: str, value: str, alternatives: Any) -> Objection:
    """Compare a string with each alternative that is one."""
    form = _standard_text(value)
    for answer in _items_by_number(alternatives):
        if type(answer) is str and _standard_text(answer) == form:
            return None
    message = f"`{name}` is {short_repr(value)}, not one of {short_repr(alternatives)}"
    return objection("value_error:string", message, argument=name)


def _check_list(name: str, value: list[Any], alternatives: Any) -> Objection:
    """Compare a list with each alternative. An empty string counts as an empty list."""
    answers = _items_by_number(alternatives)
    if all(type(answer) in _LISTS for answer in answers) and value in answers:
        return None
    form = _standard_items(value)
    if form in [_standard_items(answer) for answer in answers]:
        return None
    message = f"`{name}` is {short_repr(value)}, not one of {short_repr(alternatives)}"
    return objection("value_error:list/tuple", message, argument=name)


def _check_object(name: str, value: Any, alternatives: Any) -> Objection:
    """Compare an object with each alternative; the errors are those of the last one."""
    wrong = objection("dict_checker:unclear", f"`{name}` must be left out", argument=name)
    for answer in _items_by_number(alternatives):
        if answer == "":
            continue
        found = _differences(value, answer)
        if not found:
            return None
        wrong = Ruling(False, found[-1][0], tuple(message for _, message in found), name)
    return wrong


def _check_objects(name: str, value: Any, alternatives: Any) -> Objection:
    """Compare a list of objects with each alternative, object by object. There is one, as without any no type fits."""
    wrong: Objection = None
    for answers in _items_by_number(alternatives):
        if len(value) != len(answers):
            message = f"`{name}` has {len(value)} objects, not {len(answers)}"
            wrong = objection("value_error:list_dict_count", message, argument=name)
            continue
        wrong = next(filter(None, (_check_object(name, value[i], [answers[i]]) for i in range(len(value)))), None)
        if wrong is None:
            return None
    return wrong


def _differences(value: Any, answer: Any) -> list[tuple[str, str]]:
    """The first wrong key and the first missing key, with official names; the last one names the error."""
    found = []
    for key, item in value.items():
        if key not in answer:
            found.append(("value_error:dict_key", f"the key {str(key)!r} is not expected"))
            break
        allowed = [_standard_if_string(option) for option in _items_by_number(answer[key])]
        if _standard_if_string(item) not in allowed:
            found.append(
                ("value_error:dict_value", f"{short_repr(key)} is {short_repr(item)}, not in {short_repr(allowed)}")
            )
            break
    for key, options in answer.items():
        if key not in value and "" not in options:
            found.append(("value_error:dict_key", f"the key {str(key)!r} is missing"))
            break
    return found


def _check_type(
    name: str, value: Any, alternatives: Any, declared: type, inner: type | None, meant: type | None
) -> Objection:
    """Check the exact type of a value, and those of its items if `inner` is given; deeper values are not checked."""
    given = type(value)
    if given is declared:
        if inner is None or _items_fit(value, alternatives, inner):
            return None
        message = f"`{name}` has an item that is not of type {inner.__name__}: {short_repr(value)}"
        # If the first alternative has the declared type, the official name of the error is another one.
        return objection("type_error:nested" if meant is declared else "type_error:simple", message, argument=name)
    if given is meant:
        return None
    message = f"`{name}` is of type {given.__name__}, not {declared.__name__}: {short_repr(value)}"
    return objection("type_error:simple", message, argument=name)


def _first_type(alternatives: Any) -> type | None:
    """The type of the first alternative that is not an empty string, which stands for leaving out."""
    for alternative in alternatives:
        if alternative != "":
            return type(alternative)
    return None


def _items_fit(value: Any, alternatives: Any, inner: type) -> bool:
    """Whether the items fit any alternative. One that is not a list, such as an empty string, accepts all items."""
    return any(type(answer) is not list or _all_fit(value, answer, inner) for answer in alternatives)


def _all_fit(items: Any, answer: list[Any], inner: type) -> bool:
    meant = _first_type(answer)
    for item in items:
        if type(item) is not inner and type(item) is not meant:
            short_repr(item)  # fails where the official checker does, which writes out each misfit
            return False
    return True


def _python(schema: Any, value: Any) -> _Typed:
    """Convert a tuple to a declared list and an integer to a declared float, but not inside lists."""
    word = schema["type"]
    declared = _PYTHON[word]
    if declared is list:
        inner = _PYTHON[schema["items"]["type"]]
        return (list(value) if type(value) is tuple and word == "tuple" else value), declared, inner
    if declared is float and type(value) is int:
        value = float(value)
    return value, declared, None


def _java(schema: Any, value: Any) -> _Typed | None:
    """Read Java source text."""
    word = schema["type"]
    declared = _JAVA[word]
    if type(value) is not str:
        return None
    if word in {"Array", "ArrayList"}:
        inner = schema["items"]["type"]
        declared_inner = _JAVA[inner]
        return java_value(value, word, inner), declared, declared_inner
    return java_value(value, word), declared, None


def _javascript(schema: Any, value: Any) -> _Typed | None:
    """Read JavaScript source text."""
    word = schema["type"]
    declared = _JAVASCRIPT[word]
    if type(value) is not str:
        return None
    if word == "array":
        inner = schema["items"]["type"]
        declared_inner = _JAVASCRIPT[inner]
        return javascript_value(value, word, inner), declared, declared_inner
    return javascript_value(value, word), declared, None


def _standard_text(text: str) -> str:
    """The text without spaces, case and punctuation: -5 becomes 5, and 1.5 becomes 15."""
    if text.isalnum():
        return text.lower()
    for character in _DROPPED:
        text = text.replace(character, "")
    return text.lower().replace("'", '"')


def _standard_if_string(value: Any) -> Any:
    """The standard form of a string; any other value as it is, strings inside lists included."""
    return _standard_text(value) if type(value) is str else value


def _standard_items(items: Any) -> list[Any]:
    return [_standard_if_string(item) for item in _items_by_number(items)]


def _items_by_number(items: Any) -> list[Any]:
    """The items by index, as the official checker takes them. Raises what indexing raises for other values."""
    return items if type(items) is list else [items[number] for number in range(len(items))]


_CHECKS: Mapping[type, Callable[[str, Any, Any], Objection]] = MappingProxyType(
    {str: _check_string, list: _check_list, dict: _check_object}
)


SOURCE_READERS: Mapping[Language, Callable[[Any, Any], _Typed | None]] = MappingProxyType(
    {"python": _python, "java": _java, "javascript": _javascript}
)
"""Readers of values as their parameters declare them; they return None for values that must be source text."""


EXACT_TYPES: Mapping[Language, Mapping[str, type]] = MappingProxyType(
    {
        "python": {word: declared for word, declared in _PYTHON.items() if declared not in (list, dict)},
        "java": {},
        "javascript": {},
    }
)
"""By official name, the types whose values are right if they equal an alternative. Source text has none."""
