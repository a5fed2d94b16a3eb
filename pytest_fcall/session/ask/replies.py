"""Replies to questions: recorded ones first, then from the model if it may be asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING

from pytest_fcall.session.ask.app_proxy import AppProxy, recorded_for_other_case
from pytest_fcall.session.ask.costs import SpendingLimit
from pytest_fcall.session.ask.no_reply import NoReplies
from pytest_fcall.session.ask.recordings import SessionRecordings
from pytest_fcall.session.ask.sources import Sources
from pytest_fcall.session.ask.transport import ReceivedReply, Transport, result_of
from pytest_fcall.session.ask.types import Answer, AppTrace, Asker, Conversation, Question, Source, oldest_and_newest
from pytest_fcall.session.ask.volatile import VolatileNotes
from pytest_fcall.session.endings import CaseEnded, CaseError

if TYPE_CHECKING:
    from concurrent.futures import Future
    from contextlib import AbstractContextManager

    from pytest_fcall.backends.dispatch.job import DispatchProgress
    from pytest_fcall.backends.recordings.volatile import LeftOut
    from pytest_fcall.core.backend import Backend
    from pytest_fcall.core.extension import Decoder
    from pytest_fcall.core.reply import Reply
    from pytest_fcall.core.request import Request
    from pytest_fcall.reporting.results import Way
    from pytest_fcall.session.ask.active_run import ActiveRun
    from pytest_fcall.session.ask.conversation import ConversationRunner, RecordedResults
    from pytest_fcall.session.ask.open_requests import OpenRequests
    from pytest_fcall.session.ask.proxy_endpoint import ProxyEndpoint
    from pytest_fcall.session.ask.transport import ProgressDisplayFactory
    from pytest_fcall.session.extensions import Registry
    from pytest_fcall.session.models import NamedModel
    from pytest_fcall.session.settings import Settings


class Replies:
    """Answers the questions of a session: holds its models, its recordings, and the requests under way."""

    def __init__(
        self,
        settings: Settings,
        registry: Registry,
        new_display: ProgressDisplayFactory,
        endpoint: ProxyEndpoint | None,
    ) -> None:
        self._settings = settings
        self._registry = registry
        self._recordings = SessionRecordings(settings)
        self._spending = SpendingLimit(settings, self._recordings)
        proxy = AppProxy(settings, self._recordings, self._spending, endpoint)
        self._variables = proxy.variables
        self._sources = Sources(settings, registry, self._spending, self._variables)
        self._transport = Transport(settings, self._recordings, proxy, new_display)
        self.no_replies = NoReplies(self._recordings, settings)
        self._runner: ConversationRunner | None = None
        self.test_remarks: dict[str, str] = {}
        """Remarks on plain tests that passed, by their node ids."""
        self._volatile = VolatileNotes()
        self._ahead: dict[tuple[str, str, int], Future[Answer]] = {}
        """Conversations that no test has taken yet."""
        self.open_requests: OpenRequests | None = None
        """The list that takes the requests that would be sent, so that nobody is asked; None where they are sent."""

    @property
    def decoders(self) -> Mapping[str, Decoder]:
        """The decoders that other packages add."""
        return self._registry.decoders

    def source(self, named: NamedModel) -> Source:
        """The source of a model. Raises CaseError where its settings cannot be used."""
        return self._sources.of(named)

    def backend(self, source: Source) -> Backend:
        """The backend of a source. Raises CaseError where there is none."""
        return self._sources.backend(source)

    def would_ask(self, question: Question) -> bool:
        """Whether the model, or the app, is needed for the answer, as no recorded reply stands for it."""
        return self._may_run(question) and self._recorded(question) is None

    def answer(self, question: Question) -> Answer:
        """Answer a question. Raises CaseEnded where there is no reply.

        An exception of the team's own code is raised as it is, with its own frames only.
        """
        __tracebackhide__ = True
        self._volatile.note(question)
        if recorded := self._take(question):
            return recorded
        backend = self._live_backend(question)
        try:
            return self._answer(self._transport.ask(backend, question))
        except (Exception, SystemExit, CancelledError) as error:
            self.no_replies.failed(question, error)

    async def answer_async(self, question: Question) -> Answer:
        """Do what `answer` does, in the event loop of an async test."""
        __tracebackhide__ = True
        self._volatile.note(question)
        if recorded := self._take(question):
            return recorded
        backend = self._live_backend(question)
        try:
            return self._answer(await self._transport.ask_async(backend, question))
        except (Exception, SystemExit) as error:
            self.no_replies.failed(question, error)

    def converse(self, conversation: Conversation) -> Answer:
        """Hold a conversation, or take the one that is under way. Raises as `answer` does."""
        __tracebackhide__ = True
        future = self._ahead.pop(conversation.key, None)
        try:
            if future is not None:
                return self._transport.wait(future)
            return self._transport.run_here(self._conversations().hold(conversation))
        except (Exception, SystemExit, CancelledError) as error:
            self.no_replies.failed(conversation.question, error)

    def ask_ahead(self, questions: Iterable[Question]) -> list[Future[Reply]]:
        """Ask for replies that tests will want, where models may be asked. Failures wait for the tests."""
        live = [each for each in questions if self._may_be_asked(each.source)]
        self._recordings.look_up([question.digest for question in live])
        wanted = {
            question.digest: (backend, question)
            for question in live
            if (backend := question.source.backend)
            and not self._transport.is_under_way(question.digest)
            and not self._recorded(question)
        }
        if self.open_requests is not None:
            for _, question in wanted.values():
                self.open_requests.add(question)
            return []
        if not (wanted and self._can_record()):  # the tests say why
            return []
        return [self._transport.ask_ahead(backend, question) for backend, question in wanted.values()]

    def converse_ahead(self, conversations: Iterable[Conversation]) -> list[Future[Answer]]:
        """Hold conversations that tests will want, where their model may be asked."""
        live = [each for each in conversations if self._may_be_asked(each.source) and each.source.backend]
        for each in live:
            if each.key not in self._ahead:
                self._ahead[each.key] = self._held_ahead(each)
        return [self._ahead[each.key] for each in live]

    def _held_ahead(self, conversation: Conversation) -> Future[Answer]:
        """A conversation that is held meanwhile; as far as recordings reach, where nobody is asked."""
        if self.open_requests is None:
            return self._transport.start(self._conversations().hold(conversation))
        from concurrent.futures import Future

        future = Future[Answer]()
        try:
            future.set_result(self._transport.run_here(self._conversations().hold(conversation)))
        except (Exception, CaseEnded) as end:
            future.set_exception(end)
        return future

    def finished_answer(self, wanted: Question | Conversation) -> Answer | None:
        """The answer that a test will get, if it is there already."""
        if isinstance(wanted, Conversation):
            held = self._ahead.get(wanted.key)
            return result_of(held) if held else None
        if self._transport.is_under_way(wanted.digest):
            reply = self._transport.finished_reply(wanted.digest)
            return Answer(reply) if reply else None
        return self._recorded(wanted)

    def is_pending(self, wanted: Question | Conversation) -> bool:
        """Whether it was asked for ahead and is not there yet."""
        if isinstance(wanted, Conversation):
            return wanted.key in self._ahead and not self._ahead[wanted.key].done()
        return self._transport.is_pending(wanted.digest)

    def is_asked(self, source: Source) -> bool:
        """Whether a model is asked for what is not recorded."""
        return source.named.live and not self._settings.replay and source.id not in self.no_replies.unavailable

    def is_recorded(self, question: Question) -> bool:
        """Whether a recorded reply would answer, so that no model is asked."""
        return self._recorded(question) is not None

    @property
    def replays(self) -> bool:
        """Whether recordings alone answer."""
        return self._settings.replay

    def recorded_requests(self, question: Question) -> Sequence[Request]:
        """The requests that are recorded for the case of the question, whatever they ask."""
        return [entry.request for entry in self._recordings.of_case(question)]

    def recorded_system_prompts(self, question: Question) -> Mapping[str, str]:
        """The system prompts that are recorded for the model and the file of the question, by their digests."""
        return self._recordings.system_prompts(question)

    def is_known_to_ask(self, source: Source, asker: Asker) -> bool:
        """Whether an app has asked models, in this run or when something was recorded."""
        return self._transport.is_known_to_ask(source, asker)

    def collect_exchanges(self, question: Question) -> AbstractContextManager[ActiveRun | None]:
        """Let what an app in this process sends to models meanwhile belong to this question."""
        return self._transport.collect_exchanges(question)

    def note_trace(self, question: Question, trace: AppTrace) -> None:
        """Note what is to be told of an app under a plain test. Raises CaseError if the settings want to see more."""
        inside, test = self._settings.inside, question.asker.nodeid
        if trace.way == "unseen" and inside == "required":
            raise CaseError("the app sent no request through the proxy, and fc_inside = required")
        if trace.way == "unseen" and inside != "ignore" and self._transport.has_recordings_inside(question):
            self.test_remarks[test] = (
                "its app sent no request through the proxy, though requests are recorded for this test: a client that "
                "was made when a module was imported goes there with fc_proxy = always"
            )
        if trace.detours:
            self.test_remarks[test] = f"its app went around the proxy to {'; '.join(trace.detours)}"

    def let_variables_stay(self, *, stay: bool) -> None:
        """Whether the variables that lead apps to the proxy stay set behind an app: in plain tests they do not."""
        self._variables.stay(stays=stay)

    def results(self, conversation: Conversation) -> RecordedResults:
        """The recorded results of the calls of a conversation; servers may be asked where the model may."""
        return self._results(conversation, offline=self._settings.replay or not conversation.source.named.live)

    def recorded_results(self, conversation: Conversation) -> RecordedResults:
        """The same where no server may be asked, however new a reply of the model must be."""
        return self._results(conversation, offline=True)

    def expect(self, requests: int) -> None:
        """Note the number of requests to come, for those who want to know how long it will take."""
        self._transport.expected = requests

    def notes(self) -> list[str]:
        """Sentences on limits that cannot be kept to by all workers together, on damaged recordings and weak walls."""
        conversations = self._runner.notes if self._runner else ()
        return [*self._transport.notes(), *self._recordings.notes(), *conversations]

    def strays(self) -> Mapping[tuple[str, bool], int]:
        """Requests of apps that are part of no verdict: see `AppRun.strays`."""
        return self._transport.strays()

    def take_spans(self) -> None:
        """Take the spans of apps from now on, where the settings have nothing against it."""
        self._transport.take_spans()

    def span_strays(self) -> Mapping[tuple[str, str], int]:
        """Spans of apps that are part of no verdict: see `SpanInbox.strays`."""
        return self._transport.span_strays()

    def unpriced(self, nodeid: str) -> int:
        """The number of requests of a test that may be billed although there was no reply."""
        return self._transport.unpriced(nodeid)

    def remarks(self, nodeid: str) -> tuple[tuple[str, str], ...]:
        """Remarks on requests of a test and of its app: a kind, and what it is about."""
        return *self._volatile.remarks(nodeid), *self._transport.remarks(nodeid)

    def left_out(self, nodeid: str) -> LeftOut:
        """The parts left out of the keys of requests of a test and of its app."""
        return tuple(dict.fromkeys((*self._volatile.left_out(nodeid), *self._transport.left_out(nodeid))))

    def progress(self) -> DispatchProgress | None:
        """The progress of this process's requests; None where none was sent."""
        return self._transport.progress()

    def throughputs(self) -> dict[str, tuple[int, str]]:
        """Speed of each model that runs on this machine, and the number of requests that it was measured on."""
        return self._sources.throughputs()

    def cancel(self) -> None:
        """Give up what is under way, and ask for nothing more."""
        self._transport.cancel()

    def close(self) -> None:
        """End all that runs, and write what is still to be recorded."""
        self._transport.close(self._sources.apps())
        self._recordings.close()
        self._spending.close()

    def _conversations(self) -> ConversationRunner:
        if self._runner is None:
            from pytest_fcall.session.ask.conversation import ConversationRunner, EarlierConversations

            self._runner = ConversationRunner(
                self._settings.root,
                self._settings.environments,
                self._registry,
                self,
                self.no_replies,
                EarlierConversations(self.no_replies),
            )
        return self._runner

    def _results(self, conversation: Conversation, *, offline: bool) -> RecordedResults:
        from pytest_fcall.session.ask.conversation import RecordedResults

        return RecordedResults(self._recordings, conversation.question, offline=offline)

    def _may_be_asked(self, source: Source) -> bool:
        return self.is_asked(source) and not source.is_app

    def _can_record(self) -> bool:
        """Whether replies can be recorded, or need not be."""
        from pytest_fcall.backends.store import StoreError

        try:
            self._recordings.check()
        except StoreError:
            return False
        return True

    def _recorded(self, question: Question) -> Answer | None:
        source, replay = question.source, self._settings.replay
        if self._transport.is_under_way(question.digest) or not (source.replayable or replay):
            return None
        if self._transport.runs_offline(question):
            return None
        live = source.named.live and not replay
        found = self._recordings.find(question, live=live, request=question.request)
        if found is None:
            return None
        exchanges = () if source.asks_models else None
        way: Way = "stored" if source.asks_models else ""
        if (moment := found.timestamp) >= self._recordings.started:
            return Answer(found.reply, exchanges=exchanges, way=way)
        moment = self._recordings.on_this_host(moment)
        return Answer(found.reply, asked=False, reused=(moment, moment), exchanges=exchanges, way=way)

    def _take(self, question: Question) -> Answer | None:
        """The recorded reply that answers, which is marked as used.

        That of an app does not count where the app's own requests are recorded for another case.
        """
        recorded = self._recorded(question)
        if recorded is None:
            return None
        if question.source.asks_models and (other := recorded_for_other_case(self._recordings, question)):
            self.no_replies.recorded_for_other_case(question, *other)
        self._recordings.mark_used(question)
        return recorded

    def _answer(self, received: ReceivedReply) -> Answer:
        """The answer; it counts as asked unless recordings answered all requests that an app sent."""
        trace = received.trace
        if trace is None:
            return Answer(received.reply, asked=not self._settings.replay)
        exchanges, way, detours = trace.exchanges, trace.way, trace.detours
        if not exchanges:
            return Answer(received.reply, not self._settings.replay, exchanges=(), way=way, detours=detours)
        started = self._recordings.started
        moments = [exchange.recorded for exchange in exchanges]
        known = [moment for moment in moments if moment is not None and moment < started]
        return Answer(
            received.reply,
            asked=len(known) < len(moments),
            reused=oldest_and_newest(map(self._recordings.on_this_host, known)),
            exchanges=exchanges,
            way=way,
            detours=detours,
        )

    def _may_run(self, question: Question) -> bool:
        """Whether the model may be asked, or is an app that may run on recordings of its own models.

        Where nothing is asked, an app in this process runs all the same: it is the code under test, and its requests
        end at the proxy. So does one that the run starts, where requests of it are recorded: without any it may be one
        that asks nobody by way of the proxy.
        """
        source = question.source
        if self._settings.replay:
            return self._transport.runs_offline(question)
        if source.named.live:
            return True
        if not self._settings.proxy:
            return False
        return source.is_app or (source.is_started_here and self._transport.runs_offline(question))

    def _live_backend(self, question: Question) -> Backend:
        source = question.source
        if not self._may_run(question):
            self.no_replies.not_recorded(question)
        if self.open_requests is not None:
            self.open_requests.end_with(question)
        backend = self._sources.backend(source)
        # What was asked ahead may have been answered before the model could not be asked any more.
        if not self._transport.is_under_way(question.digest) and (reason := self.no_replies.unavailable.get(source.id)):
            self.no_replies.model_unavailable(question, reason)
        return backend
