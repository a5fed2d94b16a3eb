"""Expected values with the options of `$json` written out as operators."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_fcall.core.operators import OPERATORS
from pytest_fcall.core.pattern import Operator, Pattern
from pytest_fcall.matching.operators.operand import is_list, is_number

_OWN_OPTIONS = ("json",)
"""Say for themselves what holds inside them."""


def loosened(pattern: Pattern, options: Mapping[str, Pattern]) -> Pattern:
    """Rewrite plain lists as `$unordered` where lists are in any order, and plain numbers as `$approx` with `round`.

    What stands behind an operator is rewritten too, where that is an expected value; `$literal` stays as it is.
    """
    if not options.keys() & {"lists", "round"}:
        return pattern
    if isinstance(pattern, Operator):
        return _inside(pattern, options)
    if is_number(pattern):
        return Operator("approx", pattern, {"round": options["round"]}) if "round" in options else pattern
    if isinstance(pattern, Mapping):
        return {name: loosened(value, options) for name, value in pattern.items()}
    if not is_list(pattern):
        return pattern
    items = [loosened(item, options) for item in pattern]
    return Operator("unordered", items) if "lists" in options else items


def _inside(operator: Operator, options: Mapping[str, Pattern]) -> Operator:
    kind = OPERATORS[operator.name].operand if operator.name in OPERATORS else None
    operand = operator.operand
    if operator.name in _OWN_OPTIONS:
        return operator
    if kind in ("patterns", "list", "container") and is_list(operand):
        operand = [loosened(item, options) for item in operand]
    elif kind in ("pattern", "container"):
        operand = loosened(operand, options)
    return Operator(operator.name, operand, operator.options)
