"""Tests without a reply: the reasons, and the end of each test."""

from __future__ import annotations

import errno
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING, NoReturn

from pytest_fcall.core.backend import CaseRefused, Model, ModelUnavailable, Unanswered
from pytest_fcall.reporting.results import MissingReply
from pytest_fcall.session.ask.volatile import volatile_of
from pytest_fcall.session.endings import CaseError, CaseSkipped, without_own_frames

if TYPE_CHECKING:
    from pytest_fcall.session.ask.recordings import SessionRecordings
    from pytest_fcall.session.ask.types import Question
    from pytest_fcall.session.settings import Settings


class NotRecorded(Exception):
    """An app sent a request that no recording answers. The text says what is new in it."""


class WentAround(Exception):
    """An app wanted to ask a provider around the proxy, where no model may be asked. The text says where."""


class AppOverBudget(ModelUnavailable):
    """An app sent a request that would cost more than is left. The text says what to do."""


class NoReplies:
    """Knows which tests have no reply, and ends them with a sentence that says why."""

    def __init__(self, recordings: SessionRecordings, settings: Settings) -> None:
        self._recordings = recordings
        self._settings = settings
        self._is_error = settings.replay and settings.missing != "skip"
        """Whether a missing recording is an error; otherwise it skips the test."""
        self.missing: dict[str, MissingReply] = {}
        """The reasons why no recording answers, by the node ids of the tests."""
        self.unanswered: set[str] = set()
        """Node ids of the tests that have no reply because of a server, the network or the model's entry."""
        self.unavailable: dict[str, str] = {}
        """Models that cannot be asked any more, and why."""
        self._reported: set[str] = set()
        """Reasons among these that have been an error already."""
        self._store_faults: set[str] = set()
        """Reasons among these that have nothing to do with the model: replies cannot be recorded."""

    def not_recorded(self, question: Question) -> NoReturn:
        """End the test: no recording answers, and the model may not be asked."""
        from pytest_fcall.backends.recordings.differences import explain_missing

        volatile = volatile_of(question.asker.volatile, question.model)
        cause = explain_missing(question.request, self._recordings.nearest(question), volatile)
        if damage := self._recordings.damage(question):
            more = f" (and {len(damage) - 1:,} more)" if damage[1:] else ""
            cause += f"\nnot all recordings can be read: {damage[0]}{more}"
        variant = f" to the variant {question.asker.variant}" if question.asker.variant else ""
        text = f"no recorded reply of {question.source.id}{variant}; to ask the model: {_command(question)}"
        self._end_without_recording(question, cause, f"{text}\n{cause}")

    def recorded_for_other_case(self, question: Question, case: str, file: str) -> NoReturn:
        """End the test: the requests that the app sends to models are recorded, but for another case."""
        from pytest_fcall.reporting.safe_text import safe_line

        missing = f"the requests that {question.source.id} sends to models for this case are not recorded"
        other = safe_line(f"the case {case} of {file} has the same question, and a recording")
        text = f"{missing}; to ask the model: {_command(question)}\n{other}"
        self._end_without_recording(question, f"{missing}\n{other}", text)

    def result_not_recorded(self, question: Question, reason: str) -> NoReturn:
        """End the test: the result of a call is not recorded, and its server may not be asked."""
        self._end_without_recording(question, reason, f"{reason}; to ask the model: {_command(question)}")

    def request_not_recorded(self, question: Question, missing: NotRecorded) -> NoReturn:
        """End the plain test: the app that it calls sent a request that no recording answers."""
        text = f'{missing}\nrecord it: pytest --fc-live "{question.asker.nodeid}"'
        self._end_without_recording(question, str(missing), text)

    def failed(self, question: Question, error: BaseException) -> NoReturn:
        """End the test after a failure. Known failures are one line; anything else is raised as it came."""
        __tracebackhide__ = True
        from pytest_fcall.backends.apps.answers.errors import AnswerError
        from pytest_fcall.backends.store import StoreError

        if isinstance(error, Unanswered | CancelledError) or is_outage(error):
            self.unanswered.add(question.asker.nodeid)
        prefix = f"{question.source.id}: "
        text = prefix + str(error).removeprefix(prefix)
        if isinstance(error, AppOverBudget) and question.source.is_app:  # its other cases may be recorded
            self.unanswered.add(question.asker.nodeid)
            raise CaseError(text) from None
        if isinstance(error, StoreError):  # a reply that cannot be recorded would be paid for in vain
            self._store_faults.add(text)
        if isinstance(error, ModelUnavailable | StoreError):
            self.model_unavailable(question, text)
        if isinstance(error, NotRecorded):
            self._end_without_recording(question, str(error), f"{text}\nrecord it: {_command(question)}")
        if isinstance(error, AnswerError | CaseRefused | Unanswered | WentAround):
            raise CaseError(text) from None
        raise without_own_frames(error)

    def forget(self, nodeid: str) -> None:
        """Forget why the test had no reply, as it is run again."""
        self.missing.pop(nodeid, None)
        self.unanswered.discard(nodeid)

    def copy_reason(self, nodeid: str, question: Question) -> None:
        """Give the test of the question the same reason as the test `nodeid`, which asked for the same.

        Ends the test where the model cannot be asked any more.
        """
        if nodeid in self.missing:
            self.missing[question.asker.nodeid] = self.missing[nodeid]
        if nodeid in self.unanswered:
            self.unanswered.add(question.asker.nodeid)
        if reason := self.unavailable.get(question.source.id):
            self.model_unavailable(question, reason)

    def model_unavailable(self, question: Question, reason: str) -> NoReturn:
        """End the test: the model cannot be asked. The first such test is an error, the others are skipped.

        Where it is the team's own app that cannot be imported, another run would not help.
        """
        first = self.unavailable.setdefault(question.source.id, reason)
        if not question.source.is_app or first in self._store_faults:
            self.unanswered.add(question.asker.nodeid)
        if first not in self._reported:
            self._reported.add(first)
            raise CaseError(first) from None
        raise CaseSkipped(f"model unavailable: {first}") from None

    def _end_without_recording(self, question: Question, cause: str, text: str) -> NoReturn:
        """End the test with the text."""
        self.missing[question.asker.nodeid] = MissingReply(question.source.id, cause, self._mending_command(question))
        raise (CaseError if self._is_error else CaseSkipped)(text) from None

    def _mending_command(self, question: Question) -> str:
        """The command that asks for all that is missing, and writes it to where it was recorded."""
        named = question.source.named
        typed = self._settings.replay and named.origin == "command line"
        command = f"pytest {named.option}={_quoted(question.model)}" if typed else "pytest --fc-live"
        command += question.asker.options
        return f"{command} && fcall record --export" if self._recordings.is_exported(question) else command


