"""The operators by their names, and their operands. The module of an operator is imported when a case first uses it.

Operands from case files have been checked before; those of an expectation built in Python have not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import TypeAlias

from pytest_fcall.core.operators import Operator, Pattern, Undecided
from pytest_fcall.core.values import Json
from pytest_fcall.matching.place import Mismatch, Place, is_list, is_number

OperatorFunction: TypeAlias = Callable[[Operator, Json, Place], list[Mismatch]]
"""Compares a value by an operator. BadOperandError says that the operand or an option cannot be used."""

OPERATOR_FUNCTIONS: Mapping[str, str] = MappingProxyType(
    {
        "any": "choices.any_of",
        "all": "choices.all_of",
        "not": "choices.negation",
        "optional": "choices.operand_alone",
        "ignore": "choices.anything",
        "literal": "choices.operand_alone",
        "regex": "texts.regex",
        "contains": "texts.contains",
        "text": "texts.same_text",
        "number": "texts.number_in_text",
        "normalised": "texts.normalised",
        "rouge": "texts.rouge",
        "approx": "numeric.approx",
        "gt": "numeric.greater",
        "ge": "numeric.at_least",
        "lt": "numeric.less",
        "le": "numeric.at_most",
        "between": "numeric.between",
        "date": "dates.same_day",
        "datetime": "dates.same_moment",
        "type": "shapes.of_type",
        "structure": "shapes.same_structure",
        "subset": "shapes.subset",
        "unordered": "shapes.unordered",
        "ordered": "shapes.ordered",
        "each": "shapes.each",
        "json": "json_text.json_text",
        "from": "table.unresolved_reference",
        "judge": "table.llm_judgement",
    }
)
"""Each built-in operator, and the module here with its function."""


def apply_operator(operator: Operator, got: Json, place: Place) -> list[Mismatch]:
    """Compare a value by a built-in or registered operator. Never raises: an error is an undecided mismatch."""
    function = operator_function(operator.name) if operator.name in OPERATOR_FUNCTIONS else _registered
    try:
        return function(operator, got, place)
    except BadOperandError as error:
        return place.undecided(operator, got, f"{error}.")


@cache
def operator_function(name: str) -> OperatorFunction:
    """The function of a built-in operator."""
    module, function = OPERATOR_FUNCTIONS[name].split(".")
    found: OperatorFunction = getattr(import_module(f"{__package__}.{module}"), function)
    return found


def unresolved_reference(operator: Operator, got: Json, place: Place) -> list[Mismatch]:
    """Report a `$from` that could not be replaced by a value before judging."""
    why = operator.options.get("unresolved", "there is no earlier call in a single reply")
    return place.undecided(operator, got, f"`$from: {operator.operand}` has no value: {why}.")


def llm_judgement(operator: Operator, got: Json, place: Place) -> list[Mismatch]:
    """Let the comparator that stands for the judge model decide."""
    if operator.name not in place.context.comparators:
        return place.undecided(operator, got, "`$judge` needs a judge model: set `--fc-judge`.")
    return _registered(operator, got, place)


def _registered(operator: Operator, got: Json, place: Place) -> list[Mismatch]:
    name = operator.name
    comparator = place.context.comparators.get(name)
    if comparator is None:
        return place.undecided(operator, got, f"no plugin in this run provides `${name}`.")
    try:
        answer: object = comparator(operator.operand, operator.options, got)
    except Undecided as undecided:
        return place.undecided(operator, got, f"{str(undecided)[:500]}.")
    except Exception as error:  # code of a plugin: its failure must not end the run
        return place.undecided(operator, got, f"`${name}` raised {type(error).__name__}: {str(error)[:200]}")
    if answer is None:
        return []
    if not isinstance(answer, str):
        why = f"`${name}` returned {type(answer).__name__}; a comparator must return None or a sentence."
        return place.undecided(operator, got, why)
    message = f"{place.name}: {answer[:500]}"
    return [Mismatch("wrong_value", place.path, lambda: message, operator, got)]


class BadOperandError(ValueError):
    """An operand or option cannot be used; the text says what the operator takes."""


def operand_patterns(operator: Operator) -> Sequence[Pattern]:
    """The operand as a list of patterns."""
    if is_list(operator.operand):
        return operator.operand
    raise BadOperandError(f"`${operator.name}` takes a list")


def operand_text(operator: Operator) -> str:
    """The operand as a string."""
    if isinstance(operator.operand, str):
        return operator.operand
    raise BadOperandError(f"`${operator.name}` takes a string")


def operand_number(operator: Operator) -> int | float:
    """The operand as a number."""
    if is_number(operator.operand):
        return operator.operand
    raise BadOperandError(f"`${operator.name}` takes a number")
