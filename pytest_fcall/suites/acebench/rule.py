"""The original rules: how answers are read, and when calls, named problems and ends of tasks are right.

An exception of the original, which ends its whole evaluation, is the error type `case_error:` with its name. What is
defective in the rule for arguments is named by comments.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from pytest_fcall.decoding.bfcl.official_form import Undecodable
from pytest_fcall.decoding.bfcl.python_calls import Decoded, PythonDecoder, callee_name
from pytest_fcall.matching.bfcl.official_case import VALID, Objection, Ruling, objection, short_repr
from pytest_fcall.suites.acebench.categories import QuestionCategory

UNREADABLE: Final = "wrong_output_format"
MARKS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "special_incomplete": "Missing necessary parameters",
        "special_error_param": "There is incorrect value",
        "special_irrelevant": "the limitations of the function",
    }
)
"""The words by which an answer names the problem of its category."""

_SUFFIX: Final = re.compile(r"_\d+$")
_TYPES: Final[Mapping[str, type]] = MappingProxyType(
    {
        **dict.fromkeys(("string", "any"), str),
        **dict.fromkeys(("integer", "int", "number"), int),
        "float": float,
        "boolean": bool,
        "enum": enumerate,  # no value is one, so that any string passes
        **dict.fromkeys(("array", "tuple", "list", "objectArray", "list(string)", "list(enum)"), list),
        **dict.fromkeys(("dict", "object"), dict),
    }
)
_WITH_ITEMS: Final = frozenset({"array", "tuple", "list(string)", "list(enum)", "object", "objectArray"})
_IGNORED: Final = re.compile(r"[ ,./\-_*^]")
_BOOLEANS: Final[Mapping[str, bool]] = MappingProxyType({"true": True, "false": False})


class _Decoder(PythonDecoder):
    def items(self, tree: ast.expr) -> Sequence[ast.expr]:
        if isinstance(tree, ast.List | ast.Tuple | ast.Set):
            return tree.elts
        raise Undecodable("it is not a list of calls")

    def bare_call(self, node: ast.Call) -> object:
        return {callee_name(node.func): {}}


def _decode_answer(category: QuestionCategory, answer: object) -> Decoded:
    """Return the calls in an answer. Raises Undecodable.

    The first bracket and all up to its end counts, wherever it stands; in dialogues all of the answer, without blanks.
    """
    if not isinstance(answer, str):
        raise Undecodable("the answer is not text")
    text = "".join(answer.split()) if category.kind == "dialogue" else _outermost_brackets(answer)
    return _Decoder().decode(text)


def _outermost_brackets(text: str) -> str:
    """The first text in brackets. Brackets in strings count, too, and one that is closed early shifts all others."""
    start, depth = -1, 0
    for found in re.finditer(r"[\[\]]", text):
        if found[0] == "[":
            if depth == 0:
                start = found.start()
            depth += 1
        else:
            depth -= 1
            if depth == 0 and start >= 0:
                return text[start : found.end()]
    raise Undecodable("there is no list of calls in the answer")


def judge_answer(category: QuestionCategory, functions: Any, truth: Any, answer: object) -> Ruling:
    """Judge an answer to a question. Never raises."""
    try:
        if category.kind == "problem":
            return _judge_problem(category, truth, answer)
        try:
            calls = _decode_answer(category, answer)
        except Undecodable as error:
            return objection(UNREADABLE, f"the answer cannot be read: {error}")
        return _judge_calls(functions, truth, calls)
    except Exception as crash:  # odd cases and values raise many kinds
        return _crashed(crash)


def judge_decoded(functions: Any, truth: Any, calls: Decoded) -> Ruling:
    """Judge calls that have been read. Never raises."""
    try:
        return _judge_calls(functions, truth, calls)
    except Exception as crash:
        return _crashed(crash)


def _crashed(crash: Exception) -> Ruling:
    return objection(f"case_error:{type(crash).__name__}", "the original rule raises an error on this")


def _judge_calls(functions: Any, truth: Any, calls: Decoded) -> Ruling:
    """Judge calls by the right ones, of which there may be several alternatives."""
    rulings = []
    for right in truth if isinstance(truth, list) else [truth]:
        rulings.append(_judge_alternative(functions, right, calls))
        if rulings[-1].valid:
            return rulings[-1]
    return rulings[0]


def without_number(name: str) -> str:
    """Return the name of a function without the number of its call."""
    return _SUFFIX.sub("", name)


def _judge_alternative(functions: Any, right: Mapping[str, Any], calls: Sequence[Mapping[Any, Any]]) -> Ruling:
    if len(calls) != len(right):
        return objection("wrong functions number", f"{len(calls)} calls were made, expected {len(right)}")
    # Several calls of one function have numbers at their names; names that end so of themselves are never found.
    names = [without_number(name) for name in right]
    made: Counter[object] = Counter(name for call in calls for name in call)
    wanted: Counter[object] = Counter(names)
    if made != wanted:
        return objection("function_mismatch", f"{_listed(made)} were called, expected {_listed(wanted)}")
    ruling = VALID
    for (key, arguments), name in zip(right.items(), names, strict=True):
        function = _described(functions, key)
        for call in calls:  # one call may stand for several right ones
            ruling = (
                _check_arguments(function, name, call[name], arguments)
                if name in call
                else objection("simple_function_checker:unclear", "another function was called")
            )
            if ruling.valid:
                break
        if not ruling.valid:
            return ruling
    return ruling


def _listed(names: Mapping[object, int]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "none"


def _described(functions: Any, key: str) -> Any:
    """The first function whose name is part of the key; None if there is none."""
    return next((each for each in functions if each["name"] in key), None)


def _judge_problem(category: QuestionCategory, truth: Any, answer: Any) -> Ruling:
    mark = MARKS[category.name]
    unnamed = objection("error_detection", f"the answer does not say `{mark}`")
    if category.name == "special_irrelevant":
        return VALID if mark in answer else unnamed
    ruling = VALID
    for name, values in truth.items():
        if mark not in answer:
            return unnamed
        wanted = [*values] if category.name == "special_error_param" else [name, *values]
        if absent := [each for each in wanted if each not in answer]:
            ruling = objection("error_correction", f"the answer does not name `{absent[0]}`")
    return ruling


def judge_task(truth: Any, result: Any) -> Ruling:
    """Judge the end of an agent's task: the attributes of all classes. Never raises."""
    try:
        return next(_task_objections(truth if isinstance(truth, list) else [truth], result), VALID)
    except Exception as crash:
        return _crashed(crash)


