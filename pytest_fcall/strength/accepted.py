"""What is known of the accepted answer to a case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final, NamedTuple

from pytest_fcall.core import CallResult, Case, Expectation, ExpectedCall, Json, StubResult
from pytest_fcall.matching.place import Path

_NO_VALUES: Mapping[tuple[str, Path], Sequence[Json]] = MappingProxyType({})
_NO_RESULTS: Mapping[str, CallResult] = MappingProxyType({})


class AcceptedAnswer(NamedTuple):
    """The values in its calls, by tool and path, and the first result of each tool."""

    values: Mapping[tuple[str, Path], Sequence[Json]] = _NO_VALUES
    results: Mapping[str, CallResult] = _NO_RESULTS


NOTHING_ACCEPTED: Final = AcceptedAnswer()


def with_results(case: Case, results: Mapping[str, CallResult]) -> Case:
    """The case in which an environment's results are those of the accepted answer."""
    settings = case.conversation
    if not results or settings is None or settings.environment is None:
        return case
    turns = tuple(
        turn if turn.expect is None else replace(turn, expect=_with_results(turn.expect, results))
        for turn in case.turns
    )
    return replace(case, turns=turns)


def _with_results(expect: Expectation, results: Mapping[str, CallResult]) -> Expectation:
    return replace(
        expect,
        stages=tuple(tuple(_with_result(call, results) for call in stage) for stage in expect.stages),
        alternatives=tuple(_with_results(each, results) for each in expect.alternatives),
    )


def _with_result(call: ExpectedCall, results: Mapping[str, CallResult]) -> ExpectedCall:
    found = results.get(call.tool)
    if found is None or call.stub is not None:
        return call
    return replace(call, stub=StubResult((found.value,), raises=found.error))
