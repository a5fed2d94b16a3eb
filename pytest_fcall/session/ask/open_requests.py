"""Requests that a selection of tests makes and no recording answers: they are noted here instead of being sent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, NoReturn

from pytest_fcall.session.ask.types import Question
from pytest_fcall.session.endings import CaseSkipped


class OpenRequest(NamedTuple):
    """A request, and the tests that want the reply: the reply is recorded for all of them."""

    questions: Sequence[Question]

    @property
    def first(self) -> Question:
        """The question of the first of these tests."""
        return self.questions[0]


class OpenRequests:
    """The open requests of a run, by digest, in the order in which they came up."""

    def __init__(self) -> None:
        self._questions: dict[str, list[Question]] = {}
        self.apps: dict[str, str] = {}
        """Tests that want an answer of an app, which pytest itself asks: the ids of the apps by the tests' node ids."""

    def __len__(self) -> int:
        return len(self._questions)

    def __iter__(self) -> Iterator[OpenRequest]:
        return map(OpenRequest, self._questions.values())

    def get(self, digest: str) -> OpenRequest | None:
        """The open request with this digest."""
        questions = self._questions.get(digest)
        return OpenRequest(questions) if questions else None

    def add(self, question: Question) -> None:
        """Note a request. The same one of another test is the same open request."""
        if question.source.asks_models:
            self.apps[question.asker.nodeid] = question.source.id
            return
        known = self._questions.setdefault(question.digest, [])
        if all(each.asker != question.asker for each in known):
            known.append(question)

    def end_with(self, question: Question) -> NoReturn:
        """Note a request, and end the test that wants the reply."""
        self.add(question)
        raise CaseSkipped(f"not asked: a request to {question.source.id} is open")
