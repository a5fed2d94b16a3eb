"""One argument by the official rules: first its type, then its value; strings, lists and objects have rules of their
own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from pytest_fcall.core.expectation import Language
from pytest_fcall.matching.bfcl.ruling import Objection, Ruling, objection, short_repr
from pytest_fcall.matching.bfcl.types import SOURCE_READERS

_DROPPED = " ,./-_*^"


def standard_text(text: str) -> str:
    """Drop what does not count, so that -5 is 5 and 1.5 is 15; what is only punctuation is empty."""
    if text.isalnum():
        return text.lower()
    for character in _DROPPED:
        text = text.replace(character, "")
    return text.lower().replace("'", '"')


def standard_if_string(value: Any) -> Any:
    """Put a string into its standard form; leave anything else, what stands in a list within included."""
    return standard_text(value) if type(value) is str else value


def items_by_number(items: Any) -> list[Any]:
    """Go through items by number, as the official checker does: what has none breaks it."""
    return items if type(items) is list else [items[number] for number in range(len(items))]


def check_string(name: str, value: str, alternatives: Any) -> Objection:
    """Compare with each alternative that is a string."""
    form = standard_text(value)
    for answer in items_by_number(alternatives):
        if type(answer) is str and standard_text(answer) == form:
            return None
    message = f"`{name}` is {short_repr(value)}, not one of {short_repr(alternatives)}"
    return objection("value_error:string", message, argument=name)


_LISTS = (list, str)


def check_list(name: str, value: list[Any], alternatives: Any) -> Objection:
    """Compare with each alternative as a list, the empty text too: an empty list stands for what may be left out."""
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
    """Compare with each alternative; what is wrong with the last one is told."""
    wrong = objection("dict_checker:unclear", f"`{name}` may only be left out", argument=name)
    for answer in items_by_number(alternatives):
        if answer == "":
            continue
        found = _differences(value, answer)
        if not found:
            return None
        wrong = Ruling(False, found[-1][0], tuple(message for _, message in found), name)
    return wrong


def check_objects(name: str, value: Any, alternatives: Any) -> Objection:
    """Compare a list of objects with each alternative, in order."""
    wrong: Objection = objection("list_dict_checker:unclear", f"`{name}` has no right value", argument=name)
    for answers in items_by_number(alternatives):
        if len(value) != len(answers):
            message = f"`{name}` holds {len(value)} objects, not {len(answers)}"
            wrong = objection("value_error:list_dict_count", message, argument=name)
            continue
        wrong = next(filter(None, (check_object(name, value[i], [answers[i]]) for i in range(len(value)))), None)
        if wrong is None:
            return None
    return wrong


def _differences(value: Any, answer: Any) -> list[tuple[str, str]]:
    """Give the first key with a wrong value and the first that is missing: that one names the error."""
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
            found.append(("value_error:dict_key", f"the key {str(key)!r} may not be left out"))
            break
    return found


def first_type(alternatives: Any) -> type | None:
    """Give the type of the first alternative; the mark for what may be left out is none."""
    for alternative in alternatives:
        if alternative != "":
            return type(alternative)
    return None


def check_type(
    name: str, value: Any, alternatives: Any, declared: type, inner: type | None, meant: type | None
) -> Objection:
    """Check a value's exact type, and those of its items where `inner` is given; deeper down nothing is checked."""
    given = type(value)
    if given is declared:
        if inner is None or _items_fit(value, alternatives, inner):
            return None
        message = f"`{name}` holds an item that is no {inner.__name__}: {short_repr(value)}"
        # The type of the first alternative would have excused the value as a whole.
        return objection("type_error:nested" if meant is declared else "type_error:simple", message, argument=name)
    if given is meant:
        return None
    message = f"`{name}` is of type {given.__name__}, not {declared.__name__}: {short_repr(value)}"
    return objection("type_error:simple", message, argument=name)


def _items_fit(value: Any, alternatives: Any, inner: type) -> bool:
    """Check items against any one alternative. One that is no list, such as the mark for omission, excuses them all."""
    return any(type(answer) is not list or _all_fit(value, answer, inner) for answer in alternatives)


def _all_fit(items: Any, answer: list[Any], inner: type) -> bool:
    meant = first_type(answer)
    for item in items:
        if type(item) is not inner and (meant is None or type(item) is not meant):
            short_repr(item)  # breaks where the official checker, which writes out each misfit, does
            return False
    return True


def check_argument(language: Language, name: str, schema: Any, value: Any, alternatives: Any) -> Objection:
    """Check a value against what its parameter declares, and against the alternatives that are right.

    Where the first alternative is of another type than the one declared, it counts as the name of a variable: values
    of its type are taken too, and all are compared as they are.
    """
    typed = SOURCE_READERS[language](schema, value)
    if typed is None:
        error_type = "type_error:java" if language == "java" else "type_error:js"
        return objection(error_type, f"`{name}` is no source text: {short_repr(value)}", argument=name)
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
