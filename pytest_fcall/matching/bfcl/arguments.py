"""The official rules for one argument: first its type, then its value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from pytest_fcall.core.expectation import Language
from pytest_fcall.matching.bfcl.ruling import Objection, Ruling, objection, short_repr
from pytest_fcall.matching.bfcl.types import SOURCE_READERS

_DROPPED = " ,./-_*^"


def standard_text(text: str) -> str:
    """The text without spaces, case and punctuation: -5 becomes 5, and 1.5 becomes 15."""
    if text.isalnum():
        return text.lower()
    for character in _DROPPED:
        text = text.replace(character, "")
    return text.lower().replace("'", '"')


def standard_if_string(value: Any) -> Any:
    """The standard form of a string; any other value as it is, strings inside lists included."""
    return standard_text(value) if type(value) is str else value


def items_by_number(items: Any) -> list[Any]:
    """The items by index, as the official checker takes them. Raises what indexing raises for other values."""
    return items if type(items) is list else [items[number] for number in range(len(items))]


def check_string(name: str, value: str, alternatives: Any) -> Objection:
    """Compare a string with each alternative that is one."""
    form = standard_text(value)
    for answer in items_by_number(alternatives):
        if type(answer) is str and standard_text(answer) == form:
            return None
    message = f"`{name}` is {short_repr(value)}, not one of {short_repr(alternatives)}"
    return objection("value_error:string", message, argument=name)


_LISTS = (list, str)


def check_list(name: str, value: list[Any], alternatives: Any) -> Objection:
    """Compare a list with each alternative. An empty string counts as an empty list."""
    answers = items_by_number(alternatives)
    if all(type(answer) in _LISTS for answer in answers) and value in answers:
        return None
    form = _standard_items(value)
    if form in [_standard_items(answer) for answer in answers]:
        return None
    message = f"`{name}` is {short_repr(value)}, not one of {short_repr(alternatives)}"
    return objection("value_error:list/tuple", message, argument=name)


def _standard_items(items: Any) -> list[Any]:
    return [standard_if_string(item) for item in items_by_number(items)]


def check_object(name: str, value: Any, alternatives: Any) -> Objection:
    """Compare an object with each alternative; the errors are those of the last one."""
    wrong = objection("dict_checker:unclear", f"`{name}` must be left out", argument=name)
    for answer in items_by_number(alternatives):
        if answer == "":
            continue
        found = _differences(value, answer)
        if not found:
            return None
        wrong = Ruling(False, found[-1][0], tuple(message for _, message in found), name)
    return wrong


def check_objects(name: str, value: Any, alternatives: Any) -> Objection:
    """Compare a list of objects with each alternative, object by object."""
    wrong: Objection = objection("list_dict_checker:unclear", f"`{name}` has no alternatives", argument=name)
    for answers in items_by_number(alternatives):
        if len(value) != len(answers):
            message = f"`{name}` has {len(value)} objects, not {len(answers)}"
            wrong = objection("value_error:list_dict_count", message, argument=name)
            continue
        wrong = next(filter(None, (check_object(name, value[i], [answers[i]]) for i in range(len(value)))), None)
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
        allowed = [standard_if_string(option) for option in items_by_number(answer[key])]
        if standard_if_string(item) not in allowed:
            found.append(
                ("value_error:dict_value", f"{short_repr(key)} is {short_repr(item)}, not in {short_repr(allowed)}")
            )
            break
    for key, options in answer.items():
        if key not in value and "" not in options:
            found.append(("value_error:dict_key", f"the key {str(key)!r} is missing"))
            break
    return found


def first_type(alternatives: Any) -> type | None:
    """The type of the first alternative that is not an empty string, which stands for leaving out."""
    for alternative in alternatives:
        if alternative != "":
            return type(alternative)
    return None


def check_type(
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


def _items_fit(value: Any, alternatives: Any, inner: type) -> bool:
    """Whether the items fit any alternative. One that is not a list, such as an empty string, accepts all items."""
    return any(type(answer) is not list or _all_fit(value, answer, inner) for answer in alternatives)


def _all_fit(items: Any, answer: list[Any], inner: type) -> bool:
    meant = first_type(answer)
    for item in items:
        if type(item) is not inner and (meant is None or type(item) is not meant):
            short_repr(item)  # fails where the official checker does, which writes out each misfit
            return False
    return True


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
    fits = type(value) is declared and inner is None
    meant = first_type(alternatives)
    if not fits and (wrong := check_type(name, value, alternatives, declared, inner, meant)):
        return wrong
    if meant is None or meant is declared:
        check = check_objects if inner is dict else _CHECKS.get(declared)
        if check is not None:
            return check(name, value, alternatives)
    if value in alternatives:
        return None
    message = f"`{name}` is {short_repr(value)}, not one of {short_repr(alternatives)}"
    return objection("value_error:others", message, argument=name)


_CHECKS: Mapping[type, Callable[[str, Any, Any], Objection]] = MappingProxyType(
    {str: check_string, list: check_list, dict: check_object}
)
