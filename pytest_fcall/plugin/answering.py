"""Getting replies: from recordings first, then from the model if it may be asked."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest

from pytest_fcall.core import Backend, ModelUnavailable, Reply, Request, request_digest
from pytest_fcall.core.extension import Decoder
from pytest_fcall.plugin.extensions import registry
from pytest_fcall.plugin.models import NamedModel
from pytest_fcall.plugin.words import fail

if TYPE_CHECKING:
    from asyncio import Runner

    from pytest_fcall.backends.recordings import Recordings


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
    def replayable(self) -> bool:
        """Whether a recorded reply may stand for a new one without being told to."""
        return self.backend is None or self.backend.reusable


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply, and whether it came from a recording."""

    reply: Reply
    replayed: bool


class Answering:
    """What outlives a single question: back ends, recordings and the event loop of this session."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._replay: bool = config.getoption("fc_replay")
        self._sources: dict[tuple[str, bool], Source] = {}
        self._recordings: dict[Path, Recordings] = {}
        self._unavailable: dict[str, str] = {}
        self._runner: Runner | None = None
        self.missing: set[str] = set()
        """Node ids of the tests that no recording could answer."""
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
        if recorded := self._recorded(source, request, asker):
            return recorded
        backend = self._live(source, request, asker)
        try:
            return Answer(self._run(backend, request), replayed=False)
        except (Exception, SystemExit) as error:
            self._fail(source, error)

    async def answer_async(self, source: Source, request: Request, asker: Asker) -> Answer:
        """Do what `answer` does, in the event loop of an async test."""
        __tracebackhide__ = True
        if recorded := self._recorded(source, request, asker):
            return recorded
        backend = self._live(source, request, asker)
        try:
            return Answer(await backend.complete(request), replayed=False)
        except (Exception, SystemExit) as error:
            self._fail(source, error)

    def _backend(self, named: NamedModel) -> Backend | None:
        make = registry(self._config).backends.get(named.model.kind)
        try:
            return make(named.model, self._config.rootpath) if make else None
        except ModelUnavailable as unavailable:
            fail(str(unavailable))

    def _recorded(self, source: Source, request: Request, asker: Asker) -> Answer | None:
        if not (source.replayable or self._replay):
            return None
        found = self._recordings_of(source, asker).find(request_digest(source.named.model.id, request))
        return Answer(found.reply, replayed=True) if found else None

    def _recordings_of(self, source: Source, asker: Asker) -> Recordings:
        from pytest_fcall.backends.recordings import read_recordings, recordings_path

        path = recordings_path(asker.file, source.named.model)
        if path not in self._recordings:
            self._recordings[path] = read_recordings(path)
        return self._recordings[path]

    def _live(self, source: Source, request: Request, asker: Asker) -> Backend:
        __tracebackhide__ = True
        named = source.named
        if self._replay or not named.live:
            self._no_recording(source, request, asker)
        if source.backend is None:
            known = ", ".join(sorted(registry(self._config).backends))
            fail(f"{named.model.id}: nothing here can ask a model of kind {named.model.kind!r}; installed are: {known}")
        if reason := self._unavailable.get(named.model.id):
            fail(reason)
        return source.backend

    def _no_recording(self, source: Source, request: Request, asker: Asker) -> NoReturn:
        """Skip, since plain `pytest` asks nobody; under --fc-replay a missing reply is an error."""
        from pytest_fcall.backends.explain import explain_missing

        __tracebackhide__ = True
        self.missing.add(asker.nodeid)
        recordings = self._recordings_of(source, asker)
        model = source.named.model.id
        lines = [
            f"no recorded reply of {model}; ask it: pytest --fc-model={model} '{asker.again}'",
            explain_missing(request, recordings.nearest(asker.case, request.sample)),
        ]
        if recordings.faults:
            lines.append(f"{len(recordings.faults)} damaged lines: {recordings.faults[0].message}")
        text = "\n".join(lines)
        if self._replay:
            fail(text)
        pytest.skip(text)

    def _fail(self, source: Source, error: Exception | SystemExit) -> NoReturn:
        """End the test: what we found ourselves is one line, anything else is shown as it was raised."""
        from pytest_fcall.backends.answers import AnswerError

        __tracebackhide__ = True
        if isinstance(error, ModelUnavailable):
            self._unavailable[source.named.model.id] = str(error)
            fail(str(error))
        if isinstance(error, AnswerError):
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
        if self._runner is not None:
            for source in self._sources.values():
                if source.backend is not None:
                    self._runner.run(source.backend.close())
            self._runner.close()


def without_our_frames(error: Exception | SystemExit) -> Exception | SystemExit:
    """Cut a traceback down to what lies below our own code, if anything does."""
    below = here = error.__traceback__
    while here is not None:
        if str(here.tb_frame.f_globals.get("__name__", "")).startswith("pytest_fcall."):
            below = here.tb_next
        here = here.tb_next
    return error.with_traceback(below or error.__traceback__)


ANSWERING = pytest.StashKey[Answering]()


def answering(config: pytest.Config) -> Answering:
    """The session's one Answering."""
    if ANSWERING not in config.stash:
        config.stash[ANSWERING] = Answering(config)
    return config.stash[ANSWERING]
