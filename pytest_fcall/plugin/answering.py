"""Getting replies: those that are kept first, then from the model if it may be asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

import pytest

from pytest_fcall.core import Backend, CaseRefused, Inner, ModelUnavailable, Reply, Transcript, Unanswered
from pytest_fcall.core.extension import Decoder
from pytest_fcall.plugin.conversing import Conversation, Conversing
from pytest_fcall.plugin.extensions import registry
from pytest_fcall.plugin.kept import Kept
from pytest_fcall.plugin.models import NamedModel
from pytest_fcall.plugin.options import options
from pytest_fcall.plugin.outages import is_outage
from pytest_fcall.plugin.proxying import NotRecorded
from pytest_fcall.plugin.sending import Heard, Sending, result_of
from pytest_fcall.plugin.sources import Question, Source, Sources
from pytest_fcall.plugin.words import fail, without_our_frames

if TYPE_CHECKING:
    from concurrent.futures import Future

    from pytest_fcall.plugin.results import KeptResults


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply, and when it was recorded if that was not now, in seconds since 1970."""

    reply: Reply
    """Of a conversation, the last one."""
    recorded: float | None = None
    transcript: Transcript | None = None
    inside: tuple[Inner, ...] | None = None
    """What an app asked of models on the way to it; None where that is not known, or it was no app."""

    @property
    def replies(self) -> Sequence[Reply]:
        """All that the model said."""
        return [step.reply for step in self.transcript.steps] if self.transcript else [self.reply]


