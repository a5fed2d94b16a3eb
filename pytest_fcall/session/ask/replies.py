"""Getting replies: those that are kept first, then from the model if it may be asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from pytest_fcall.core import AppExchange, Backend, Reply, Transcript
from pytest_fcall.core.extension import Decoder
from pytest_fcall.plugin.models import NamedModel
from pytest_fcall.plugin.options import options
from pytest_fcall.session.ask.app_proxy import recorded_for_another
from pytest_fcall.session.ask.conversation import Conversation, ConversationRunner, EarlierConversations
from pytest_fcall.session.ask.no_reply import MissingReplies
from pytest_fcall.session.ask.recordings import SessionRecordings
from pytest_fcall.session.ask.source import Question, Source, Sources
from pytest_fcall.session.ask.transport import Received, Transport, result_of
from pytest_fcall.session.extensions import registry
from pytest_fcall.session.outcomes import fail

if TYPE_CHECKING:
    from concurrent.futures import Future
    from contextlib import AbstractContextManager

    from pytest_fcall.session.ask.tool_results import KeptResults


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply, and when it was recorded if that was not now, in seconds since 1970."""

    reply: Reply
    """Of a conversation, the last one."""
    recorded: float | None = None
    transcript: Transcript | None = None
    inside: tuple[AppExchange, ...] | None = None
    """What an app asked of models on the way to it; None where that is not known, or it was no app."""
    before: Sequence[Reply] = ()
    """What the model said in earlier conversations, where they were held for this one."""

    @property
    def replies(self) -> Sequence[Reply]:
        """All that the model said."""
        return [step.reply for step in self.transcript.steps] if self.transcript else [self.reply]


