"""Judges a conversation by the strict profile or by the original rules, and scores it as the benchmark does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from pytest_fcall.conversation.score_formulas import ExpectedPath, closest_path
from pytest_fcall.core.case import Case
from pytest_fcall.core.reply import Calls, Reply
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import Reason, Verdict
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.reply import judge_turn
from pytest_fcall.suites.mannheim.errors import error_classes
from pytest_fcall.suites.mannheim.score import MannheimScore, score_answer


class MannheimJudge:
    """Judges one case by all calls of the conversation, and by its last message.

    `published` are the right paths with the faults of the data, which are those of the published figures; `paths`
    have them repaired.
    """

    def __init__(
        self,
        paths: Sequence[ExpectedPath],
        answer: Mapping[str, Json],
        ordered: AbstractSet[str],
        published: Sequence[ExpectedPath] | None = None,
    ) -> None:
        self.paths = paths
        self.answer = answer
        self.ordered = ordered
        self.published = paths if published is None else published

    def __call__(self, case: Case, reply: Reply, calls: Calls) -> Verdict:
        """Judge a conversation. The scores are those of the original rules in every profile."""
        score = score_answer(calls.calls, self.published, reply.text, self.answer, self.ordered)
        if case.rules.profile == "strict":
            verdict = judge_turn(reply, calls, case.turns[0], MatchContext(case.tools, case.rules))
        else:
            reasons = tuple(self._original(case, reply, calls, score))
            verdict = Verdict(not reasons, reasons, notes=calls.notes)
        notes = () if verdict.valid else tuple(self._likely_errors(case, reply, calls, score))
        return replace(verdict, notes=(*verdict.notes, *notes), scores=score.accuracies())

    def _likely_errors(self, case: Case, reply: Reply, calls: Calls, score: MannheimScore) -> Iterator[str]:
        """A note with the classes of errors in the publication."""
        turn = case.turns[0]
        if turn.answer is None:  # a baseline without answers
            return
        question = str(turn.messages[-1].get("content"))
        if found := error_classes(question, calls.calls, self.published, score, reply.text, self.answer):
            yield f"Likely, in the publication's classes of errors: {', '.join(found)}."

    def _original(self, case: Case, reply: Reply, calls: Calls, score: MannheimScore) -> Iterator[Reason]:
        path = closest_path(calls.calls, self.published)
        functions, parameters = score.functions, score.parameters
        if functions.grade != "Correct":
            message = f"functions are {functions.grade.lower()}: {functions.right} of {functions.total}"
            yield Reason("wrong_tool", "calls", message, [call.name for call in path], [c.name for c in calls.calls])
        if parameters.grade != "Correct":
            message = f"parameters are {parameters.grade.lower()}: {parameters.right} of {parameters.total}"
            yield Reason("wrong_value", "calls", message, [dict(call.arguments) for call in path])
        if case.turns[0].answer is None:  # a baseline without answers
            return
        if score.answer != "Correct":
            yield Reason("wrong_answer", "answer", "the answer is incorrect", dict(self.answer), reply.text)
