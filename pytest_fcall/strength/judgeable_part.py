"""The part of a case that can be judged without a model, an environment or an app, and its accepted answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, NamedTuple

from pytest_fcall.core.case import Case, Turn, case_operators
from pytest_fcall.core.conversation import CallResult
from pytest_fcall.core.expectation import Expectation, ExpectedCall, StubResult
from pytest_fcall.core.operators import Pattern, pattern_operators
from pytest_fcall.core.values import Json
from pytest_fcall.matching.place import ValuePath

_MOST_ALTERNATIVES: Final = 50
"""Each mistake is judged by all of them."""
_NO_VALUES: Mapping[tuple[str, ValuePath], Sequence[Json]] = MappingProxyType({})
_NO_RESULTS: Mapping[str, CallResult] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class JudgeablePart:
    """A case without what needs more than its calls and texts.

    `unjudged` are the parts that were taken out and might notice a mistake. `unmeasured_reason` says why nothing is
    left, or is empty.
    """

    case: Case
    unjudged: tuple[str, ...] = ()
    unmeasured_reason: str = ""


def judgeable_part(case: Case) -> JudgeablePart:
    """The part of a case of which the verdict on any script is known."""
    if why := _unmeasured_reason(case):
        return JudgeablePart(case, unmeasured_reason=why)
    unjudged = dict.fromkeys(_unjudged(case))
    left = replace(case, turns=tuple(map(_judgeable_turn, case.turns)), wire=None, spans=None, undated=None)
    if not any(turn.expect is not None or turn.answer is not None for turn in left.turns):
        return JudgeablePart(case, unmeasured_reason=_nothing_left(case, tuple(unjudged)))
    return JudgeablePart(left, tuple(unjudged))


def _unmeasured_reason(case: Case) -> str:
    if case.conversation_judge is not None:
        return "its suite judges whole conversations by a rule of its own"
    if case.rules.language != "python":
        return f"its arguments are source text ({case.rules.language})"
    if any(turn.expect is not None and len(turn.expect.alternatives) > _MOST_ALTERNATIVES for turn in case.turns):
        return f"it has more than {_MOST_ALTERNATIVES} alternatives"
    if case.injection is not None:
        return "what an attack does has its own rule; the case without it is measured"
    if case.result_fault is not None:
        return "what a faulty result leads to has its own rule; the case without it is measured"
    if case.earlier is not None:
        return "it needs conversations before it"
    if case.conversation is not None and case.conversation.user is not None:
        return "a simulated user takes part"
    if any(operator.name == "judge" for operator in case_operators(_without_answers(case))):
        return "a model judges its calls (`$judge`)"
    return ""


def _without_answers(case: Case) -> Case:
    turns = tuple(replace(turn, answer=None, state=None, result=None) for turn in case.turns)
    return replace(case, turns=turns, wire=None, spans=None)


def _unjudged(case: Case) -> list[str]:
    found = ["wire"] if case.wire is not None else []
    found += ["spans"] if case.spans is not None else []
    for turn in case.turns:
        found += ["state"] if turn.state is not None else []
        found += ["result"] if turn.result is not None else []
        if turn.expect is not None and any(call.result is not None for call in turn.expect.all_calls):
            found.append("result")
    return found


def _nothing_left(case: Case, unjudged: tuple[str, ...]) -> str:
    names = [f"`{name}`" for name in unjudged]
    if any(_is_judged(turn.answer) for turn in case.turns):
        names.append("`answer` with `$judge`")
    return (
        f"it expects nothing but {' and '.join(names)}, which only a run can judge" if names else "it expects nothing"
    )


def _judgeable_turn(turn: Turn) -> Turn:
    answer = None if _is_judged(turn.answer) else turn.answer
    expect = turn.expect if turn.expect is None else _without_results(turn.expect)
    return replace(turn, expect=expect, answer=answer, state=None, result=None)


def _without_results(expectation: Expectation) -> Expectation:
    if all(call.result is None for call in expectation.all_calls):
        return expectation
    stages = tuple(tuple(replace(call, result=None) for call in stage) for stage in expectation.stages)
    return replace(expectation, stages=stages, alternatives=tuple(map(_without_results, expectation.alternatives)))


def _is_judged(pattern: Pattern) -> bool:
    return any(operator.name == "judge" for operator in pattern_operators([pattern]))


class AcceptedValues(NamedTuple):
    """The values in its calls, by tool and path, and the first result of each tool."""

    values: Mapping[tuple[str, ValuePath], Sequence[Json]] = _NO_VALUES
    results: Mapping[str, CallResult] = _NO_RESULTS


NOTHING_ACCEPTED: Final = AcceptedValues()


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
