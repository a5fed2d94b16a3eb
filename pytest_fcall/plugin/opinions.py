"""What the model that judges says in one case."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import pytest

from pytest_fcall.core import Case, Json, Message, Pattern, Reply, Request, Usage, Verdict
from pytest_fcall.core.extension import Comparator, Undecided
from pytest_fcall.core.reply import usage_of
from pytest_fcall.matching.opinions import Opinion, majority, messages, opinion, question, verdict_on
from pytest_fcall.plugin.answering import Answer, answering
from pytest_fcall.plugin.asking import AskModel, asker_of
from pytest_fcall.plugin.judge import HOW_TO_NAME_A_JUDGE, is_judged, named_judge
from pytest_fcall.plugin.words import fail
from pytest_fcall.reporting.question import content_text

if TYPE_CHECKING:
    from concurrent.futures import Future

Judging: TypeAlias = Callable[[Mapping[str, Comparator]], Verdict]
"""Judges something with the operators that it is handed; the same whenever they say the same."""

_MOST = 100
"""Questions that one reply may lead to. A reply that makes calls without end should not cost without end."""


class Point(NamedTuple):
    """A question, and how often it is put."""

    asked: str
    votes: int


@dataclass(frozen=True, slots=True)
class Opinions:
    """Asks the judge each question of a case once, however often and for how many replies it comes up."""

    judge: AskModel
    said: str
    """What the user asked of the model under test."""
    known: dict[Point, Opinion] = field(default_factory=dict)
    answers: list[Answer] = field(default_factory=list)
    """All that the judge gave."""

    @property
    def usage(self) -> Usage | None:
        """The tokens that it took."""
        return usage_of(answer.reply.usage for answer in self.answers)

    def settle(self, judgings: Sequence[Judging], comparators: Mapping[str, Comparator]) -> list[Verdict]:
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

    def foresee(self, judgings: Sequence[Judging], comparators: Mapping[str, Comparator]) -> list[Future[Reply]]:
        """Have asked what will come up first, and do not wait for it."""
        _, hearings = self._heard(judgings, comparators)
        return self.judge.ask_ahead(self._requests(self._unknown(hearings)))

    def ask(self, points: Sequence[Point]) -> Mapping[Point, Opinion]:
        """Put these questions. All that is known is given back."""
        __tracebackhide__ = True
        answers = self.judge.answers(self._requests(points))
        self.answers.extend(answers)
        votes = iter(answers)
        for point in points:
            self.known[point] = majority([_opinion(next(votes).reply) for _ in range(point.votes)])
        return self.known

    def _heard(
        self, judgings: Sequence[Judging], comparators: Mapping[str, Comparator]
    ) -> tuple[list[Verdict], list[Hearing]]:
        hearings = [Hearing(self.known, self.said) for _ in judgings]
        verdicts = [
            judging({**comparators, "judge": hearing}) for judging, hearing in zip(judgings, hearings, strict=True)
        ]
        return verdicts, hearings

    def _unknown(self, hearings: Sequence[Hearing]) -> list[Point]:
        heard = dict.fromkeys(point for hearing in hearings for point in hearing.heard)
        return [point for point in heard if point not in self.known]

    def _requests(self, points: Sequence[Point]) -> list[Request]:
        settings = {**self.judge.settings}
        return [
            Request(messages(point.asked), settings=settings, sample=vote)
            for point in points
            for vote in range(point.votes)
        ]

    def _marked(self, verdict: Verdict, hearing: Hearing) -> Verdict:
        if not hearing.heard:
            return verdict
        said = ((statement, self.known[point]) for point, statement in hearing.heard.items())
        notes = [f"{self.judge.id} says {each.says} to {statement!r}: {each.why}" for statement, each in said]
        turns = tuple(replace(turn, judged=True) for turn in verdict.turns)
        return replace(verdict, judged=True, notes=(*verdict.notes, *notes), turns=turns)


class Hearing:
    """One attempt at a verdict: `$judge` as far as it is known."""

    def __init__(self, known: Mapping[Point, Opinion], said: str) -> None:
        self._known = known
        self._said = said
        self.heard: dict[Point, Pattern] = {}
        """All that came up, with the statement in question."""

    def __call__(self, operand: Pattern, options: Mapping[str, Pattern], got: Json) -> str | None:
        """Decide whether a statement is true of a value; what is not known is taken for true."""
        votes = options.get("votes", 1)
        point = Point(question(operand, got, self._said), votes if isinstance(votes, int) and votes > 0 else 1)
        if point not in self.heard and len(self.heard) == _MOST:
            raise Undecided(f"one reply leads to more than {_MOST} questions to the judge")
        self.heard[point] = operand
        return verdict_on(operand, self._known[point]) if point in self._known else None


def opinions_of(item: pytest.Item, case: Case) -> Opinions | None:
    """What is to be asked of the judge in a case; None where nothing is. Without a judge the test ends in words."""
    __tracebackhide__ = True
    if not is_judged(case):
        return None
    named = named_judge(item.config)
    if named is None:
        fail(HOW_TO_NAME_A_JUDGE)
    asking = answering(item.config)
    said = "\n".join(filter(None, (said_in(turn.messages) for turn in case.turns)))
    return Opinions(AskModel(asking.source(named), asking, asker_of(item)), said)


def said_in(messages: Sequence[Message]) -> str:
    """The last thing that the user says."""
    said = [content_text(message.get("content")) for message in messages if message.get("role") == "user"]
    return said[-1] if said else ""


def _opinion(reply: Reply) -> Opinion:
    return opinion(reply.text or reply.refusal or "")
