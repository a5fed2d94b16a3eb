"""One argument: first its type, then its value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from pytest_fcall.core.rules import Language
from pytest_fcall.matching.bfcl.fitting import first_type, misfit
from pytest_fcall.matching.bfcl.lists import check_list
from pytest_fcall.matching.bfcl.objects import check_object, check_objects
from pytest_fcall.matching.bfcl.ruling import Objection, objection, written
from pytest_fcall.matching.bfcl.strings import check_string
from pytest_fcall.matching.bfcl.types import READERS


def check_argument(language: Language, name: str, schema: Any, value: Any, alternatives: Any) -> Objection:
    """Check a value against what its parameter declares, and against the alternatives that are right.

    Where the first alternative is of another type than the one declared, it counts as the name of a variable: values
    of its type are taken too, and all are compared as they are.
    """
    typed = READERS[language](schema, value)
    if typed is None:
        error_type = "type_error:java" if language == "java" else "type_error:js"
        return objection(error_type, f"`{name}` is no source text: {written(value)}", argument=name)
    value, declared, inner = typed
    fits = type(value) is declared and inner is None
    meant = first_type(alternatives)
    if not fits and (wrong := misfit(name, value, alternatives, declared, inner, meant)):
        return wrong
    if meant is None or meant is declared:
        check = check_objects if inner is dict else _CHECKS.get(declared)
        if check is not None:
            return check(name, value, alternatives)
    if value in alternatives:
        return None
    message = f"`{name}` is {written(value)}, not one of {written(alternatives)}"
    return objection("value_error:others", message, argument=name)


_CHECKS: Mapping[type, Callable[[str, Any, Any], Objection]] = MappingProxyType(
    {str: check_string, list: check_list, dict: check_object}
)
