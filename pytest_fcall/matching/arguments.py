"""The arguments of one call against what the case expects of them, and against the tool's schema."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial

from pytest_fcall.core.call import Call
from pytest_fcall.core.expectation import CallPattern, ExpectedCall
from pytest_fcall.core.pattern import Pattern
from pytest_fcall.matching.mismatch import Mismatch
from pytest_fcall.matching.objects import compare_named, compare_unnamed
from pytest_fcall.matching.place import Place, Ways
from pytest_fcall.matching.values import compare


def schema_mismatches(call: Call, ways: Ways) -> list[Mismatch]:
    """Check the raw arguments against the schema alone."""
    if ways.schema is None:
        return []
    return [
        Mismatch(finding.kind, finding.path, partial(getattr, finding, "message"), finding.expected, finding.got)
        for finding in ways.schema.check(call.arguments)
    ]


def argument_mismatches(expected: ExpectedCall, call: Call, ways: Ways, by_schema: list[Mismatch]) -> list[Mismatch]:
    """Give all that is wrong with a call's arguments: what the schema finds, then what the case finds besides."""
    if expected.arguments is None:
        return by_schema
    by_case = _compared(expected.arguments, call, ways, free=expected.open)
    return by_schema + list(_news(by_case, by_schema)) if by_schema else by_case


def pattern_mismatches(pattern: CallPattern, call: Call, ways: Ways) -> list[Mismatch]:
    """Compare a call of `never` or `allow`: the arguments that the pattern names, and no others."""
    return [] if pattern.arguments is None else _compared(pattern.arguments, call, ways, free=True)


def _compared(expected: Mapping[str, Pattern], call: Call, ways: Ways, *, free: bool) -> list[Mismatch]:
    at = Place(ways, (), ways.rules.strings)
    try:
        named = compare_named(expected, call.arguments, at, compare)
        return named if free else named + compare_unnamed(expected, call.arguments, at, compare)
    except RecursionError:
        return at.undecided(None, None, "what is expected of them nests too deeply.")


def _news(by_case: Iterable[Mismatch], by_schema: Iterable[Mismatch]) -> Iterable[Mismatch]:
    """Leave out what only repeats that a value of the wrong type, or one too many or too few, is wrong."""
    settled = {found.keys for found in by_schema if found.kind != "schema"}
    for mismatch in by_case:
        keys = mismatch.keys
        if not any(keys[:length] in settled for length in range(1, len(keys) + 1)):
            yield mismatch
