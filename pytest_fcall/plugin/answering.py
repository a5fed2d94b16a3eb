"""Getting replies: those that are kept first, then from the model if it may be asked."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest

from pytest_fcall.core import Backend, CaseRefused, Json, ModelUnavailable, Reply, Request, Unanswered, request_digest
from pytest_fcall.core.extension import Decoder
from pytest_fcall.plugin.costs import metered
from pytest_fcall.plugin.extensions import registry
from pytest_fcall.plugin.kept import Kept
from pytest_fcall.plugin.models import NamedModel
from pytest_fcall.plugin.options import options
from pytest_fcall.plugin.outages import is_outage
from pytest_fcall.plugin.words import fail, without_our_frames

if TYPE_CHECKING:
    from asyncio import Runner
    from concurrent.futures import Future

    from pytest_fcall.backends.dispatch import Dispatcher, Job
    from pytest_fcall.plugin.live import LiveLine


@dataclass(frozen=True, slots=True)
class Asker:
    """The test that asks: its recordings lie beside its file, and messages name it."""

    file: Path
    case: str
    nodeid: str
    again: str
    """What to type to run it again where one model is named."""


@dataclass(frozen=True, slots=True)
class Source:
    """One model, ready to be asked. Without a back end of its kind, recordings may still answer for it."""

    named: NamedModel
    backend: Backend | None

    @property
    def settings(self) -> Mapping[str, Json]:
        """What is sent along with every request, and is part of it."""
        return self.backend.settings if self.backend else {}

    @property
    def replayable(self) -> bool:
        """Whether a recorded reply may stand for a new one without being told to."""
        return self.backend is None or self.backend.reusable


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply, and when it was recorded if that was not now, in seconds since 1970."""

    reply: Reply
    recorded: float | None = None


