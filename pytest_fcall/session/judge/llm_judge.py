"""Opinions of the model that judges, for `$judge` and the fixture `fc_judge`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from pytest_fcall.core.case import Case
from pytest_fcall.core.extension import Comparator
from pytest_fcall.core.operators import MOST_VOTES, Pattern, Undecided
from pytest_fcall.core.reply import Reply, Usage, total_usage
from pytest_fcall.core.request import Request
from pytest_fcall.core.values import Json, Message
from pytest_fcall.core.verdict import Verdict
from pytest_fcall.matching.judge_prompt import (
    Opinion,
    judge_messages,
    judge_question,
    majority_opinion,
    opinion_as_mismatch,
    read_opinion,
)
from pytest_fcall.reporting.transcript import content_text
from pytest_fcall.session.ask.model import AskModel
from pytest_fcall.session.ask.types import Answer
from pytest_fcall.session.endings import CaseError

if TYPE_CHECKING:
    from concurrent.futures import Future


JudgeFunction: TypeAlias = Callable[[Mapping[str, Comparator]], Verdict]
"""Judges one answer with these operators. Pure: the same operators give the same verdict."""

HOW_TO_NAME_A_JUDGE = (
    "`$judge` needs a model that judges, and none is named. Name one with --fc-judge=KIND:NAME, or in the "
    "configuration (fc_judge = KIND:NAME); for example --fc-judge=openai:gpt-5.2"
)

_MOST_QUESTIONS = 100
"""Number of questions that one reply may lead to: a reply with calls without end must not cost without end."""


class JudgeQuestion(NamedTuple):
    """A question to the judge, and the number of times that it is put."""

    text: str
    votes: int


@dataclass(frozen=True, slots=True)
class JudgeOpinions:
    """The opinions of the judge in one case. Each question is put once, for however many answers it comes up."""

    judge: AskModel
    prompt: str
    """The user's message to the model under test."""
    known: dict[JudgeQuestion, Opinion] = field(default_factory=dict)
    answers: list[Answer] = field(default_factory=list)
    """All replies of the judge."""

    @property
    def usage(self) -> Usage | None:
        """The tokens of the judge's replies."""
        return total_usage(answer.reply.usage for answer in self.answers)

    def settle(self, judges: Sequence[JudgeFunction], comparators: Mapping[str, Comparator]) -> list[Verdict]:
        """The verdicts by the opinions of the judge.

        A first attempt takes every statement for true. The questions that came up are put, at the same time, and the
        answers are judged again; so only questions are put on which a verdict depends.
        """
        while True:
            verdicts, attempts = self._attempt(judges, comparators)
            if not (unknown := self._unknown(attempts)):
                return [*map(self._annotated, verdicts, attempts)]
            self.ask(unknown)

    def ask_ahead(self, judges: Sequence[JudgeFunction], comparators: Mapping[str, Comparator]) -> list[Future[Reply]]:
        """Send the questions that come up at first, and do not wait for the opinions."""
        _, attempts = self._attempt(judges, comparators)
        return self.judge.ask_ahead(self._requests(self._unknown(attempts)))

    def ask(self, questions: Sequence[JudgeQuestion]) -> Mapping[JudgeQuestion, Opinion]:
        """Put these questions, and give all opinions that are known then."""
        answers = self.judge.answers(self._requests(questions))
        self.answers.extend(answers)
        votes = iter(answers)
        for question in questions:
            self.known[question] = majority_opinion([_opinion(next(votes).reply) for _ in range(question.votes)])
        return self.known

    def _attempt(
        self, judges: Sequence[JudgeFunction], comparators: Mapping[str, Comparator]
    ) -> tuple[list[Verdict], list[JudgeAttempt]]:
        attempts = [JudgeAttempt(self.known, self.prompt) for _ in judges]
        verdicts = [judge({**comparators, "judge": attempt}) for judge, attempt in zip(judges, attempts, strict=True)]
        return verdicts, attempts

    def _unknown(self, attempts: Sequence[JudgeAttempt]) -> list[JudgeQuestion]:
        questions = dict.fromkeys(question for attempt in attempts for question in attempt.statements)
        return [question for question in questions if question not in self.known]

    def _requests(self, questions: Sequence[JudgeQuestion]) -> list[Request]:
        settings = {**self.judge.settings}
        return [
            Request(judge_messages(question.text), settings=settings, sample=vote)
            for question in questions
            for vote in range(question.votes)
        ]

    def _annotated(self, verdict: Verdict, attempt: JudgeAttempt) -> Verdict:
        if not attempt.statements:
            return verdict
        opinions = ((statement, self.known[question]) for question, statement in attempt.statements.items())
        notes = [f"{self.judge.id} says {each.says} to {statement!r}: {each.why}" for statement, each in opinions]
        turns = tuple(replace(turn, judged=True) for turn in verdict.turns)
        return replace(verdict, judged=True, notes=(*verdict.notes, *notes), turns=turns)


class JudgeAttempt:
    """The operator `$judge` in one attempt at a verdict, with the opinions that are known."""

    def __init__(self, known: Mapping[JudgeQuestion, Opinion], prompt: str) -> None:
        self._known = known
        self._prompt = prompt
        self.statements: dict[JudgeQuestion, Pattern] = {}
        """The questions that came up, with their statements."""

    def __call__(self, operand: Pattern, options: Mapping[str, Pattern], got: Json) -> str | None:
        """Compare a value with a statement; a statement without an opinion is taken for true."""
        votes = options.get("votes", 1)
        text = judge_question(operand, got, self._prompt)
        question = JudgeQuestion(text, votes if isinstance(votes, int) and votes > 0 else 1)
        if question not in self.statements and len(self.statements) == _MOST_QUESTIONS:
            raise Undecided(f"one reply leads to more than {_MOST_QUESTIONS} questions to the judge")
        self.statements[question] = operand
        return opinion_as_mismatch(operand, self._known[question]) if question in self._known else None


def case_prompt(case: Case) -> str:
    """The user's messages of a case, as the judge is shown them."""
    return "\n".join(filter(None, (last_user_message(turn.messages) for turn in case.turns)))


def last_user_message(messages: Sequence[Message]) -> str:
    """The last message of the user."""
    texts = [content_text(message.get("content")) for message in messages if message.get("role") == "user"]
    return texts[-1] if texts else ""


def _opinion(reply: Reply) -> Opinion:
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
        if not 1 <= votes <= MOST_VOTES:
            raise CaseError(f"votes: {votes} must be from 1 to {MOST_VOTES}")
        try:
            question = JudgeQuestion(judge_question(statement, value, said), votes)
        except Undecided as why:
            return Opinion("uncertain", str(why))
        return self._opinions(said).ask([question])[question]

    def settle(self, judge: JudgeFunction, messages: Sequence[Message]) -> Verdict:
        """The verdict on a reply to these messages, by the opinions of the judge."""
        (verdict,) = self._opinions(last_user_message(messages)).settle([judge], {})
        return verdict

    def _opinions(self, prompt: str) -> JudgeOpinions:
        if not self.model:
            raise CaseError(HOW_TO_NAME_A_JUDGE)
        return JudgeOpinions(self.model, prompt)