class Replies:
    """What outlives a single question: models, kept replies and who asks for new ones."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._options = options(config)
        self._kept = SessionRecordings(config.rootpath, self._options)
        self._sources = Sources(config, self._kept)
        self._sending = Transport(config, self._kept)
        self.lacking = MissingReplies(self._kept, self._options.replay)
        self.earlier = EarlierConversations(self.lacking)
        self._held_ahead: dict[tuple[str, int], Future[Answer]] = {}
        """Conversations that no test has taken yet."""
        config.add_cleanup(self._close)

    def source(self, named: NamedModel) -> Source:
        """The source of a model that the command line, the configuration or a fixture names."""
        return self._sources.of(named)

    def backend(self, source: Source) -> Backend:
        """The back end of a source, which a kind of model that nothing here can ask does not have."""
        __tracebackhide__ = True
        if source.backend is None:
            model, known = source.named.model, ", ".join(sorted(registry(self._config).backends))
            fail(f"{model.id}: nothing here can ask a model of kind {model.kind!r}; installed are: {known}")
        return source.backend

    @property
    def decoders(self) -> Mapping[str, Decoder]:
        """The decoders that plugins add."""
        return registry(self._config).decoders

    def answer(self, question: Question) -> Answer:
        """Answer a question, or end the test with a sentence that says why there is no reply.

        What the team's own code raises is raised as it is, with its own frames only.
        """
        __tracebackhide__ = True
        if recorded := self._taken(question):
            return recorded
        backend = self._live(question)
        try:
            return self._answer(self._sending.ask(backend, question))
        except (Exception, SystemExit, CancelledError) as error:
            self.lacking.failed(question, error)

    async def answer_async(self, question: Question) -> Answer:
        """Do what `answer` does, in the event loop of an async test."""
        __tracebackhide__ = True
        if recorded := self._taken(question):
            return recorded
        backend = self._live(question)
        try:
            return self._answer(await self._sending.ask_async(backend, question))
        except (Exception, SystemExit) as error:
            self.lacking.failed(question, error)

    def ask_ahead(self, questions: Iterable[Question]) -> list[Future[Reply]]:
        """Ask for what tests will want, where there is something to ask. Failures wait for the tests."""
        live = [each for each in questions if self._may_be_asked(each.source)]
        self._kept.look_up([question.digest for question in live])
        return [
            self._sending.ahead(backend, question)
            for question in live
            if (backend := question.source.backend)
            and not self._sending.is_under_way(question.digest)
            and not self._recorded(question)
        ]

    def converse(self, conversation: Conversation) -> Answer:
        """Hold a conversation, or take the one that is under way; the test ends in words as it does with `answer`."""
        __tracebackhide__ = True
        future = self._held_ahead.pop(conversation.key, None)
        try:
            if future is not None:
                return self._sending.wait(future)
            return self._sending.work(ConversationRunner(self._config, self).hold(conversation))
        except (Exception, SystemExit, CancelledError) as error:
            self.lacking.failed(Question.of(*conversation[1:]), error)

    def overhear(self, question: Question) -> AbstractContextManager[Sequence[AppExchange] | None]:
        """Have what an app in this process asks meanwhile belong to this question; see `Proxying.here`."""
        return self._sending.overhear(question)

    def results(self, conversation: Conversation) -> KeptResults:
        """Where what servers say to the calls of a conversation is kept; they may be asked where the model may."""
        return self._results(conversation, offline=self._options.replay or not conversation.source.named.live)

    def recorded_results(self, conversation: Conversation) -> KeptResults:
        """The same where nobody can be asked, however new a reply of the model must be."""
        return self._results(conversation, offline=True)

    def _results(self, conversation: Conversation, *, offline: bool) -> KeptResults:
        from pytest_fcall.session.ask.tool_results import KeptResults

        return KeptResults(self._kept, Question.of(*conversation[1:]), offline=offline)

    def converse_ahead(self, conversations: Iterable[Conversation]) -> list[Future[Answer]]:
        """Hold conversations that tests will want, where their model may be asked."""
        live = [each for each in conversations if self._may_be_asked(each.source) and each.source.backend]
        for each in live:
            if each.key not in self._held_ahead:
                self._held_ahead[each.key] = self._sending.start(ConversationRunner(self._config, self).hold(each))
        return [self._held_ahead[each.key] for each in live]

    def arrived(self, wanted: Question | Conversation) -> Answer | None:
        """What a test will get, if that is there before it asks."""
        if isinstance(wanted, Conversation):
            held = self._held_ahead.get(wanted.key)
            return result_of(held) if held else None
        if self._sending.is_under_way(wanted.digest):
            reply = self._sending.arrived(wanted.digest)
            return Answer(reply) if reply else None
        return self._recorded(wanted)

    def is_awaited(self, wanted: Question | Conversation) -> bool:
        """Whether it was asked for ahead and is not there yet."""
        if isinstance(wanted, Conversation):
            return wanted.key in self._held_ahead and not self._held_ahead[wanted.key].done()
        return self._sending.is_awaited(wanted.digest)

    def expect(self, requests: int) -> None:
        """Know how many requests are to come, for those who want to know how long it will take."""
        self._sending.expected = requests

    def is_recorded(self, question: Question) -> bool:
        """Whether a kept reply would answer, so that nobody is asked."""
        return self._recorded(question) is not None

    def notes(self) -> list[str]:
        """What people should know about limits that cannot be kept to together, and replies that cannot be read."""
        return [*self._sending.notes(), *self._kept.notes()]

    def figures(self) -> dict[str, tuple[int, str]]:
        """How fast each model that works here has answered, with how many requests that is known from."""
        return self._sources.figures()

    def cancel(self) -> None:
        """Ask for nothing more; what is under way is given up."""
        self._sending.cancel()

    def _may_be_asked(self, source: Source) -> bool:
        asked_here = source.named.live and not source.is_app and not self._options.replay
        return asked_here and source.named.model.id not in self.lacking.unavailable

    def _recorded(self, question: Question) -> Answer | None:
        source = question.source
        if self._sending.is_under_way(question.digest) or not (source.replayable or self._options.replay):
            return None
        if self._sending.runs_offline(question):
            return None
        live = source.named.live and not self._options.replay
        found = self._kept.find(question, live=live, request=question.request)
        if found is None:
            return None
        moment = found.timestamp if found.timestamp < self._kept.started else None
        return Answer(found.reply, moment, inside=() if source.asks_models else None)

    def _taken(self, question: Question) -> Answer | None:
        """The kept reply that answers, which is noted as used.

        That of an app counts for nothing where it is of another case, for which the app asked models.
        """
        __tracebackhide__ = True
        recorded = self._recorded(question)
        if recorded is None:
            return None
        if question.source.asks_models and (other := recorded_for_another(self._kept, question)):
            self.lacking.of_another_case(question, *other)
        self._kept.used(question)
        return recorded

    def _answer(self, heard: Received) -> Answer:
        """The answer of whom was asked; it is a recorded one where an app that asks models had all from recordings."""
        moments = [inner.recorded for inner in heard.inside or ()]
        known = [moment for moment in moments if moment is not None and moment < self._kept.started]
        recorded = min(known) if known and len(known) == len(moments) else None
        return Answer(heard.reply, recorded, inside=heard.inside)

    def _live(self, question: Question) -> Backend:
        __tracebackhide__ = True
        source, model = question.source, question.model
        replayed = self._options.replay and not self._sending.runs_offline(question)
        if replayed or not (source.named.live or self._options.replay):
            self.lacking.no_recording(question)
        backend = self.backend(source)
        # What was asked ahead may have been answered before the model could not be asked any more.
        if not self._sending.is_under_way(question.digest) and (reason := self.lacking.unavailable.get(model.id)):
            self.lacking.nobody(question, reason)
        return backend

    def _close(self) -> None:
        self._sending.close(self._sources.apps())
        self._kept.close()


REPLIES = pytest.StashKey[Replies]()


def replies(config: pytest.Config) -> Replies:
    """The session's one Answering."""
    if REPLIES not in config.stash:
        config.stash[REPLIES] = Replies(config)
    return config.stash[REPLIES]
