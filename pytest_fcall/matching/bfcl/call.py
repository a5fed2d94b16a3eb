"""One call against the one that is expected: the first thing that is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_fcall.core.rules import Language
from pytest_fcall.matching.bfcl.argument import check_argument
from pytest_fcall.matching.bfcl.exam import Exam
from pytest_fcall.matching.bfcl.ruling import Objection, objection, written
from pytest_fcall.matching.bfcl.types import EXACT


def check_call(exam: Exam, function: Any, call: Mapping[Any, Any], answers: Mapping[str, Any]) -> Objection:
    """Check a call of `function`: its name, what is missing, each argument, and what may not be left out."""
    name = function["name"]
    parameters = function["parameters"]
    properties, required = parameters["properties"], parameters["required"]
    if "." in name and exam.underscored:
        name = name.replace(".", "_")
    if name not in call:
        return objection("simple_function_checker:wrong_func_name", f"the function `{name}` is not called")
    arguments = call[name]
    for argument in required:
        if argument not in arguments:
            return _missing("missing_required", argument)
    if wrong := _wrong_argument(exam.language, properties, arguments, answers):
        return wrong
    for argument in answers if len(arguments) < len(answers) else ():
        if argument not in arguments and "" not in answers[argument]:
            return _missing("missing_optional", argument)
    return None


def _wrong_argument(language: Language, properties: Any, arguments: Mapping[Any, Any], answers: Any) -> Objection:
    exact = EXACT[language]
    for argument, value in arguments.items():
        if argument not in properties or argument not in answers:
            message = f"{written(argument)} is no argument that is expected"
            return objection("simple_function_checker:unexpected_param", message, argument=argument)
        schema, alternatives = properties[argument], answers[argument]
        if exact.get(schema["type"]) is type(value) and type(alternatives) is list and value in alternatives:
            continue  # as by all the rules: most answers are right, and to the letter
        if wrong := check_argument(language, argument, schema, value, alternatives):
            return wrong
    return None


def _missing(kind: str, argument: object) -> Objection:
    message = f"the argument {written(argument)} may not be left out"
    return objection(f"simple_function_checker:{kind}", message, argument=argument)