_FAILED_CONNECTIONS = frozenset(
    {
        ("aiohttp", "ClientConnectionError"),
        ("anthropic", "APIConnectionError"),
        ("botocore", "ConnectionError"),
        ("botocore", "HTTPClientError"),
        ("google", "ServiceUnavailable"),
        ("groq", "APIConnectionError"),
        ("httpcore", "NetworkError"),
        ("httpcore", "TimeoutException"),
        ("httpx", "TransportError"),
        ("openai", "APIConnectionError"),
        ("requests", "ConnectionError"),
        ("requests", "Timeout"),
        ("socket", "gaierror"),
        ("ssl", "SSLError"),
        ("urllib3", "MaxRetryError"),
        ("urllib3", "ProtocolError"),
        ("urllib3", "TimeoutError"),
    }
)
"""Packages, and their classes for failed connections. Classes of other packages are the team's own, whatever their
names."""
_UNREACHABLE = frozenset({errno.EHOSTDOWN, errno.EHOSTUNREACH, errno.ENETDOWN, errno.ENETUNREACH})


def is_outage(error: BaseException) -> bool:
    """Whether a server or the network caused the error."""
    if isinstance(error, ConnectionError | TimeoutError):
        return True
    if isinstance(error, OSError) and error.errno in _UNREACHABLE:
        return True
    kinds = {(kind.__module__.partition(".")[0], kind.__name__) for kind in type(error).__mro__}
    if ("urllib", "URLError") in kinds:  # a status, a wrong address and a missing file are URLErrors, too
        reason: object = getattr(error, "reason", None)
        return isinstance(reason, BaseException) and is_outage(reason)
    return not _FAILED_CONNECTIONS.isdisjoint(kinds)


def _command(question: Question) -> str:
    """The command that asks the model for the test of the question."""
    asker = question.asker
    return f'pytest {question.source.named.option}={_quoted(question.model)}{asker.options} "{asker.again}"'


def _quoted(model: Model) -> str:
    """The model on a command line, without its options, which may hold a key."""
    return f'"{model.id}?…"' if model.options else model.id
