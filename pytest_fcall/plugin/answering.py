"""Getting replies: those that are kept first, then from the model if it may be asked."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import CancelledError
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

import pytest

from pytest_fcall.core import Backend, CaseRefused, ModelUnavailable, Reply, Request, Unanswered, request_digest
from pytest_fcall.core.extension import Decoder
from pytest_fcall.plugin.extensions import registry
from pytest_fcall.plugin.kept import Kept
from pytest_fcall.plugin.models import NamedModel
from pytest_fcall.plugin.options import options
from pytest_fcall.plugin.outages import is_outage
from pytest_fcall.plugin.sending import Sending
from pytest_fcall.plugin.sources import Asker, Source, Sources
from pytest_fcall.plugin.words import fail, without_our_frames

if TYPE_CHECKING:
    from concurrent.futures import Future


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply, and when it was recorded if that was not now, in seconds since 1970."""

    reply: Reply
    recorded: float | None = None


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
        self.missing: set[str] = set()
        """Node ids of the tests that no recording could answer."""
        self.unanswered: set[str] = set()
        """Node ids of the tests that a server, the network or the model's entry left without a reply."""
        config.add_cleanup(self._close)

    def source(self, named: NamedModel) -> Source:
        """The source of a model that the command line, the configuration or a fixture names."""
        return self._sources.of(named)

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
        if recorded := self._recorded(source, digest, asker):
            return recorded
        backend = self._live(source, request, digest, asker)
        try:
            return Answer(self._sending.ask(source, backend, request, digest, asker))
        except (Exception, SystemExit, CancelledError) as error:
            self._fail(source, asker, error)

    async def answer_async(self, source: Source, request: Request, asker: Asker) -> Answer:
        """Do what `answer` does, in the event loop of an async test."""
        __tracebackhide__ = True
        digest = request_digest(source.named.model.id, request)
        if recorded := self._recorded(source, digest, asker):
            return recorded
        backend = self._live(source, request, digest, asker)
        try:
            return Answer(await self._sending.ask_async(source, backend, request, digest, asker))
        except (Exception, SystemExit) as error:
            self._fail(source, asker, error)

    def ask_ahead(self, source: Source, request: Request, asker: Asker) -> Future[Reply] | None:
        """Ask for what a test will want; None where there is nothing to ask. Failures wait for the test."""
        backend = source.backend
        if backend is None or source.is_app or not source.named.live or self._options.replay:
            return None
        if source.named.model.id in self._unavailable:
            return None
        digest = request_digest(source.named.model.id, request)
        if self._sending.is_under_way(digest) or self._recorded(source, digest, asker):
            return None
        return self._sending.ahead(source, backend, request, digest, asker)

    def expect(self, requests: int) -> None:
        """Know how many requests are to come, for those who want to know how long it will take."""
        self._sending.expected = requests

    def is_recorded(self, source: Source, request: Request, asker: Asker) -> bool:
        """Whether a kept reply would answer, so that nobody is asked."""
        return self._recorded(source, request_digest(source.named.model.id, request), asker) is not None

    def notes(self) -> list[str]:
        """What people should know about limits that cannot be kept to together, and replies that cannot be read."""
        return [*self._sending.notes(), *self._kept.notes()]

    def cancel(self) -> None:
        """Ask for nothing more; what is under way is given up."""
        self._sending.cancel()

    def _recorded(self, source: Source, digest: str, asker: Asker) -> Answer | None:
        if self._sending.is_under_way(digest) or not (source.replayable or self._options.replay):
            return None
        live = source.named.live and not self._options.replay
        found = self._kept.find(source.named.model, asker.file, asker.case, digest, live=live)
        if found is None:
            return None
        return Answer(found.reply, found.moment if found.moment < self._kept.started else None)

    def _live(self, source: Source, request: Request, digest: str, asker: Asker) -> Backend:
        __tracebackhide__ = True
        named = source.named
        if self._options.replay or not named.live:
            self._no_recording(source, request, asker)
        if source.backend is None:
            known = ", ".join(sorted(registry(self._config).backends))
            fail(f"{named.model.id}: nothing here can ask a model of kind {named.model.kind!r}; installed are: {known}")
        # What was asked ahead may have been answered before the model could not be asked any more.
        if not self._sending.is_under_way(digest) and (reason := self._unavailable.get(named.model.id)):
            self._lacking(source, asker, reason)
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

    def _fail(self, source: Source, asker: Asker, error: BaseException) -> NoReturn:
        """End the test: what we found ourselves is one line, anything else is shown as it was raised."""
        from pytest_fcall.backends.answers import AnswerError
        from pytest_fcall.backends.store import StoreError

        __tracebackhide__ = True
        if isinstance(error, Unanswered | CancelledError) or is_outage(error):
            self.unanswered.add(asker.nodeid)
        name = f"{source.named.model.id}: "
        text = name + str(error).removeprefix(name)  # back ends may have named their model already
        if isinstance(error, ModelUnavailable | StoreError):  # what cannot be kept would be paid for in vain
            self._lacking(source, asker, text)
        if isinstance(error, AnswerError | CaseRefused | Unanswered):
            fail(text)
        raise without_our_frames(error)

    def _lacking(self, source: Source, asker: Asker, reason: str) -> NoReturn:
        """End the test since nobody can be asked: one error for a model, the others are skipped.

        Where it is the team's own app that cannot be found, all are errors.
        """
        __tracebackhide__ = True
        first = self._unavailable.setdefault(source.named.model.id, reason)
        if source.is_app:
            fail(first)
        self.unanswered.add(asker.nodeid)
        if first not in self._told:
            self._told.add(first)
            fail(first)
        pytest.skip(f"nothing more is asked: {first}")

    def _close(self) -> None:
        self._sending.close(self._sources.apps())
        self._kept.close()


ANSWERING = pytest.StashKey[Answering]()


def answering(config: pytest.Config) -> Answering:
    """The session's one Answering."""
    if ANSWERING not in config.stash:
        config.stash[ANSWERING] = Answering(config)
    return config.stash[ANSWERING]
