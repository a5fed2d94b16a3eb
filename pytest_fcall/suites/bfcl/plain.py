"""Cases of the leaderboard as cases of ours, which say all that is needed to judge them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pytest_fcall.core.case import Case
from pytest_fcall.matching.bfcl.truth import exam_of
from pytest_fcall.suites.bfcl.cases import case_of
from pytest_fcall.suites.bfcl.categories import Category
from pytest_fcall.suites.bfcl.data import Row
from pytest_fcall.suites.bfcl.executable.judging import is_executable


class Unsayable(ValueError):
    """A case cannot be said in a case file. The text says why."""


def plain_case(category: Category, row: Row) -> Case:
    """Read a row. Raises Unsayable where no case of ours can say it, and BrokenRow where it is broken."""
    if category.truth == "answer" or category.name == "chatable":
        raise Unsayable("nothing says which calls are right")
    if category.truth in ("turns", "mention"):
        raise Unsayable("its conversations are judged by a rule of their own, which no case file says")
    if is_executable(row.data):
        raise Unsayable("it is judged by what its calls give, whatever they are, which no case file says")
    found = case_of(row.data, row.place)
    told = exam_of(found.expect, found.case.tools, found.exam.language)
    if found.expect.kind == "calls" and _omittable_last(told.truth) != _omittable_last(found.exam.truth):
        raise Unsayable("its ground truth has a value where a list of alternatives is wanted")
    return replace(found.case, rules=replace(found.case.rules, profile="bfcl"))


def _omittable_last(truth: object) -> object:
    """The truth with the mark for leaving out at the end of each list, where expectations have it."""
    if isinstance(truth, Mapping):
        return {key: _omittable_last(value) for key, value in truth.items()}
    if isinstance(truth, list):
        return sorted(map(_omittable_last, truth), key=lambda value: value == "")
    return truth
