"""Cases that end without a reply, with a sentence that says why."""

from __future__ import annotations

from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn

import pytest

from pytest_fcall.core import CaseRefused, ModelUnavailable, Unanswered
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.session.ask.app_proxy import NotRecorded, Unpaid
from pytest_fcall.session.ask.recordings import SessionRecordings
from pytest_fcall.session.ask.source import Question
from pytest_fcall.session.outcomes import fail, without_our_frames

if TYPE_CHECKING:
    from pytest_fcall.session.ask.conversation import Conversation


_NAMES = frozenset(
    {
        "APIConnectionError",  # openai, anthropic
        "ClientConnectionError",  # aiohttp
        "ConnectionError",  # requests
        "EndpointConnectionError",  # botocore
        "ServiceUnavailable",  # google
        "Timeout",  # requests
        "TransportError",  # httpx
    }
)


def is_outage(error: BaseException) -> bool:
    """Whether a server or the network is to blame, by the classes that libraries have for it."""
    if isinstance(error, ConnectionError | TimeoutError):
        return True
    return any(kind.__name__ in _NAMES for kind in type(error).__mro__)


@dataclass(slots=True)
class MissingReplies:
    """Who lacks a reply, and whose fault it is."""

    kept: SessionRecordings
    replay: bool
    """Whether nothing counts but what is kept: what is missing is an error then, and else a skip."""
    missing: set[str] = field(default_factory=set)
    """Node ids of the tests that no recording could answer."""
    unanswered: set[str] = field(default_factory=set)
    """Node ids of the tests that a server, the network or the model's entry left without a reply."""
    unavailable: dict[str, str] = field(default_factory=dict)
    """Why models cannot be asked any more."""
    told: set[str] = field(default_factory=set)
    """The reasons among these that are an error already."""

    def no_recording(self, question: Question) -> NoReturn:
        """End the test since no recording answers, and nobody may be asked."""
        from pytest_fcall.backends.recordings.differences import explain_missing

        __tracebackhide__ = True
        lines = [
            f"no recorded reply of {question.model.id}; ask it: {_command(question)}",
            explain_missing(question.request, self.kept.nearest(question)),
        ]
        if damage := self.kept.damage(question):
            lines.append(f"{len(damage)} damaged lines: {damage[0]}")
        self._not_kept(question, "\n".join(lines))

    def of_another_case(self, question: Question, case: str, file: str) -> NoReturn:
        """End the test since it is recorded for another case what the app asked models."""
        __tracebackhide__ = True
        told = f"it is recorded for the case {case} of {file}, which asks the same"
        inside = f"what {question.model.id} asks models for this case is not recorded"
        self._not_kept(question, f"{inside}; ask it: {_command(question)}\n{safe_line(told)}")

    def no_result(self, conversation: Conversation, reason: str) -> NoReturn:
        """End the test since no server may be asked what a call comes to."""
        __tracebackhide__ = True
        question = Question.of(*conversation[1:])
        self._not_kept(question, f"{reason}; ask it: {_command(question)}")

    def failed(self, question: Question, error: BaseException) -> NoReturn:
        """End the test: what we found ourselves is one line, anything else is shown as it was raised."""
        from pytest_fcall.backends.apps.python import AnswerError
        from pytest_fcall.backends.store import StoreError

        __tracebackhide__ = True
        if isinstance(error, Unanswered | CancelledError) or is_outage(error):
            self.unanswered.add(question.asker.nodeid)
        name = f"{question.model.id}: "
        text = name + str(error).removeprefix(name)  # back ends may have named their model already
        if isinstance(error, Unpaid) and question.source.is_app:  # which may still do what is recorded
            self.unanswered.add(question.asker.nodeid)
            fail(text)
        if isinstance(error, ModelUnavailable | StoreError):  # what cannot be kept would be paid for in vain
            self.nobody(question, text)
        if isinstance(error, NotRecorded):
            self.missing.add(question.asker.nodeid)
            fail(f"{text}\nrecord it: {_command(question)}")
        if isinstance(error, AnswerError | CaseRefused | Unanswered):
            fail(text)
        raise without_our_frames(error)

    def likewise(self, nodeid: str, question: Question) -> None:
        """Note that a test lacks what that of this node id lacks; end it where nobody can be asked any more."""
        __tracebackhide__ = True
        for lacking in (self.missing, self.unanswered):
            if nodeid in lacking:
                lacking.add(question.asker.nodeid)
        if reason := self.unavailable.get(question.model.id):
            self.nobody(question, reason)

    def nobody(self, question: Question, reason: str) -> NoReturn:
        """End the test since nobody can be asked: one error for a model, the others are skipped.

        Where it is the team's own app that cannot be found, all are errors.
        """
        __tracebackhide__ = True
        first = self.unavailable.setdefault(question.model.id, reason)
        if question.source.is_app:
            fail(first)
        self.unanswered.add(question.asker.nodeid)
        if first not in self.told:
            self.told.add(first)
            fail(first)
        pytest.skip(f"nothing more is asked: {first}")

    def _not_kept(self, question: Question, text: str) -> NoReturn:
        __tracebackhide__ = True
        self.missing.add(question.asker.nodeid)
        if self.replay:
            fail(text)
        pytest.skip(text)


def _command(question: Question) -> str:
    """What to type to ask it."""
    model = question.model
    named = f'"{model.id}?…"' if model.options else model.id  # what stands there may hold a key
    return f'pytest {question.source.named.option}={named} "{question.asker.again}"'