class Answering:
    """What outlives a single question: back ends, kept replies and who asks for new ones."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._options = options(config)
        self._kept = Kept(config.rootpath, self._options)
        self._sources: dict[tuple[str, bool], Source] = {}
        self._unavailable: dict[str, str] = {}
        self._askers: dict[str, tuple[Source, Asker]] = {}
        self._ahead: dict[str, Future[Reply]] = {}
        """What was asked for ahead of the tests that want it."""
        self._dispatcher: Dispatcher | None = None
        self._line: LiveLine | None = None
        self.expected = 0
        """How many requests are to come, as far as that is known."""
        self._runner: Runner | None = None
        self.missing: set[str] = set()
        """Node ids of the tests that no recording could answer."""
        self.unanswered: set[str] = set()
        """Node ids of the tests that a server, the network or the model's entry left without a reply."""
        config.add_cleanup(self._close)

    def source(self, named: NamedModel) -> Source:
        """The source of a model that the command line, the configuration or a fixture names."""
        key = named.model.id, named.live
        if key not in self._sources:
            self._sources[key] = Source(named, self._backend(named))
        return self._sources[key]

    @property
    def decoders(self) -> Mapping[str, Decoder]:
        """The decoders that plugins add."""
        return registry(self._config).decoders

    def answer(self, source: Source, request: Request, asker: Asker) -> Answer:
        """Answer a request, or end the test with a sentence that says why there is no reply.

        What the team's own code raises is raised as it is, with its own frames only.
        """
        __tracebackhide__ = True
        digest = request_digest(source.named.model.id, request)
        if digest not in self._ahead and (recorded := self._recorded(source, digest, asker)):
            return recorded
        backend = self._live(source, request, asker)
        try:
            if backend.ahead:
                return Answer(self._wait(self._submitted(source, backend, request, digest, asker)))
            reply = self._run(backend, request)
            self._keep(source, asker, digest, request, reply)
        except (Exception, SystemExit, CancelledError) as error:
            self._fail(source, asker, error)
        return Answer(reply)

    async def answer_async(self, source: Source, request: Request, asker: Asker) -> Answer:
        """Do what `answer` does, in the event loop of an async test."""
        __tracebackhide__ = True
        digest = request_digest(source.named.model.id, request)
        if digest not in self._ahead and (recorded := self._recorded(source, digest, asker)):
            return recorded
        backend = self._live(source, request, asker)
        try:
            if backend.ahead:
                from asyncio import wrap_future

                return Answer(await wrap_future(self._submitted(source, backend, request, digest, asker)))
            reply = await backend.complete(request)
            self._keep(source, asker, digest, request, reply)
        except (Exception, SystemExit) as error:
            self._fail(source, asker, error)
        return Answer(reply)

    def ask_ahead(self, source: Source, request: Request, asker: Asker) -> Future[Reply] | None:
        """Ask for what a test will want; None where there is nothing to ask. Failures wait for the test."""
        backend = source.backend
        if backend is None or not backend.ahead or not source.named.live or self._options.replay:
            return None
        digest = request_digest(source.named.model.id, request)
        if digest in self._ahead or self._recorded(source, digest, asker):
            return None
        future = self._submitted(source, backend, request, digest, asker)
        self._ahead[digest] = future
        return future

    def is_recorded(self, source: Source, request: Request, asker: Asker) -> bool:
        """Whether a kept reply would answer, so that nobody is asked."""
        return self._recorded(source, request_digest(source.named.model.id, request), asker) is not None

    def cancel(self) -> None:
        """Ask for nothing more; what is under way is given up."""
        if self._dispatcher is not None:
            self._dispatcher.cancel_all()

    def _backend(self, named: NamedModel) -> Backend | None:
        make = registry(self._config).backends.get(named.model.kind)
        try:
            if make is None:
                return None
            return self._once(named, metered(self._config, named, make(named.model, self._config.rootpath)))
        except ModelUnavailable as unavailable:
            fail(str(unavailable))

    def _once(self, named: NamedModel, backend: Backend) -> Backend:
        """Let one worker of several ask for each reply: what one has begun another may be dealt later."""
        worker: str | None = getattr(self._config, "workerinput", {}).get("workerid")
        if worker is None or not backend.ahead or not named.live or self._options.record == "off":
            return backend
        from pytest_fcall.backends.claimed import Claimed

        return Claimed(backend, named.model.id, self._kept.store, self._kept.counts, worker)

    def _recorded(self, source: Source, digest: str, asker: Asker) -> Answer | None:
        if not (source.replayable or self._options.replay):
            return None
        live = source.named.live and not self._options.replay
        found = self._kept.find(source.named.model, asker.file, asker.case, digest, live=live)
        if found is None:
            return None
        return Answer(found.reply, found.moment if found.moment < self._kept.started else None)

    def _live(self, source: Source, request: Request, asker: Asker) -> Backend:
        __tracebackhide__ = True
        named = source.named
        if self._options.replay or not named.live:
            self._no_recording(source, request, asker)
        if source.backend is None:
            known = ", ".join(sorted(registry(self._config).backends))
            fail(f"{named.model.id}: nothing here can ask a model of kind {named.model.kind!r}; installed are: {known}")
        if reason := self._unavailable.get(named.model.id):
            if not source.backend.ahead:
                fail(reason)  # the team's own app, which is not where it was said to be
            self.unanswered.add(asker.nodeid)
            pytest.skip(f"{named.model.id} is asked nothing more: {reason}")
        return source.backend

    def _no_recording(self, source: Source, request: Request, asker: Asker) -> NoReturn:
        """Skip, since plain `pytest` asks nobody; under --fc-replay a missing reply is an error."""
        from pytest_fcall.backends.explain import explain_missing

        __tracebackhide__ = True
        self.missing.add(asker.nodeid)
        model = source.named.model
        nearest = self._kept.nearest(model, asker.file, asker.case, request.sample)
        lines = [
            f"no recorded reply of {model.id}; ask it: pytest --fc-model={model.id} '{asker.again}'",
            explain_missing(request, nearest),
        ]
        if damage := self._kept.damage(model, asker.file):
            lines.append(f"{len(damage)} damaged lines: {damage[0]}")
        text = "\n".join(lines)
        if self._options.replay:
            fail(text)
        pytest.skip(text)

    def _submitted(
        self, source: Source, backend: Backend, request: Request, digest: str, asker: Asker
    ) -> Future[Reply]:
        from pytest_fcall.backends.dispatch import Job

        if future := self._ahead.pop(digest, None):
            return future
        self._askers[digest] = source, asker
        return self._dispatching().submit(Job(source.named.model.id, backend, request, digest))

    def _dispatching(self) -> Dispatcher:
        if self._dispatcher is None:
            from pytest_fcall.backends.dispatch import Dispatcher
            from pytest_fcall.plugin.limits import limits
            from pytest_fcall.plugin.live import LiveLine

            self._dispatcher = Dispatcher(limits(self._config), self._arrived)
            self._line = LiveLine(self._config, self._dispatcher.figures, self.expected)
        return self._dispatcher

    def _wait(self, future: Future[Reply]) -> Reply:
        return self._line.wait(future) if self._line else future.result()

    def _arrived(self, job: Job, reply: Reply) -> None:
        """Keep a reply the moment that it is there; called by the dispatcher's thread."""
        if self._line:
            self._line.paid(job.model_id, reply.usage)
        source, asker = self._askers[job.digest]
        self._keep(source, asker, job.digest, job.request, reply)

    def _keep(self, source: Source, asker: Asker, digest: str, request: Request, reply: Reply) -> None:
        self._kept.keep(source.named.model, asker.file, asker.case, digest, request, reply)

    def _fail(self, source: Source, asker: Asker, error: BaseException) -> NoReturn:
        """End the test: what we found ourselves is one line, anything else is shown as it was raised."""
        from pytest_fcall.backends.answers import AnswerError
        from pytest_fcall.backends.store import StoreError

        __tracebackhide__ = True
        lacking = isinstance(error, ModelUnavailable) and source.backend is not None and source.backend.ahead
        if lacking or isinstance(error, Unanswered | CancelledError) or is_outage(error):
            self.unanswered.add(asker.nodeid)
        if isinstance(error, ModelUnavailable):
            self._unavailable[source.named.model.id] = str(error)
            fail(str(error))
        if isinstance(error, AnswerError | CaseRefused | Unanswered | StoreError):
            fail(f"{source.named.model.id}: {error}")
        raise without_our_frames(error)

    def _run(self, backend: Backend, request: Request) -> Reply:
        import asyncio

        if self._runner is None:
            self._runner = asyncio.Runner()
        with suppress(RuntimeError):
            asyncio.get_running_loop()
            fail("fc_model(…) cannot wait inside an async test: write `await fc_model.ask(…)`")
        return self._runner.get_loop().run_until_complete(backend.complete(request))

    def _close(self) -> None:
        if self._dispatcher is not None:
            self._dispatcher.close()
        if self._runner is not None:
            for source in self._sources.values():
                if source.backend is not None and not source.backend.ahead:
                    self._runner.run(source.backend.close())
            self._runner.close()
        self._kept.close()


ANSWERING = pytest.StashKey[Answering]()


def answering(config: pytest.Config) -> Answering:
    """The session's one Answering."""
    if ANSWERING not in config.stash:
        config.stash[ANSWERING] = Answering(config)
    return config.stash[ANSWERING]
