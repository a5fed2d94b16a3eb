"""The official checker: the form of an answer, how many calls there must be, and each call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, TypeGuard

from pytest_fcall.core.expectation import Language
from pytest_fcall.matching.bfcl.arguments import check_argument
from pytest_fcall.matching.bfcl.official_case import OfficialCase
from pytest_fcall.matching.bfcl.ruling import VALID, Objection, Ruling, objection, short_repr
from pytest_fcall.matching.bfcl.types import EXACT_TYPES


def check_call(exam: OfficialCase, function: Any, call: Mapping[Any, Any], answers: Mapping[str, Any]) -> Objection:
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
    exact = EXACT_TYPES[language]
    for argument, value in arguments.items():
        if argument not in properties or argument not in answers:
            message = f"{short_repr(argument)} is no argument that is expected"
            return objection("simple_function_checker:unexpected_param", message, argument=argument)
        schema, alternatives = properties[argument], answers[argument]
        if exact.get(schema["type"]) is type(value) and type(alternatives) is list and value in alternatives:
            continue  # as by all the rules: most answers are right, and to the letter
        if wrong := check_argument(language, argument, schema, value, alternatives):
            return wrong
    return None


def _missing(kind: str, argument: object) -> Objection:
    message = f"the argument {short_repr(argument)} may not be left out"
    return objection(f"simple_function_checker:{kind}", message, argument=argument)


Calls: TypeAlias = Sequence[Mapping[Any, Any]]


def check_single(exam: OfficialCase, calls: Calls) -> Ruling:
    """One call, of the only function."""
    if len(calls) != 1:
        return _wrong_count("simple_function_checker", 1, calls)
    function, (_, answers) = exam.functions[0], _only_item(exam.truth[0])
    return check_call(exam, function, calls[0], answers) or VALID


def check_multiple(exam: OfficialCase, calls: Calls) -> Ruling:
    """One call, of one function among several."""
    if len(calls) != len(exam.truth):
        return _wrong_count("multiple_function_checker", len(exam.truth), calls)
    name, answers = _only_item(exam.truth[0])
    return check_call(exam, _function(exam, name), calls[0], answers) or VALID


def check_parallel(exam: OfficialCase, calls: Calls) -> Ruling:
    """Several calls, in any order.

    Each expected call takes the first call left that is right, even one that only another could have taken.
    """
    if len(calls) != len(exam.truth):
        return _wrong_count("parallel_function_checker_no_order", len(exam.truth), calls)
    pairs: list[tuple[int, int]] = []
    left = list(range(len(calls)))
    for number, expected in enumerate(exam.truth):
        name, answers = _only_item(expected)
        function = _function(exam, name)
        tried: list[tuple[int, Ruling]] = []
        for index in left:
            wrong = check_call(exam, function, calls[index], answers)
            if wrong is None:
                break
            tried.append((index, wrong))
        else:
            return _no_match(number, pairs, tried)
        pairs.append((number, index))
        left.remove(index)
    return Ruling(True, pairs=tuple(pairs))


def _only_item(expected: Mapping[str, Any]) -> tuple[str, Any]:
    """The name of an expected call, and the answers for its arguments."""
    items = list(expected.items())
    return items[0]  # where there is none, the official checker breaks in the same way


def _function(exam: OfficialCase, name: str) -> Any:
    """Look up what an expected call calls; where there is no such function, the official checker breaks later."""
    for function in exam.functions:
        if function["name"] == name:
            return function
    return None


def _wrong_count(checker: str, wanted: int, calls: Calls) -> Ruling:
    made, are = "1 call was" if len(calls) == 1 else f"{len(calls)} calls were", "is" if wanted == 1 else "are"
    return objection(f"{checker}:wrong_count", f"{made} made where {wanted} {are} wanted")


def _no_match(number: int, pairs: Sequence[tuple[int, int]], tried: Sequence[tuple[int, Ruling]]) -> Ruling:
    errors = (f"no call is right for expected call {number}", *(f"call {i}: {e}" for i, w in tried for e in w.errors))
    error_type = "parallel_function_checker_no_order:cannot_find_match"
    return Ruling(False, error_type, errors, pairs=tuple(pairs), tried=tuple(tried))


def check_answer(exam: OfficialCase, decoded: object) -> Ruling:
    """Judge what the official decoder gave, or anything else. Never raises."""
    try:
        if "relevance" in exam.category:
            return _check_relevance(exam.category, called=_is_calls(decoded) and bool(decoded))
        return _check_calls(exam, decoded)
    except Exception as crash:  # whatever the case and the answer hold between them
        return objection(f"case_error:{type(crash).__name__}", "the official checker breaks on this")


def check_undecodable(exam: OfficialCase, why: str) -> Ruling:
    """Judge an answer that the official decoder could not read, which passes for an abstention."""
    if "relevance" in exam.category:
        return _check_relevance(exam.category, called=False)
    return objection("ast_decoder:decoder_failed", f"the answer cannot be decoded: {why}")


def _check_relevance(category: str, *, called: bool) -> Ruling:
    """Judge where only calling or not counts; whom, and with what, does not."""
    if "irrelevance" in category:
        return objection("irrelevance_error:decoder_success", "no call is wanted") if called else VALID
    return VALID if called else objection("relevance_error:decoder_failed", "a call is wanted")


def _check_calls(exam: OfficialCase, decoded: object) -> Ruling:
    if not _is_calls(decoded):
        return objection("ast_decoder:decoder_wrong_output_format", "the answer is no list of calls")
    if "parallel" in exam.category:
        return check_parallel(exam, decoded)
    if "multiple" in exam.category:
        return check_multiple(exam, decoded)
    return check_single(exam, decoded)


def _is_calls(decoded: object) -> TypeGuard[list[dict[Any, dict[Any, Any]]]]:
    """Tell a list of `{name: {argument: value}}`; an empty one is one, too. No subclasses."""
    if type(decoded) is not list:
        return False
    for item in decoded:
        if type(item) is not dict or len(item) != 1:
            return False
        (arguments,) = item.values()
        if type(arguments) is not dict:
            return False
    return True
