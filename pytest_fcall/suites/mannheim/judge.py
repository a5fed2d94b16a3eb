"""Judges a conversation by the strict profile or by the original rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from pytest_fcall.conversation.score_formulas import (
    ExpectedPath,
    closest_path,
    grade_answer,
    grade_functions,
    grade_parameters,
)
from pytest_fcall.core.case import Case
from pytest_fcall.core.reply import Calls, Reply
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import Reason, Verdict
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.reply import judge_turn
from pytest_fcall.suites.mannheim.score import answer_object


class MannheimJudge:
    """Judges one case by all calls of the conversation, and by its last message."""

    def __init__(self, paths: Sequence[ExpectedPath], answer: Mapping[str, Json], ordered: AbstractSet[str]) -> None:
        self.paths = paths
        self.answer = answer
        self.ordered = ordered

    def __call__(self, case: Case, reply: Reply, calls: Calls) -> Verdict:
        """Judge a conversation. The profile `bfcl` means the original rules here, with their mistakes."""
        if case.rules.profile == "strict":
            return judge_turn(reply, calls, case.turns[0], MatchContext(case.tools, case.rules))
        reasons = tuple(self._original(case, reply, calls))
        return Verdict(not reasons, reasons, notes=calls.notes)

    def _original(self, case: Case, reply: Reply, calls: Calls) -> Iterator[Reason]:
        path = closest_path(calls.calls, self.paths)
        functions = grade_functions(calls.calls, path)
        parameters = grade_parameters(calls.calls, path)
        if functions.grade != "Correct":
            message = f"functions are {functions.grade.lower()}: {functions.right} of {functions.total}"
            yield Reason("wrong_tool", "calls", message, [call.name for call in path], [c.name for c in calls.calls])
        if parameters.grade != "Correct":
            message = f"parameters are {parameters.grade.lower()}: {parameters.right} of {parameters.total}"
            yield Reason("wrong_value", "calls", message, [dict(call.arguments) for call in path])
        if case.turns[0].answer is None:  # a baseline without answers
            return
        if grade_answer(answer_object(reply.text), self.answer, self.ordered) != "Correct":
            yield Reason("wrong_answer", "answer", "the answer is incorrect", dict(self.answer), reply.text)
