"""The original rules: how answers are read, and when calls, named problems and ends of tasks are right.

An exception of the original, which ends its whole evaluation, is the error type `case_error:` with its name.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from pytest_fcall.decoding.bfcl.official_form import Undecodable
from pytest_fcall.decoding.bfcl.python_calls import Decoded, PythonDecoder, callee_name
from pytest_fcall.matching.bfcl.ruling import VALID, Ruling, objection
from pytest_fcall.suites.acebench.arguments import check_arguments
from pytest_fcall.suites.acebench.categories import Category

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


class _Decoder(PythonDecoder):
    def items(self, tree: ast.expr) -> Sequence[ast.expr]:
        if isinstance(tree, ast.List | ast.Tuple | ast.Set):
            return tree.elts
        raise Undecodable("it is not a list of calls")

    def bare_call(self, node: ast.Call) -> object:
        return {callee_name(node.func): {}}


def decode_answer(category: Category, answer: object) -> Decoded:
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


def judge_answer(category: Category, functions: Any, truth: Any, answer: object) -> Ruling:
    """Judge an answer to a question. Never raises."""
    try:
        if category.kind == "problem":
            return _judge_problem(category, truth, answer)
        try:
            calls = decode_answer(category, answer)
        except Undecodable as error:
            return objection(UNREADABLE, f"the answer cannot be read: {error}")
        return judge_calls(functions, truth, calls)
    except Exception as crash:  # odd cases and values raise many kinds
        return _crashed(crash)


def judge_decoded(functions: Any, truth: Any, calls: Decoded) -> Ruling:
    """Judge calls that have been read. Never raises."""
    try:
        return judge_calls(functions, truth, calls)
    except Exception as crash:
        return _crashed(crash)


def _crashed(crash: Exception) -> Ruling:
    return objection(f"case_error:{type(crash).__name__}", "the original rule raises an error on this")


def judge_calls(functions: Any, truth: Any, calls: Decoded) -> Ruling:
    """Judge calls by the right ones, of which there may be several alternatives."""
    rulings = []
    for right in truth if isinstance(truth, list) else [truth]:
        rulings.append(_judge_alternative(functions, right, calls))
        if rulings[-1].valid:
            return rulings[-1]
    return rulings[0]


def _judge_alternative(functions: Any, right: Mapping[str, Any], calls: Sequence[Mapping[Any, Any]]) -> Ruling:
    if len(calls) != len(right):
        return objection("wrong functions number", f"{len(calls)} calls were made, expected {len(right)}")
    # Several calls of one function have numbers at their names; names that end so of themselves are never found.
    names = [_SUFFIX.sub("", name) for name in right]
    made: Counter[object] = Counter(name for call in calls for name in call)
    wanted: Counter[object] = Counter(names)
    if made != wanted:
        return objection("function_mismatch", f"{_listed(made)} were called, expected {_listed(wanted)}")
    ruling = VALID
    for (key, arguments), name in zip(right.items(), names, strict=True):
        function = _described(functions, key)
        for call in calls:  # one call may stand for several right ones
            ruling = (
                check_arguments(function, name, call[name], arguments)
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


def _judge_problem(category: Category, truth: Any, answer: Any) -> Ruling:
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
