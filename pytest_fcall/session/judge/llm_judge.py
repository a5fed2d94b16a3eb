"""Opinions of the model that judges, for `$judge` and the fixture `fc_judge`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import pytest

from pytest_fcall.core import Case, Json, Message, Pattern, Reply, Request, Usage, Verdict
from pytest_fcall.core.extension import Comparator, Undecided
from pytest_fcall.core.operators import MOST_VOTES
from pytest_fcall.core.reply import total_usage
from pytest_fcall.matching.judge_prompt import (
    Opinion,
    judge_messages,
    judge_question,
    majority_opinion,
    opinion_as_mismatch,
    read_opinion,
)
from pytest_fcall.plugin.judge_model import HOW_TO_NAME_A_JUDGE, is_judged, named_judge
from pytest_fcall.reporting.transcript import content_text
from pytest_fcall.session.ask.model import AskModel, asker_of
from pytest_fcall.session.ask.replies import Answer, replies
from pytest_fcall.session.outcomes import fail

if TYPE_CHECKING:
    from concurrent.futures import Future


JudgeFunction: TypeAlias = Callable[[Mapping[str, Comparator]], Verdict]
"""Judges something with the operators that it is handed; the same whenever they say the same."""

_MOST = 100
"""Questions that one reply may lead to. A reply that makes calls without end should not cost without end."""


class JudgeQuestion(NamedTuple):
    """A question, and how often it is put."""

    asked: str
    votes: int


@dataclass(frozen=True, slots=True)
class JudgeOpinions:
    """Asks the judge each question of a case once, however often and for how many replies it comes up."""

    judge: AskModel
    said: str
    """What the user asked of the model under test."""
    known: dict[JudgeQuestion, Opinion] = field(default_factory=dict)
    answers: list[Answer] = field(default_factory=list)
    """All that the judge gave."""

    @property
    def usage(self) -> Usage | None:
        """The tokens that it took."""
        return total_usage(answer.reply.usage for answer in self.answers)

    def settle(self, judgings: Sequence[JudgeFunction], comparators: Mapping[str, Comparator]) -> list[Verdict]:
        """Judge by what the judge says.

        What it has not been asked is taken for true at first. So whatever the verdicts depend on comes up, is asked
        for at the same time, and everything is judged again.
        """
        __tracebackhide__ = True
        while True:
            verdicts, hearings = self._heard(judgings, comparators)
            if not (unknown := self._unknown(hearings)):
                return [*map(self._marked, verdicts, hearings)]
            self.ask(unknown)

    def foresee(self, judgings: Sequence[JudgeFunction], comparators: Mapping[str, Comparator]) -> list[Future[Reply]]:
        """Have asked what will come up first, and do not wait for it."""
        _, hearings = self._heard(judgings, comparators)
        return self.judge.ask_ahead(self._requests(self._unknown(hearings)))

    def ask(self, points: Sequence[JudgeQuestion]) -> Mapping[JudgeQuestion, Opinion]:
        """Put these questions. All that is known is given back."""
        __tracebackhide__ = True
        answers = self.judge.answers(self._requests(points))
        self.answers.extend(answers)
        votes = iter(answers)
        for point in points:
            self.known[point] = majority_opinion([_read_opinion(next(votes).reply) for _ in range(point.votes)])
        return self.known

    def _heard(
        self, judgings: Sequence[JudgeFunction], comparators: Mapping[str, Comparator]
    ) -> tuple[list[Verdict], list[JudgeAttempt]]:
        hearings = [JudgeAttempt(self.known, self.said) for _ in judgings]
        verdicts = [
            judging({**comparators, "judge": hearing}) for judging, hearing in zip(judgings, hearings, strict=True)
        ]
        return verdicts, hearings

    def _unknown(self, hearings: Sequence[JudgeAttempt]) -> list[JudgeQuestion]:
        heard = dict.fromkeys(point for hearing in hearings for point in hearing.heard)
        return [point for point in heard if point not in self.known]

    def _requests(self, points: Sequence[JudgeQuestion]) -> list[Request]:
        settings = {**self.judge.settings}
        return [
            Request(judge_messages(point.asked), settings=settings, sample=vote)
            for point in points
            for vote in range(point.votes)
        ]

    def _marked(self, verdict: Verdict, hearing: JudgeAttempt) -> Verdict:
        if not hearing.heard:
            return verdict
        said = ((statement, self.known[point]) for point, statement in hearing.heard.items())
        notes = [f"{self.judge.id} says {each.says} to {statement!r}: {each.why}" for statement, each in said]
        turns = tuple(replace(turn, judged=True) for turn in verdict.turns)
        return replace(verdict, judged=True, notes=(*verdict.notes, *notes), turns=turns)


class JudgeAttempt:
    """One attempt at a verdict: `$judge` as far as it is known."""

    def __init__(self, known: Mapping[JudgeQuestion, Opinion], said: str) -> None:
        self._known = known
        self._said = said
        self.heard: dict[JudgeQuestion, Pattern] = {}
        """All that came up, with the statement in question."""

    def __call__(self, operand: Pattern, options: Mapping[str, Pattern], got: Json) -> str | None:
        """Decide whether a statement is true of a value; what is not known is taken for true."""
        votes = options.get("votes", 1)
        point = JudgeQuestion(
            judge_question(operand, got, self._said), votes if isinstance(votes, int) and votes > 0 else 1
        )
        if point not in self.heard and len(self.heard) == _MOST:
            raise Undecided(f"one reply leads to more than {_MOST} questions to the judge")
        self.heard[point] = operand
        return opinion_as_mismatch(operand, self._known[point]) if point in self._known else None


def opinions_of(item: pytest.Item, case: Case) -> JudgeOpinions | None:
    """What is to be asked of the judge in a case; None where nothing is. Without a judge the test ends in words."""
    __tracebackhide__ = True
    if not is_judged(case):
        return None
    named = named_judge(item.config)
    if named is None:
        fail(HOW_TO_NAME_A_JUDGE)
    asking = replies(item.config)
    said = "\n".join(filter(None, (last_user_message(turn.messages) for turn in case.turns)))
    return JudgeOpinions(AskModel(asking.source(named), asking, asker_of(item)), said)


def last_user_message(messages: Sequence[Message]) -> str:
    """The last thing that the user says."""
    said = [content_text(message.get("content")) for message in messages if message.get("role") == "user"]
    return said[-1] if said else ""


def _read_opinion(reply: Reply) -> Opinion:
    return read_opinion(reply.text or reply.refusal or "")


@dataclass(frozen=True, slots=True)
class AskJudge:
    """The model that judges. It is false where none was named; asking it then says how to name one."""

    model: AskModel

    def __bool__(self) -> bool:
        return bool(self.model)

    def __call__(self, statement: str, value: Json, *, said: str = "", votes: int = 1) -> Opinion:
        """Ask whether a statement is true of a value; `said` is what the user wanted, if that matters.

        `says` of the opinion is `yes`, `no` or `uncertain`, and `why` is the judge's reason.
        """
        __tracebackhide__ = True
        if not 1 <= votes <= MOST_VOTES:
            fail(f"votes: {votes} is no number from 1 to {MOST_VOTES}")
        try:
            point = JudgeQuestion(judge_question(statement, value, said), votes)
        except Undecided as why:
            return Opinion("uncertain", str(why))
        return self._opinions(said).ask([point])[point]

    def settle(self, judging: JudgeFunction, messages: Sequence[Message]) -> Verdict:
        """Judge a reply to these messages by what the judge says."""
        __tracebackhide__ = True
        (verdict,) = self._opinions(last_user_message(messages)).settle([judging], {})
        return verdict

    def _opinions(self, said: str) -> JudgeOpinions:
        __tracebackhide__ = True
        if not self.model:
            fail(HOW_TO_NAME_A_JUDGE)
        return JudgeOpinions(self.model, said)


def judge_of_test(request: pytest.FixtureRequest) -> AskJudge:
    """The value of the fixture `fc_judge` for the test that asks for it."""
    config, named = request.config, named_judge(request.config)
    asking = replies(config)
    return AskJudge(AskModel(asking.source(named) if named else None, asking, asker_of(request.node)))
