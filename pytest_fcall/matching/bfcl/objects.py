"""Objects, and lists of them: alternatives for each key, one level deep, and nothing is said of types."""

from __future__ import annotations

from typing import Any

from pytest_fcall.matching.bfcl.ruling import Objection, Ruling, objection, written
from pytest_fcall.matching.bfcl.strings import each, standard_if_string


def check_object(name: str, value: Any, alternatives: Any) -> Objection:
    """Compare with each alternative; what is wrong with the last one is told."""
    wrong = objection("dict_checker:unclear", f"`{name}` may only be left out", argument=name)
    for answer in each(alternatives):
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
    for answers in each(alternatives):
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
        allowed = [standard_if_string(option) for option in each(answer[key])]
        if standard_if_string(item) not in allowed:
            found.append(("value_error:dict_value", f"{written(key)} is {written(item)}, not in {written(allowed)}"))
            break
    for key, options in answer.items():
        if key not in value and "" not in options:
            found.append(("value_error:dict_key", f"the key {str(key)!r} may not be left out"))
            break
    return found
