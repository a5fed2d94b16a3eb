"""The operators, as a table from name to function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

from pytest_fcall.core.operators import Operator, Undecided
from pytest_fcall.core.values import Json
from pytest_fcall.matching.objects import Compare
from pytest_fcall.matching.operators import choices, dates, json_text, lists, numeric, shape, texts
from pytest_fcall.matching.operators.operand import BadOperandError
from pytest_fcall.matching.place import Mismatch, Place

OperatorFunction: TypeAlias = Callable[[Operator, Json, Place, Compare], list[Mismatch]]
"""Decides one operator; BadOperandError says that it cannot be decided as it stands."""


def apply_operator(operator: Operator, got: Json, at: Place, compare: Compare) -> list[Mismatch]:
    """Decide an operator, built-in or registered. Total: what goes wrong is a finding that is undecided."""
    operation = OPERATOR_FUNCTIONS.get(operator.name, _apply_registered)
    try:
        return operation(operator, got, at, compare)
    except BadOperandError as error:
        return at.undecided(operator, got, f"{error}.")


def _literal(operator: Operator, got: Json, at: Place, compare: Compare) -> list[Mismatch]:
    return compare(operator.operand, got, at)


def _apply_from(operator: Operator, got: Json, at: Place, _compare: Compare) -> list[Mismatch]:
    why = operator.options.get("lacks", "there is no earlier call in a single reply")
    return at.undecided(operator, got, f"`$from: {operator.operand}` has no value: {why}.")


def _apply_judge(operator: Operator, got: Json, at: Place, compare: Compare) -> list[Mismatch]:
    if operator.name not in at.ways.comparators:
        return at.undecided(operator, got, "`$judge` needs a model that judges, and none is set.")
    return _apply_registered(operator, got, at, compare)


def _apply_registered(operator: Operator, got: Json, at: Place, _compare: Compare) -> list[Mismatch]:
    comparator = at.ways.comparators.get(operator.name)
    if comparator is None:
        return at.undecided(operator, got, f"no plugin in this run provides `${operator.name}`.")
    try:
        answer: object = comparator(operator.operand, operator.options, got)
    except Undecided as why_not:
        return at.undecided(operator, got, f"{str(why_not)[:500]}.")
    except Exception as error:  # other people's code: its failure is a finding, not ours to pass on
        return at.undecided(operator, got, f"`${operator.name}` raised {type(error).__name__}: {str(error)[:200]}")
    if answer is None:
        return []
    if not isinstance(answer, str):
        why = f"`${operator.name}` gave {type(answer).__name__}; a comparator gives None or a sentence."
        return at.undecided(operator, got, why)
    message = f"{at.name}: {answer[:500]}"
    return [Mismatch("wrong_value", at.keys, lambda: message, operator, got)]


OPERATOR_FUNCTIONS: Mapping[str, OperatorFunction] = MappingProxyType(
    {
        "any": choices.any_of,
        "all": choices.all_of,
        "not": choices.not_this,
        "optional": choices.optional,
        "ignore": choices.ignore,
        "regex": texts.regex,
        "contains": texts.contains,
        "text": texts.same_to_a_reader,
        "number": texts.says_number,
        "normalised": texts.normalised,
        "rouge": texts.like,
        "approx": numeric.approx,
        "gt": numeric.greater,
        "ge": numeric.at_least,
        "lt": numeric.less,
        "le": numeric.at_most,
        "between": numeric.between,
        "date": dates.same_day,
        "datetime": dates.same_moment,
        "type": shape.of_type,
        "structure": shape.same_structure,
        "subset": lists.subset,
        "unordered": lists.unordered,
        "ordered": lists.ordered,
        "each": lists.each,
        "json": json_text.json_text,
        "from": _apply_from,
        "judge": _apply_judge,
        "literal": _literal,
    }
)
