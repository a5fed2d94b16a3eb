"""One stored answer, judged by both profiles."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pytest_fcall.core.call import Calls
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import Verdict
from pytest_fcall.decoding.bfcl import Undecodable, decode_fc, decode_format
from pytest_fcall.matching import judge
from pytest_fcall.matching.bfcl import Exam, Ruling, rule, undecodable
from pytest_fcall.suites.bfcl.answers import Answer
from pytest_fcall.suites.bfcl.cases import BfclCase
from pytest_fcall.suites.bfcl.reading import strict_reading


@dataclass(frozen=True, slots=True)
class Official:
    """The official checker's verdict on what the official decoder gave (None where that failed)."""

    exam: Exam
    ruling: Ruling
    decoded: object = None


@dataclass(frozen=True, slots=True)
class Strict:
    """The `strict` profile's verdict on the calls that it reads."""

    verdict: Verdict
    calls: Calls


@dataclass(frozen=True, slots=True)
class Score:
    """What both profiles say of an answer."""

    official: Official
    strict: Strict

    def as_row(self) -> dict[str, Json]:
        """The verdicts as `fcall score` prints them."""
        ruling, verdict = self.official.ruling, self.strict.verdict
        return {
            "valid": ruling.valid,
            "error_type": ruling.error_type,
            "strict_valid": verdict.valid,
            "strict_reasons": [
                {"kind": reason.kind, "path": reason.path, "message": reason.message} for reason in verdict.reasons
            ],
        }


def score(case: BfclCase, answer: Answer) -> Score:
    """Judge an answer. Total: whatever it holds, both profiles have a verdict."""
    return Score(official(replace(case.exam, underscored=answer.underscored), answer), _strict(case, answer))


def official(exam: Exam, answer: Answer) -> Official:
    """Judge an answer by the official rules alone."""
    try:
        decoded = _officially_decoded(exam, answer)
    except Undecodable as error:
        return Official(exam, undecodable(exam, str(error)))
    return Official(exam, rule(exam, decoded), decoded)


def _officially_decoded(exam: Exam, answer: Answer) -> object:
    match answer.form:
        case "fc":
            return decode_fc(answer.said)
        case "prompt":
            return decode_format(answer.said, answer.asked.calls, tags=answer.asked.tagged, language=exam.language)
        case "decoded":
            return answer.said
        case "undecodable":
            raise Undecodable("the row says so")


def _strict(case: BfclCase, answer: Answer) -> Strict:
    reply, calls = strict_reading(answer, case.case)
    return Strict(judge(reply, calls, case.expect, case.case.tools, case.case.rules), calls)