def _task_objections(truth: Sequence[Any], result: Any) -> Iterator[Ruling]:
    if len(truth) != len(result):
        yield objection("wrong number of class", f"{len(result)} classes are left, expected {len(truth)}")
        return
    for right in truth:  # a class that is not left is passed over
        left = next((each for each in result if {*each.keys()} == {*right.keys()}), None)
        for name, value in next(iter(left.values())).items() if left else ():
            (class_name, attributes), *_ = right.items()
            if name not in attributes or not _is_same_state(value, attributes[name]):
                yield objection("class attributes wrong", f"`{name}` of {class_name} is not as expected")


def _is_same_state(value: Any, right: Any) -> bool:
    """Whether a state is right. What else is in an object does not matter."""
    if isinstance(right, dict):
        return all(key in value and value[key] == item for key, item in right.items())
    return bool(value == right)


def task_progress(milestones: Any, process: Any) -> float:
    """Return the share of milestones that a wrong task has reached in their order, the best of several ways."""
    if isinstance(milestones[0], list):
        return max(round(_reached(each, process), 3) for each in milestones)
    return _reached(milestones, process)


def _reached(milestones: Sequence[str], process: Sequence[str]) -> float:
    steps = iter(process)
    reached = sum(any(step.strip() == stone.strip() for step in steps) for stone in milestones)
    return reached / len(milestones) if milestones else 1.0


