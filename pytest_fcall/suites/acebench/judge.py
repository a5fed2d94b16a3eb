"""Judges a reply by the original rule, or by the profile `strict`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from pytest_fcall.core.case import Case
from pytest_fcall.core.reply import Calls, Reply
from pytest_fcall.core.verdict import Reason, ReasonKind, Verdict
from pytest_fcall.matching.bfcl.ruling import Ruling
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.reply import judge_turn
from pytest_fcall.suites.acebench.categories import Category
from pytest_fcall.suites.acebench.files import Question
from pytest_fcall.suites.acebench.rule import UNREADABLE, judge_answer, judge_decoded

_KINDS: Final[Mapping[str, ReasonKind]] = MappingProxyType(
    {
        UNREADABLE: "malformed",
        "wrong functions number": "wrong_count",
        "function_mismatch": "wrong_tool",
        "simple_function_checker": "wrong_tool",
        "wrong_function_name": "wrong_tool",
        "lack_args": "missing_argument",
        "addition_args": "unexpected_argument",
        "type_error": "wrong_type",
        "error_detection": "wrong_answer",
        "error_correction": "wrong_answer",
    }
)
"""The kinds of original error types, without what follows a colon; all others are about a value."""
_PLACES: Final[Mapping[ReasonKind, str]] = MappingProxyType({"malformed": "reply", "wrong_answer": "answer"})


@dataclass(frozen=True, slots=True)
class AceJudge:
    """Judges the answers to one question."""

    category: Category
    question: Question

    def __call__(self, case: Case, reply: Reply, calls: Calls) -> Verdict:
        """Judge a reply. Text is read as the original reads it; calls of a baseline have been read."""
        (turn,) = case.turns
        if case.rules.profile == "strict":
            return judge_turn(reply, calls, turn, MatchContext(case.tools, case.rules))
        if self.category.kind == "problem" and turn.answer is None:  # a baseline without answers
            return Verdict(True, notes=calls.notes)
        return _verdict_of(self._ruling(reply, calls), calls)

    def _ruling(self, reply: Reply, calls: Calls) -> Ruling:
        functions, truth = self.question.functions, self.question.truth
        if self.category.kind == "problem" or reply.decoder is not None:
            return judge_answer(self.category, functions, truth, reply.text)
        return judge_decoded(functions, truth, [{call.name: dict(call.arguments)} for call in calls.calls])


def _verdict_of(ruling: Ruling, calls: Calls) -> Verdict:
    if ruling.valid:
        return Verdict(True, notes=calls.notes)
    kind = _KINDS.get((ruling.error_type or "").partition(":")[0], "wrong_value")
    reasons = tuple(Reason(kind, _PLACES.get(kind, "calls"), f"{message}.") for message in ruling.errors)
    return Verdict(False, reasons, notes=calls.notes, error_type=ruling.error_type)
