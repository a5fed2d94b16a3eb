"""Operators on strings: `$regex`, `$text`, and `$contains`, which also looks into lists."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from pytest_fcall.core.pattern import Operator, Pattern
from pytest_fcall.core.values import Json
from pytest_fcall.matching.mismatch import Mismatch
from pytest_fcall.matching.objects import Compare, compare_below
from pytest_fcall.matching.operators.operand import BadOperandError, text
from pytest_fcall.matching.place import Place
from pytest_fcall.matching.strings import NORMAL_FORMS, as_read, exact, near_miss, relaxed

_SECONDS = 0.25
"""What a regular expression may take. One in which repeats nest could take years over a text made for it."""


def regex(operator: Operator, got: Json, at: Place, _compare: Compare) -> list[Mismatch]:
    """A string that the expression matches from end to end."""
    import regex as engine  # unlike re, it can be told when to give up

    written = text(operator)
    try:
        expression = engine.compile(written)
    except Exception as error:  # its parser raises more than its own error
        raise BadOperandError(f"`$regex` is no regular expression: {error}") from None
    if not isinstance(got, str):
        return at.mismatch(operator, got)
    try:
        matches = expression.fullmatch(exact(got), timeout=_SECONDS)
    except TimeoutError:
        why = "the expression takes too long on this text; write it without repeats inside repeats."
        return at.undecided(operator, got, why)
    return [] if matches else at.mismatch(operator, got)


def same_to_a_reader(operator: Operator, got: Json, at: Place, _compare: Compare) -> list[Mismatch]:
    """The same text but for case, white space, quotes, dashes and number words, or as `strings` says."""
    expected, normal = text(operator), _normal_form(operator.options.get("strings"))
    if not isinstance(got, str):
        return at.mismatch(operator, got)
    return [] if normal(got) == normal(expected) else at.mismatch(operator, got, partial(near_miss, expected, got))


def contains(operator: Operator, got: Json, at: Place, compare: Compare) -> list[Mismatch]:
    """A string with this text in it, or a list with an item that matches."""
    wanted = operator.operand
    if isinstance(got, str):
        if isinstance(wanted, Operator) and wanted.name == "literal":  # as `$from` has it
            wanted = wanted.operand
        if isinstance(wanted, Operator) and wanted.name == "from":
            return compare_below(wanted, got, at, compare)
        if not isinstance(wanted, str):
            return at.mismatch(operator, got)
        normal = NORMAL_FORMS[at.strings]
        if normal(wanted) in normal(got):
            return []
        seen = relaxed(wanted) in relaxed(got)
        return at.mismatch(operator, got, "a reader would find it: `strings: relaxed` would accept it" if seen else "")
    if not isinstance(got, list | tuple):
        return at.mismatch(operator, got)
    undecided: list[Mismatch] = []
    for index, item in enumerate(got):
        mismatches = compare_below(wanted, item, at.child(index), compare)
        if not mismatches:
            return []
        undecided.extend(each for each in mismatches if each.undecided)
    return undecided or at.mismatch(operator, got)


def _normal_form(rule: Pattern) -> Callable[[str], str]:
    if rule is None:
        return as_read
    if isinstance(rule, str) and rule in NORMAL_FORMS:
        return NORMAL_FORMS[rule]
    raise BadOperandError(f"`strings` takes {', '.join(NORMAL_FORMS)}")