def _check_arguments(function: Any, called: str, given: Mapping[Any, Any], right: Any) -> Ruling:
    """Judge the arguments of a call by those of the right one."""
    parameters = function["parameters"]
    if given == {} or parameters == {}:
        return VALID if given == parameters else objection("wrong_param", "arguments are given, or parameters are none")
    known = parameters["properties"]
    if right == known:
        return VALID
    if right == {}:
        return objection("wrong_param", "the right call has no arguments")
    if function["name"] != called:
        return objection("wrong_function_name", f"`{called}` was called, expected `{function['name']}`")
    for name in parameters["required"]:
        if name not in given:
            return objection("lack_args", f"the required argument `{name}` is missing", argument=name)
    for name, value in given.items():  # what is right and not required may be missing
        if name not in known or name not in right:
            return objection("addition_args", f"the argument `{name}` is not expected", argument=name)
        if wrong := _argument_objection(name, value, right[name], known[name]):
            return wrong
    return VALID


def _argument_objection(name: str, value: Any, right: Any, schema: Any) -> Objection:
    described = schema["type"]
    expected, inner = _TYPES[described], _item_type(schema) if described in _WITH_ITEMS else None
    if described == "tuple" and type(value) is tuple:
        value = list(value)
    if described == "float" and type(value) is int:
        value = float(value)
    found = _compare_types(value, right, expected, inner)
    if not found.fits:
        message = f"`{name}` is {short_repr(value)}, which is not of the type `{described}`"
        return objection("type_error", message, argument=name)
    error = "" if found.is_variable else _value_error(value, right, expected, inner, described)
    message = f"`{name}` is {short_repr(value)}, expected {short_repr(right)}"
    return objection(error, message, argument=name) if error else None


def _item_type(schema: Any) -> type:
    try:
        described = schema["items"]["type"]
    except Exception:  # of whatever kind
        described = next((each for each in ("string", "enum") if each in schema["type"]), "dict")
    return _TYPES[described]


class _TypeComparison(NamedTuple):
    fits: bool
    is_variable: bool
    """Whether the right value is of another type than the schema says: then no value is compared."""


def _compare_types(value: Any, right: Any, expected: type, inner: type | None = None) -> _TypeComparison:
    kind = None if right == "" else type(right)
    is_variable = kind is not None and kind is not expected
    value = _as_boolean(value)
    fits = True
    if type(value) is expected:
        if inner is None:
            return _TypeComparison(True, is_variable)
        items: Any = value
        for item in right:  # without items, as in an empty list, nothing fits
            if type(item) is not list or all(_compare_types(each, item, inner).fits for each in items):
                return _TypeComparison(True, is_variable)
        fits = False
    if kind is not None and (type(value) is kind or right == value):
        return _TypeComparison(fits, True)
    return _TypeComparison(False, is_variable)


def _value_error(value: Any, right: Any, expected: type, inner: type | None, described: str) -> str:
    """The error type of a value of the right type; empty where it passes. Numbers and booleans are not compared."""
    if expected is dict:
        return "" if _is_same_object(value, right) else "value_error"
    if expected is list and inner is dict:
        if described == "objectArray":
            if len(value) != len(right):
                return "value_error:dict_items"
            raise KeyError(0)  # the original looks for a list in its own result
        return _object_list_error(value, right)
    if expected is str:
        return "" if _plain(right) in _plain(value) else "value_error:string"
    if expected is list:
        return "" if [*map(_plain, value)] == [*map(_plain, right)] else "value_error:list/tuple"
    return ""


def _object_list_error(value: Any, right: Any) -> str:
    if len(value) != len(right):
        return "value_error:list_dict_count"
    return "" if all(map(_is_same_object, value, right)) else "value_error"


def _is_same_object(value: Any, right: Any) -> bool:
    """Whether the texts of right values are in those of the values given, key by key: 5 is in 15, and in [15]."""
    if not isinstance(value, dict) or len([*value.keys()]) != len([*right.keys()]):
        return False
    for key, raw in value.items():
        item = _as_boolean(raw)
        if key not in right:
            return False
        if isinstance(right[key], dict):
            if not _is_same_object(item, right[key]):
                return False
        elif str(_plain(right[key])) not in str(_plain(item)):
            return False
    return True


def _as_boolean(value: Any) -> Any:
    return _BOOLEANS.get(value, value) if type(value) is str else value


def _plain(value: Any) -> Any:
    """A string as it is compared: without case, blanks and some punctuation. Any other value is itself."""
    return _IGNORED.sub("", value).lower().replace("'", '"') if type(value) is str else value
