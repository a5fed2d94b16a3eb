"""Judges answers of the executable categories by what their calls return."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, get_args

from pytest_fcall.conversation.execution.limits import CallLimits, EnvironmentFailed
from pytest_fcall.core.case import Location
from pytest_fcall.core.conversation import CallResult
from pytest_fcall.core.values import Json, is_strings
from pytest_fcall.core.verdict import Reason, ReasonKind, Verdict
from pytest_fcall.decoding.bfcl.official_form import Undecodable
from pytest_fcall.matching.bfcl.official_case import Ruling
from pytest_fcall.matching.bfcl.results import ExpectedResult, ResultRule, check_results
from pytest_fcall.suites.bfcl.answers import BfclAnswer, read_call_sources
from pytest_fcall.suites.bfcl.call_process import CallProcess
from pytest_fcall.suites.bfcl.executable_functions import FUNCTIONS
from pytest_fcall.suites.bfcl.judge import ResultJudge

_ENVIRONMENT: Final = "pytest_fcall.suites.bfcl.executable_functions:make"


def is_executable(row: Mapping[str, Json]) -> bool:
    """Return whether all right calls of a row can be executed here, and the row has rules to compare their results."""
    sources, rules = row.get("sources"), row.get("execution_result_type")
    return (
        is_strings(sources)
        and is_strings(rules)
        and len(sources) == len(rules) > 0
        and all(source.partition("(")[0].strip() in FUNCTIONS for source in sources)
        and all(rule in get_args(ResultRule) for rule in rules)
    )


def start_function_process() -> CallProcess:
    """Return the process that executes calls. It starts with the first call."""
    return CallProcess(_ENVIRONMENT, CallLimits())


class ExecutedJudge(ResultJudge):
    """Judges answers by the results of their calls."""

    def __init__(self, row: Mapping[str, Json], location: Location, process: CallProcess) -> None:
        super().__init__(row, location)
        self._process = process

    def verdict(self, answer: BfclAnswer) -> Verdict:
        """Judge a stored answer as the official checker does."""
        try:
            sources = read_call_sources(answer)
        except Undecodable as error:
            return _unreadable("decoder_failed", f"The answer is not a list of calls: {error}")
        if not sources:
            return _unreadable("wrong_output_format", "No call was made, and one was expected.")
        try:
            return self._verdict_on(sources)
        except EnvironmentFailed as error:
            reason = Reason("wrong_result", "calls", f"Calls cannot be executed on this machine: {error}")
            return Verdict(False, (reason,), error_type="case_error:WorldFailed")

    def _verdict_on(self, sources: Sequence[str]) -> Verdict:
        row = self.row
        right, rules = row["sources"], row["execution_result_type"]
        if not (is_executable(row) and isinstance(right, list) and isinstance(rules, list)):
            raise EnvironmentFailed("the row is not executable")
        several = any(word in str(row["category"]) for word in ("multiple", "parallel"))
        if len(sources) == (len(right) if several else 1):
            results, right_results = [*map(self._execute, sources)], [*map(self._execute, right)]
        else:  # the count is wrong, whatever the results
            results, right_results = [CallResult()] * len(sources), [CallResult()] * len(right)
        if error := next((each.error for each in right_results if each.error is not None), None):
            reason = Reason("wrong_result", "calls", f"An expected call cannot be executed: {error}")
            return Verdict(False, (reason,), error_type="case_error:truth")
        expected = [ExpectedResult(each.value, rule) for each, rule in zip(right_results, rules, strict=True)]
        return _verdict_of(check_results(expected, results, several=several), expected)

    def _execute(self, source: str) -> CallResult:
        return self._process.call("execute", {"source": source})


def _verdict_of(ruling: Ruling, results: Sequence[ExpectedResult]) -> Verdict:
    if ruling.valid:
        return Verdict(True, pairs=ruling.pairs or ((0, 0),))
    if "count" in str(ruling.error_type):
        reasons = tuple(Reason("wrong_count", "calls", message) for message in ruling.errors)
    else:
        expected = results[len(ruling.pairs)].value
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
