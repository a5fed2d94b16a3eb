"""Judges answers of the executable categories by what their calls return."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeGuard, get_args

from pytest_fcall.conversation.execution.limits import EnvironmentFailed, Limits
from pytest_fcall.core.case import Case
from pytest_fcall.core.conversation import CallResult
from pytest_fcall.core.fault import Location
from pytest_fcall.core.reply import Calls, Reply
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import Reason, ReasonKind, Verdict
from pytest_fcall.decoding.bfcl import Undecodable
from pytest_fcall.matching.bfcl.results import ExpectedResult, ResultRule, check_results
from pytest_fcall.matching.bfcl.ruling import Ruling
from pytest_fcall.suites.bfcl.answers import Answer
from pytest_fcall.suites.bfcl.call_process import CallProcess
from pytest_fcall.suites.bfcl.call_sources import read_call_sources
from pytest_fcall.suites.bfcl.executable.functions import FUNCTIONS
from pytest_fcall.suites.bfcl.judge import BfclJudge, answer_of_reply, read_like_score

_WORLD: Final = "pytest_fcall.suites.bfcl.executable.functions:make"


def is_executable(row: Mapping[str, Json]) -> bool:
    """Whether all right calls of a row can be carried out here, and it says how results are compared."""
    sources, rules = row.get("sources"), row.get("execution_result_type")
    return (
        _is_texts(sources)
        and _is_texts(rules)
        and len(sources) == len(rules) > 0
        and all(source.partition("(")[0].strip() in FUNCTIONS for source in sources)
        and all(rule in get_args(ResultRule) for rule in rules)
    )


def start_function_process() -> CallProcess:
    """Where calls are carried out."""
    return CallProcess(_WORLD, Limits())


class ExecutedJudge(BfclJudge):
    """Judges answers to a row that is executable. There is one rule; the profile `strict` reads more generously."""

    def __init__(self, row: Mapping[str, Json], place: Location, process: CallProcess) -> None:
        super().__init__(row, place)
        self._process = process

    def __call__(self, case: Case, reply: Reply, calls: Calls) -> Verdict:
        """Judge what the calls of the reply give."""
        answer = answer_of_reply(reply, calls)
        if case.rules.profile == "strict":
            calls = read_like_score(reply, calls, case)
            if calls.calls and calls.malformed is None:
                answer = Answer("decoded", [{call.name: dict(call.arguments)} for call in calls.calls])
        return replace(self.verdict(answer), notes=calls.notes)

    def verdict(self, answer: Answer) -> Verdict:
        """Judge an answer as the official checker would."""
        try:
            sources = read_call_sources(answer)
        except Undecodable as error:
            return _unreadable("decoder_failed", f"The answer is no list of calls: {error}")
        if not sources:
            return _unreadable("wrong_output_format", "No call was made, and one was expected.")
        try:
            return self._judged(sources)
        except EnvironmentFailed as error:
            reason = Reason("wrong_result", "calls", f"No call can be carried out on this machine: {error}")
            return Verdict(False, (reason,), error_type="case_error:WorldFailed")

    def _judged(self, sources: Sequence[str]) -> Verdict:
        row = self.row
        right, rules = row["sources"], row["execution_result_type"]
        if not (is_executable(row) and isinstance(right, list) and isinstance(rules, list)):
            raise EnvironmentFailed("the row is not executable")
        several = any(word in str(row["category"]) for word in ("multiple", "parallel"))
        counted = len(sources) == (len(right) if several else 1)
        given = [self._given(source) if counted else CallResult() for source in sources]
        wanted = [self._given(source) for source in right] if counted else [CallResult()] * len(right)
        if broken := next((each.error for each in wanted if each.error is not None), None):
            reason = Reason("wrong_result", "calls", f"A right call of the case cannot be carried out: {broken}")
            return Verdict(False, (reason,), error_type="case_error:truth")
        wants = [ExpectedResult(each.value, rule) for each, rule in zip(wanted, rules, strict=True)]
        return _verdict(check_results(wants, given, several=several), wants)

    def _given(self, source: str) -> CallResult:
        return self._process.call("carry_out", {"source": source})


def _verdict(ruling: Ruling, wants: Sequence[ExpectedResult]) -> Verdict:
    if ruling.valid:
        return Verdict(True, pairs=ruling.pairs or ((0, 0),))
    if "count" in str(ruling.error_type):
        reasons = tuple(Reason("wrong_count", "calls", message) for message in ruling.errors)
    else:
        expected = wants[len(ruling.pairs)].value
        tried = ruling.rejected or ((0, ruling),)
        reasons = tuple(
            Reason("wrong_result", f"calls[{index}].result", message, expected)
            for index, wrong in tried
            for message in wrong.errors
        )
    return Verdict(False, reasons, ruling.pairs, error_type=ruling.error_type)


def _unreadable(error: str, message: str) -> Verdict:
    kind: ReasonKind = "no_call" if error == "wrong_output_format" else "malformed"
    return Verdict(False, (Reason(kind, "reply", message),), error_type=f"executable_decoder:{error}")


def _is_texts(value: Json) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)
