"""`$json`: what JSON in a text says."""

from __future__ import annotations

import json

from pytest_fcall.core.pattern import Operator
from pytest_fcall.core.values import Json
from pytest_fcall.matching.json_in_text import json_in, refuse
from pytest_fcall.matching.mismatch import Mismatch
from pytest_fcall.matching.objects import Compare
from pytest_fcall.matching.operators.loosening import loosened
from pytest_fcall.matching.place import Place


def json_text(operator: Operator, got: Json, at: Place, compare: Compare) -> list[Mismatch]:
    """A string of JSON, or with `in: text` one that holds some; what it says is compared, however it is laid out."""
    if not isinstance(got, str):
        return at.mismatch(operator, got)
    expected, inside = loosened(operator.operand, operator.options), at.outside_schema()
    if operator.options.get("in") == "text":
        tried = [compare(expected, said, inside) for said in json_in(got)]
        if not tried:
            return at.mismatch(operator, got, "there is no JSON object or list in it")
        return min(tried, key=lambda found: _distance(found, at))
    try:
        said: Json = json.loads(got, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        return at.mismatch(operator, got, f"it is not JSON: {error or 'nested too deeply'}{_elsewhere(got)}")
    return compare(expected, said, inside)


def _distance(found: list[Mismatch], at: Place) -> tuple[bool, int]:
    """The nearest is one that is not another thing as a whole."""
    return any(len(each.keys) <= len(at.keys) for each in found), len(found)


def _elsewhere(got: str) -> str:
    return "; there is some in it, which `in: text` would find" if json_in(got) else ""
