"""The official checker of answers: their form, the number of calls, and each call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, TypeGuard

from pytest_fcall.core.expectation import Language
from pytest_fcall.matching.bfcl.arguments import EXACT_TYPES, check_argument
from pytest_fcall.matching.bfcl.official_case import VALID, Objection, OfficialCase, Ruling, objection, short_repr


def check_call(case: OfficialCase, function: Any, call: Mapping[Any, Any], answers: Mapping[str, Any]) -> Objection:
    """Check a call of `function`: its name, required arguments, each given argument, and other arguments left out."""
    name = function["name"]
    parameters = function["parameters"]
    properties, required = parameters["properties"], parameters["required"]
    if "." in name and case.dots_as_underscores:
        name = name.replace(".", "_")
    if name not in call:
        return objection("simple_function_checker:wrong_func_name", f"the function `{name}` is not called")
    arguments = call[name]
    for argument in required:
        if argument not in arguments:
            return _missing("missing_required", argument)
    if wrong := _wrong_argument(case.language, properties, arguments, answers):
        return wrong
    for argument in answers if len(arguments) < len(answers) else ():
        if argument not in arguments and "" not in answers[argument]:
            return _missing("missing_optional", argument)
    return None


def _wrong_argument(language: Language, properties: Any, arguments: Mapping[Any, Any], answers: Any) -> Objection:
    exact = EXACT_TYPES[language]
    for argument, value in arguments.items():
        if argument not in properties or argument not in answers:
            message = f"the argument {short_repr(argument)} is not expected"
            return objection("simple_function_checker:unexpected_param", message, argument=argument)
        schema, alternatives = properties[argument], answers[argument]
        if exact.get(schema["type"]) is type(value) and type(alternatives) is list and value in alternatives:
            continue  # right by all rules, as most answers are
        if wrong := check_argument(language, argument, schema, value, alternatives):
            return wrong
    return None


def _missing(kind: str, argument: object) -> Objection:
    message = f"the argument {short_repr(argument)} is missing"
    return objection(f"simple_function_checker:{kind}", message, argument=argument)


OfficialCalls: TypeAlias = Sequence[Mapping[Any, Any]]


def check_single(case: OfficialCase, calls: OfficialCalls) -> Ruling:
    """Check an answer of one call where there is one function."""
    if len(calls) != 1:
        return _wrong_count("simple_function_checker", 1, calls)
    function, (_, answers) = case.functions[0], _only_item(case.truth[0])
    return check_call(case, function, calls[0], answers) or VALID


def check_multiple(case: OfficialCase, calls: OfficialCalls) -> Ruling:
    """Check an answer of one call where there are several functions."""
    if len(calls) != len(case.truth):
        return _wrong_count("multiple_function_checker", len(case.truth), calls)
    name, answers = _only_item(case.truth[0])
    return check_call(case, _function(case, name), calls[0], answers) or VALID


def check_parallel(case: OfficialCase, calls: OfficialCalls) -> Ruling:
    """Check an answer of several calls in any order.

    Each expected call takes the first right call that is left, even if another expected call needs that one.
    """
    if len(calls) != len(case.truth):
        return _wrong_count("parallel_function_checker_no_order", len(case.truth), calls)
    pairs: list[tuple[int, int]] = []
    left = list(range(len(calls)))
    for number, expected in enumerate(case.truth):
        name, answers = _only_item(expected)
        function = _function(case, name)
        rejected: list[tuple[int, Ruling]] = []
        for index in left:
            wrong = check_call(case, function, calls[index], answers)
            if wrong is None:
                break
            rejected.append((index, wrong))
        else:
            return _no_match(number, pairs, rejected)
        pairs.append((number, index))
        left.remove(index)
    return Ruling(True, pairs=tuple(pairs))


def _only_item(expected: Mapping[str, Any]) -> tuple[str, Any]:
    """The name of an expected call, and the alternatives for its arguments."""
    items = list(expected.items())
    return items[0]  # without one, the official checker raises IndexError, too


def _function(case: OfficialCase, name: str) -> Any:
    """The function of an expected call; None if there is none, on which the official checker fails later."""
    for function in case.functions:
        if function["name"] == name:
            return function
    return None


def _wrong_count(checker: str, wanted: int, calls: OfficialCalls) -> Ruling:
    return objection(f"{checker}:wrong_count", f"{len(calls)} calls were made, expected {wanted}")


def _no_match(number: int, pairs: Sequence[tuple[int, int]], rejected: Sequence[tuple[int, Ruling]]) -> Ruling:
    errors = (f"no call matches expected call {number}", *(f"call {i}: {e}" for i, w in rejected for e in w.errors))
    error_type = "parallel_function_checker_no_order:cannot_find_match"
    return Ruling(False, error_type, errors, pairs=tuple(pairs), rejected=tuple(rejected))


def check_answer(case: OfficialCase, decoded: object) -> Ruling:
    """Judge the output of the official decoder, or any other value. Never raises."""
    try:
        if "relevance" in case.category:
            return _check_relevance(case.category, called=_is_calls(decoded) and bool(decoded))
        return _check_calls(case, decoded)
    except Exception as crash:  # malformed cases and odd values raise many kinds
        return objection(f"case_error:{type(crash).__name__}", "the official checker raises an error on this")


def check_undecodable(case: OfficialCase, why: str) -> Ruling:
    """Judge an answer that the official decoder could not read, which counts as an abstention."""
    if "relevance" in case.category:
        return _check_relevance(case.category, called=False)
    return objection("ast_decoder:decoder_failed", f"the answer cannot be decoded: {why}")


def _check_relevance(category: str, *, called: bool) -> Ruling:
    """Judge an answer by whether anything is called at all."""
    if "irrelevance" in category:
        return objection("irrelevance_error:decoder_success", "a call was made, expected none") if called else VALID
    return VALID if called else objection("relevance_error:decoder_failed", "no call was made, expected one")


def _check_calls(case: OfficialCase, decoded: object) -> Ruling:
    if not _is_calls(decoded):
        return objection("ast_decoder:decoder_wrong_output_format", "the answer is not a list of calls")
    if "parallel" in case.category:
        return check_parallel(case, decoded)
    if "multiple" in case.category:
        return check_multiple(case, decoded)
    return check_single(case, decoded)


def _is_calls(decoded: object) -> TypeGuard[list[dict[Any, dict[Any, Any]]]]:
    """Whether this is a list of `{name: {argument: value}}`, perhaps empty. Subclasses do not count."""
    return type(decoded) is list and all(map(_is_call, decoded))


def _is_call(item: object) -> bool:
    return type(item) is dict and len(item) == 1 and type(next(iter(item.values()))) is dict
