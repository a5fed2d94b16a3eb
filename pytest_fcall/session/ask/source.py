"""Who is asked, and who asks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pytest

from pytest_fcall.backends.wrapper import throughput_of
from pytest_fcall.core import Backend, Json, Model, ModelUnavailable, Request, canonical, digest, request_digest
from pytest_fcall.plugin.models import NamedModel
from pytest_fcall.plugin.options import options
from pytest_fcall.session.ask.costs import metered
from pytest_fcall.session.ask.recordings import SessionRecordings
from pytest_fcall.session.extensions import registry
from pytest_fcall.session.outcomes import fail


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

    @property
    def asks_models(self) -> bool:
        """Whether it may ask models itself, so that a reply shows less than all that it depends on."""
        return self.backend is not None and not self.backend.reusable

    @property
    def is_app(self) -> bool:
        """Whether it is the team's own code, which runs where and when its test does."""
        return self.backend is not None and not self.backend.ahead


class Question(NamedTuple):
    """A request, whom it is put to, and the test that wants the reply."""

    source: Source
    request: Request
    asker: Asker
    digest: str

    @classmethod
    def of(cls, source: Source, request: Request, asker: Asker) -> Question:
        """Put it, under the digest that its reply is kept by; end the test in words if no JSON can say it."""
        __tracebackhide__ = True
        model = source.named.model.id
        try:
            return cls(source, request, asker, _digest(source, request, asker))
        except (TypeError, ValueError, RecursionError) as error:
            fail(f"{model}: the request cannot be sent: {error}")

    @property
    def model(self) -> Model:
        """Who is asked."""
        return self.source.named.model


def _digest(source: Source, request: Request, asker: Asker) -> str:
    """Names request and model; of an app elsewhere the case, too, since what it does on the way belongs to that."""
    named = request_digest(source.named.model.id, request)
    return digest([named, asker.again]) if source.asks_models and not source.is_app else named


class Sources:
    """The session's models, each made once."""

    def __init__(self, config: pytest.Config, kept: SessionRecordings) -> None:
        self._config = config
        self._kept = kept
        self._made: dict[tuple[str, str, bool], Source] = {}

    def of(self, named: NamedModel) -> Source:
        """The source of a model that the command line, the configuration or a fixture names."""
        key = named.model.id, canonical({**named.model.options}), named.live
        if key not in self._made:
            self._made[key] = Source(named, self._backend(named))
        return self._made[key]

    def apps(self) -> list[Backend]:
        """The back ends that are not in the dispatcher's care."""
        return [source.backend for source in self._made.values() if source.backend is not None and source.is_app]

    def figures(self) -> dict[str, tuple[int, str]]:
        """How fast each model that works here has answered, with how many requests that is known from."""
        told = {
            source.named.model.id: throughput_of(source.backend) for source in self._made.values() if source.backend
        }
        return {model: figures for model, figures in told.items() if figures}

    def _backend(self, named: NamedModel) -> Backend | None:
        make = registry(self._config).backends.get(named.model.kind)
        if make is None:
            return None
        try:
            backend = metered(self._config, named, make(named.model, self._config.rootpath))
        except ModelUnavailable as unavailable:
            fail(str(unavailable))
        return self._once(named, backend)

    def _once(self, named: NamedModel, backend: Backend) -> Backend:
        """Let one worker of several ask for each reply: what one has begun another may be dealt later.

        Not of an app: whoever wants its reply must see what it asks on the way, which it finds recorded.
        """
        worker: str | None = getattr(self._config, "workerinput", {}).get("workerid")
        shared = backend.ahead and backend.reusable and named.live and options(self._config).record != "off"
        if worker is None or not shared:
            return backend
        from pytest_fcall.backends.store.claiming_backend import ClaimingBackend

        return ClaimingBackend(backend, named.model.id, self._kept.store, self._kept.since, worker)
