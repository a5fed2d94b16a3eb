"""The official ruling as a Verdict."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from types import MappingProxyType

from pytest_fcall.core.bfcl_support import SUPPORTED, unsupported_by_bfcl
from pytest_fcall.core.expectation import Expectation
from pytest_fcall.core.reply import Calls
from pytest_fcall.core.values import path_text
from pytest_fcall.core.verdict import Reason, ReasonKind, Verdict
from pytest_fcall.matching.bfcl.checker import check_answer, check_undecodable
from pytest_fcall.matching.bfcl.official_case import Ruling, official_case
from pytest_fcall.matching.context import MatchContext

_NO_CALLS = frozenset({"decoder_failed"})
"""The official errors about an answer in which no calls are found."""

_WHOLE_ANSWER_KINDS: Mapping[str, ReasonKind] = MappingProxyType(
    {
        "wrong_count": "wrong_count",
        "decoder_success": "unexpected_call",
        "decoder_wrong_output_format": "malformed",
    }
)
"""The kinds of official errors about the calls as a whole."""

_CALL_KINDS: Mapping[str, ReasonKind] = MappingProxyType(
    {
        "value_error": "wrong_value",
        "dict_checker": "wrong_value",
        "type_error": "wrong_type",
        "missing_optional": "missing_argument",
        "missing_required": "missing_argument",
        "unexpected_param": "unexpected_argument",
        "wrong_func_name": "wrong_tool",
    }
)
"""The kinds of official errors about one call; a call with an earlier one is nearer to a right call."""


def judge_bfcl(calls: Calls, expectation: Expectation, context: MatchContext) -> Verdict:
    """Judge calls as the official checker would, which ignores refusals and replies that are cut off."""
    if unsupported := list(unsupported_by_bfcl(expectation, context.rules)):
        message = f"the profile `bfcl` supports only {SUPPORTED}, not {', '.join(unsupported)}"
        return Verdict(False, (Reason("wrong_value", "expected", message),), error_type="case_error:beyond_bfcl")
    case = official_case(expectation, context.tools, context.rules.language)
    if calls.malformed is not None or not calls.calls:
        return _without_calls(check_undecodable(case, "it holds no call"), calls)
    ruling = check_answer(case, [{call.name: dict(call.arguments)} for call in calls.calls])
    return verdict_of(ruling, calls, expectation)


def verdict_of(ruling: Ruling, calls: Calls, expectation: Expectation) -> Verdict:
    """The official ruling on `calls` as a verdict."""
    if ruling.valid:
        alone = sum(map(len, expectation.stages)) == len(calls.calls) == 1
        return Verdict(True, pairs=((0, 0),) if alone else ruling.pairs)
    if _known_error(ruling, _NO_CALLS):
        return _without_calls(ruling, calls)
    if not _is_about_a_call(ruling, calls, expectation):
        kind = _WHOLE_ANSWER_KINDS.get(_known_error(ruling, _WHOLE_ANSWER_KINDS), "wrong_value")
        return Verdict(False, _whole_reasons(kind, "calls", ruling), error_type=ruling.error_type)
    return _call_verdict(ruling, calls, expectation)


def _is_about_a_call(ruling: Ruling, calls: Calls, expectation: Expectation) -> bool:
    """Whether the ruling is about a call and an expected call that can both be shown, unlike that on a broken case."""
    indices = [index for index, _ in ruling.rejected] or [0]
    expected = sum(map(len, expectation.stages))
    named = [wrong for _, wrong in ruling.rejected] or [ruling]
    return (
        len(ruling.pairs) < expected
        and max(indices) < len(calls.calls)
        and all(_known_error(wrong, _CALL_KINDS) for wrong in named)
    )


def _without_calls(ruling: Ruling, calls: Calls) -> Verdict:
    if ruling.valid:
        return Verdict(True)
    reason = Reason("no_call", "calls", "No call was made, and one was expected.")
    if calls.malformed is not None:
        reason = Reason("malformed", "reply", calls.malformed)
    elif calls.calls:
        reason = Reason("malformed", "reply", " ".join(ruling.errors))
    return Verdict(False, (reason,), error_type=ruling.error_type)


def _call_verdict(ruling: Ruling, calls: Calls, expectation: Expectation) -> Verdict:
    """The verdict on the one call, or on the rejected call that is nearest to the expected one."""
    index, wrong = min(ruling.rejected, key=lambda one: _error_distance(one[1]), default=(0, ruling))
    number = len(ruling.pairs)
    reasons = tuple(_reasons(wrong, index, number, calls, expectation))
    return Verdict(False, reasons, (*ruling.pairs, (number, index)), error_type=ruling.error_type)


def _reasons(wrong: Ruling, index: int, number: int, calls: Calls, expectation: Expectation) -> Iterator[Reason]:
    call = calls.calls[index]
    expected = [call for stage in expectation.stages for call in stage][number]
    kind, name = _CALL_KINDS[_known_error(wrong, _CALL_KINDS)], wrong.argument
    for message in wrong.errors:
        if name is None:
            yield Reason(kind, f"calls[{index}]", message, expected.tool, call.name)
        else:
            path = f"calls[{index}].{path_text(('args', name))}"
            yield Reason(kind, path, message, (expected.arguments or {}).get(name), call.arguments.get(name))


def _whole_reasons(kind: ReasonKind, path: str, ruling: Ruling) -> tuple[Reason, ...]:
    return tuple(Reason(kind, path, message) for message in ruling.errors)


def _known_error(ruling: Ruling, known: Container[str]) -> str:
    """The part of an official error type that is `known`; empty where none is."""
    return next((part for part in (ruling.error_type or "").split(":") if part in known), "")


def _error_distance(ruling: Ruling) -> int:
    return list(_CALL_KINDS).index(_known_error(ruling, _CALL_KINDS))
