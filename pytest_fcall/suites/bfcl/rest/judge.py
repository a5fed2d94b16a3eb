"""Judges answers of the category `rest` by the official rule, on recorded responses in place of those of servers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from pytest_fcall.core.case import Location
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import Reason, ReasonKind, Verdict
from pytest_fcall.decoding.bfcl import Undecodable
from pytest_fcall.suites.bfcl.answers import Answer
from pytest_fcall.suites.bfcl.call_sources import read_call_sources
from pytest_fcall.suites.bfcl.judge import ResultJudge
from pytest_fcall.suites.bfcl.rest.recorded_responses import RecordedResponses, ResponseForm, right_form
from pytest_fcall.suites.bfcl.rest.request import NotSendable, request_of

UNRECORDED: Final = "case_error:unrecorded_response"
"""The error type of a request whose response nothing tells. There is no official verdict for it without a network."""
_KINDS: Final = ("an object", "a list")

ReadRecorded: TypeAlias = Callable[[], RecordedResponses]


class RestJudge(ResultJudge):
    """Judges answers by the form of the response to their request."""

    def __init__(self, row: Mapping[str, Json], location: Location, recorded: ReadRecorded) -> None:
        super().__init__(row, location)
        self._recorded = recorded

    def verdict(self, answer: Answer) -> Verdict:
        """Judge a stored answer."""
        try:
            sources = read_call_sources(answer)
        except Undecodable as error:
            return _wrong(
                "malformed", "executable_decoder:decoder_failed", f"The answer is not a list of calls: {error}"
            )
        if len(sources) != 1:
            message = f"{len(sources)} calls were made, and one was expected."
            kind: ReasonKind = "wrong_count" if sources else "no_call"
            return _wrong(kind, "executable_decoder:rest_wrong_output_format", message)
        try:
            request = request_of(sources[0])
        except NotSendable as error:
            message = f"The call sends no request: {error}"
            return _wrong("wrong_result", "executable_checker_rest:execution_error", message)
        return _verdict(right_form(self.row), self._recorded().form(request))


def _verdict(right: ResponseForm | None, got: ResponseForm | None) -> Verdict:
    if right is None:
        return _wrong("wrong_result", "case_error:truth", "The data has no recorded response to compare with.")
    if got is None:
        message = (
            "No recorded response tells how a server answers this request, and no server is asked: "
            "the answer is not known to be right."
        )
        return _wrong("wrong_result", UNRECORDED, message)
    if got == right:
        return Verdict(True, pairs=((0, 0),))
    if got.is_list != right.is_list:
        message = f"The response is {_KINDS[got.is_list]}, expected {_KINDS[right.is_list]}."
        return _wrong("wrong_result", "executable_checker_rest:wrong_type", message)
    message = "The response has other keys, or another length, than the right one."
    return _wrong("wrong_result", "executable_checker_rest:wrong_key", message)


def _wrong(kind: ReasonKind, error_type: str, message: str) -> Verdict:
    return Verdict(False, (Reason(kind, "calls", message),), error_type=error_type)