class Answering:
    """What outlives a single question: models, kept replies and who asks for new ones."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._options = options(config)
        self._kept = Kept(config.rootpath, self._options)
        self._sources = Sources(config, self._kept)
        self._sending = Sending(config, self._kept)
        self._unavailable: dict[str, str] = {}
        self._told: set[str] = set()
        """Why models are unavailable, where that is an error already."""
        self._held_ahead: dict[tuple[str, int], Future[Answer]] = {}
        """Conversations that no test has taken yet."""
        self.missing: set[str] = set()
        """Node ids of the tests that no recording could answer."""
        self.unanswered: set[str] = set()
        """Node ids of the tests that a server, the network or the model's entry left without a reply."""
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
        if recorded := self._recorded(question):
            self._kept.used(question)
            return recorded
        backend = self._live(question)
        try:
            return self._answer(self._sending.ask(backend, question))
        except (Exception, SystemExit, CancelledError) as error:
            self._fail(question, error)

    async def answer_async(self, question: Question) -> Answer:
        """Do what `answer` does, in the event loop of an async test."""
        __tracebackhide__ = True
        if recorded := self._recorded(question):
            self._kept.used(question)
            return recorded
        backend = self._live(question)
        try:
            return self._answer(await self._sending.ask_async(backend, question))
        except (Exception, SystemExit) as error:
            self._fail(question, error)

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
            return self._sending.work(Conversing(self._config, self).hold(conversation))
        except CancelledError as error:
            self._fail(Question.of(*conversation[1:]), error)

    def results(self, conversation: Conversation) -> KeptResults:
        """Where what servers say to the calls of a conversation is kept; they may be asked where the model may."""
        from pytest_fcall.plugin.results import KeptResults

        offline = self._options.replay or not conversation.source.named.live
        return KeptResults(self._kept, Question.of(*conversation[1:]), offline=offline)

    def no_result(self, conversation: Conversation, reason: str) -> NoReturn:
        """End the test since no server may be asked what a call comes to, as where a reply is missing."""
        __tracebackhide__ = True
        self.missing.add(conversation.asker.nodeid)
        text = f"{reason}; {_how_to_ask(Question.of(*conversation[1:]))}"
        if self._options.replay:
            fail(text)
        pytest.skip(text)

    def converse_ahead(self, conversations: Iterable[Conversation]) -> list[Future[Answer]]:
        """Hold conversations that tests will want, where their model may be asked."""
        live = [each for each in conversations if self._may_be_asked(each.source) and each.source.backend]
        for each in live:
            if each.key not in self._held_ahead:
                self._held_ahead[each.key] = self._sending.start(Conversing(self._config, self).hold(each))
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
        return asked_here and source.named.model.id not in self._unavailable

    def _recorded(self, question: Question) -> Answer | None:
        source = question.source
        if self._sending.is_under_way(question.digest) or not (source.replayable or self._options.replay):
            return None
        if self._sending.runs_offline(question):
            return None
        found = self._kept.find(question, live=source.named.live and not self._options.replay)
        if found is None:
            return None
        moment = found.moment if found.moment < self._kept.started else None
        return Answer(found.reply, moment, inside=() if source.asks_models else None)

    def _answer(self, heard: Heard) -> Answer:
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
            self._no_recording(question)
        backend = self.backend(source)
        # What was asked ahead may have been answered before the model could not be asked any more.
        if not self._sending.is_under_way(question.digest) and (reason := self._unavailable.get(model.id)):
            self._lacking(question, reason)
        return backend

    def _no_recording(self, question: Question) -> NoReturn:
        """Skip, since plain `pytest` asks nobody; under --fc-replay a missing reply is an error."""
        from pytest_fcall.backends.explain import explain_missing

        __tracebackhide__ = True
        self.missing.add(question.asker.nodeid)
        lines = [
            f"no recorded reply of {question.model.id}; {_how_to_ask(question)}",
            explain_missing(question.request, self._kept.nearest(question)),
        ]
        if damage := self._kept.damage(question):
            lines.append(f"{len(damage)} damaged lines: {damage[0]}")
        text = "\n".join(lines)
        if self._options.replay:
            fail(text)
        pytest.skip(text)

    def _command(self, question: Question) -> str:
        """What to type to ask it."""
        model = question.model
        named = f'"{model.id}?…"' if model.options else model.id  # what stands there may hold a key
        return f'pytest --fc-model={named} "{question.asker.again}"'

    def _fail(self, question: Question, error: BaseException) -> NoReturn:
        """End the test: what we found ourselves is one line, anything else is shown as it was raised."""
        from pytest_fcall.backends.answers import AnswerError
        from pytest_fcall.backends.store import StoreError

        __tracebackhide__ = True
        if isinstance(error, Unanswered | CancelledError) or is_outage(error):
            self.unanswered.add(question.asker.nodeid)
        name = f"{question.model.id}: "
        text = name + str(error).removeprefix(name)  # back ends may have named their model already
        if isinstance(error, ModelUnavailable | StoreError):  # what cannot be kept would be paid for in vain
            self._lacking(question, text)
        if isinstance(error, NotRecorded):
            self.missing.add(question.asker.nodeid)
            fail(f"{text}\nrecord it: {self._command(question)}")
        if isinstance(error, AnswerError | CaseRefused | Unanswered):
            fail(text)
        raise without_our_frames(error)

    def _lacking(self, question: Question, reason: str) -> NoReturn:
        """End the test since nobody can be asked: one error for a model, the others are skipped.

        Where it is the team's own app that cannot be found, all are errors.
        """
        __tracebackhide__ = True
        first = self._unavailable.setdefault(question.model.id, reason)
        if question.source.is_app:
            fail(first)
        self.unanswered.add(question.asker.nodeid)
        if first not in self._told:
            self._told.add(first)
            fail(first)
        pytest.skip(f"nothing more is asked: {first}")

    def _close(self) -> None:
        self._sending.close(self._sources.apps())
        self._kept.close()


def _how_to_ask(question: Question) -> str:
    model, option = question.model, question.source.named.option
    named = f'"{model.id}?…"' if model.options else model.id  # what stands there may hold a key
    return f'ask it: pytest {option}={named} "{question.asker.again}"'


ANSWERING = pytest.StashKey[Answering]()


def answering(config: pytest.Config) -> Answering:
    """The session's one Answering."""
    if ANSWERING not in config.stash:
        config.stash[ANSWERING] = Answering(config)
    return config.stash[ANSWERING]
