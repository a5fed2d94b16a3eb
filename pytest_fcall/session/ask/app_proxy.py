"""The proxy of a session, between apps and the models that they ask."""

from __future__ import annotations

import os
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from http import HTTPStatus
from threading import Lock
from typing import TYPE_CHECKING, Protocol

import pytest

from pytest_fcall.core import AppExchange, Model, ModelUnavailable
from pytest_fcall.plugin.options import options
from pytest_fcall.plugin.proxy_options import proxy_options
from pytest_fcall.session.ask.costs import app_budget
from pytest_fcall.session.ask.recordings import SessionRecordings
from pytest_fcall.session.ask.source import Question, Source

if TYPE_CHECKING:
    from pathlib import Path
    from socket import socket

    from pytest_fcall.backends.proxy.app_run import AppRun, RequestOrigin
    from pytest_fcall.backends.proxy.case_lookup import AppRuns
    from pytest_fcall.backends.proxy.listener import LazyListener
    from pytest_fcall.backends.recordings.entry import Recording
    from pytest_fcall.backends.store import NewReply


class ProxyVariables:
    """Knows where the variables lead without the proxy, also while they lead to it. Safe with threads."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables
        self._lock = Lock()
        self._led = ExitStack()
        self._wanted = 0
        self._upstreams: Mapping[str, str] = {}

    def upstreams(self) -> Mapping[str, str]:
        """Where the providers are."""
        from pytest_fcall.backends.proxy.variables import provider_addresses

        with self._lock:
            if not self._wanted:
                self._upstreams = provider_addresses(self._variables, os.environ)
            return self._upstreams

    def values(self, base: str, *, offline: bool) -> dict[str, str]:
        """What leads to the proxy at `base`; offline, with keys that are none where there are none."""
        from pytest_fcall.backends.proxy.variables import placeholder_keys, proxy_addresses

        upstreams = self.upstreams()
        keys = placeholder_keys(upstreams) if offline else {}
        return {
            **proxy_addresses(upstreams, base),
            **{name: key for name, key in keys.items() if not os.environ.get(name)},
        }

    @contextmanager
    def here(self, base: str, *, offline: bool) -> Iterator[None]:
        """Set the variables of this process, until nobody wants it any more."""
        from pytest_fcall.backends.proxy.variables import environment_with

        values = self.values(base, offline=offline)
        with self._lock:
            if not self._wanted:
                self._led.enter_context(environment_with(values))
            self._wanted += 1
        try:
            yield
        finally:
            with self._lock:
                self._wanted -= 1
                if not self._wanted:
                    self._led.close()


class NotRecorded(Exception):
    """An app asked something that no recording answers. The text says what is new."""


class Unpaid(ModelUnavailable):
    """An app asked something that there is no money for. The text says what to do."""


class AppElsewhere(Protocol):
    """How an app in another process finds the proxy."""

    by_hand: bool
    """Whether it was started before the run, by `fcall proxy`."""
    group: str
    """Stands in its addresses for the one case that it works on; empty where it shares them with others."""


@dataclass(slots=True)
class _ActiveRun:
    """A run, and how many want it at the same time."""

    run: AppRun
    token: str
    wanted: int = 0


@dataclass(frozen=True, slots=True)
class CaseRecordings:
    """What is recorded inside an app for one case."""

    kept: SessionRecordings
    question: Question
    """The case's own, put to what its app asks."""
    live: bool

    def find(self, digest: str) -> Recording | None:
        """The reply that counts, which is noted as used. A failure is asked for again: it may have been put right."""
        question = self.question._replace(digest=digest)
        found = self.kept.find(question, live=self.live)
        if found is None or (self.live and found.http_answer and found.http_answer.status >= HTTPStatus.BAD_REQUEST):
            return None
        self.kept.used(question)
        return found

    def all(self) -> Sequence[Recording]:
        """All of the case."""
        return self.kept.of_case(self.question)


class AppProxy:
    """Starts the proxy with the first app that is asked, and knows which case each of them works on."""

    def __init__(self, config: pytest.Config, kept: SessionRecordings) -> None:
        self._kept = kept
        self._options = options(config)
        self._purse = app_budget(config)
        found = proxy_options(config)
        self._on = found.on
        self._leading = ProxyVariables(found.variables)
        self._lock = Lock()
        self._going: dict[RequestOrigin, _ActiveRun] = {}
        self._runs: AppRuns | None = None
        self._listening: LazyListener | None = None
        self._root = config.rootpath
        self._announced: Path | None = None

    def knows(self, question: Question) -> bool:
        """Whether anything is recorded that the app asked for this case, so that it can run without its models."""
        if not self._on:
            return False
        inside = _question_inside(question)
        return self._kept.has_any(inside) and self._kept.nearest(inside) is not None

    @contextmanager
    def here(self, question: Question) -> Iterator[Sequence[AppExchange] | None]:
        """Have what an app in this process asks meanwhile belong to this case; it grows in the list.

        None is given without a proxy. Raises NotRecorded and Unpaid for what was asked in vain, whatever the app made
        of it, and StoreError for what the app was told and nobody could keep.
        """
        if not self._on:
            yield None
            return
        runs = self._known()
        offline = not self._may_ask(question)
        with (
            self._leading.here(self._base(runs.in_process), offline=offline),
            self._run(question, runs.in_process) as going,
        ):
            yield going.run.inner_requests

    @contextmanager
    def elsewhere(self, question: Question, app: AppElsewhere) -> Iterator[Sequence[AppExchange] | None]:
        """The same for an app in another process, which is told by the context of those who ask it."""
        if not self._on:
            yield None
            return
        from pytest_fcall.backends.proxy.case_lookup import CASE_TAG, CaseTag, case_headers

        runs = self._known()
        group = app.group or runs.by_hand
        if app.by_hand:
            self._announce(runs.by_hand)
        with self._run(question, group) as going:
            offline = not self._may_ask(question)
            bases = self._leading.values(self._base(going.token), offline=offline)
            headers = case_headers(going.token, next(iter(bases.values()), ""))
            tied = CASE_TAG.set(CaseTag(headers, self._leading.values(self._base(group), offline=offline)))
            try:
                yield going.run.inner_requests
            finally:
                CASE_TAG.reset(tied)

    def turn(self) -> AbstractAsyncContextManager[None]:
        """Wait until no other run is at an app that was started by hand."""
        from pytest_fcall.backends.proxy.announcements import only_run_at_app

        return only_run_at_app(self._root) if self._on else nullcontext()

    def close(self) -> None:
        """Serve no more."""
        if self._announced is not None:
            self._announced.unlink(missing_ok=True)
        if self._listening is not None:
            self._listening.close()

    @contextmanager
    def _run(self, question: Question, group: str) -> Iterator[_ActiveRun]:
        going = self._begin(question, group)
        try:
            yield going
        except Exception:
            self._complain(going.run)
            raise
        finally:
            self._end(going)
        self._complain(going.run)

    def _begin(self, question: Question, group: str) -> _ActiveRun:
        from pytest_fcall.backends.proxy.app_run import AppRun, RequestOrigin

        inside = _question_inside(question)
        place = RequestOrigin(inside.model.id, self._kept.name(question), question.asker.case, question.request.sample)
        with self._lock:
            going = self._going.get(place)
            if going is None:
                live = self._may_ask(question)
                run = AppRun(
                    place, CaseRecordings(self._kept, inside, live), live, self._leading.upstreams(), self._purse
                )
                going = self._going[place] = _ActiveRun(run, self._known().add(run, group))
            going.wanted += 1
        return going

    def _may_ask(self, question: Question) -> bool:
        """Whether the app's models may be asked."""
        return question.source.named.live and not self._options.replay

    def _end(self, going: _ActiveRun) -> None:
        with self._lock:
            going.wanted -= 1
            if not going.wanted:
                del self._going[going.run.origin]
                self._known().remove(going.token)

    def _announce(self, group: str) -> None:
        """Let apps find the proxy that `fcall proxy` has started."""
        if self._announced is None:
            from pytest_fcall.backends.proxy.announcements import announce

            self._announced = announce(self._root, self._base(group))

    def _complain(self, run: AppRun) -> None:
        from pytest_fcall.backends.store import StoreError

        if run.not_recorded:
            raise NotRecorded(run.not_recorded[0]) from None
        if run.not_paid:
            raise Unpaid(run.not_paid[0]) from None
        if run.not_stored:
            raise StoreError(run.not_stored[0]) from None

    def _known(self) -> AppRuns:
        if self._runs is None:
            from pytest_fcall.backends.proxy.case_lookup import AppRuns

            self._runs = AppRuns()
        return self._runs

    def _base(self, token: str) -> str:
        if self._listening is None:
            from pytest_fcall.backends.proxy.listener import LazyListener

            self._listening = LazyListener(self._serve)
        return f"http://127.0.0.1:{self._listening.port}/{token}"

    async def _serve(self, connections: socket, end: Coroutine[None, None, object]) -> None:
        """Serve whoever has come: what it takes is imported only then."""
        from pytest_fcall.backends.proxy.proxy import Proxy

        await Proxy(self._known(), self._keep).serve(connections, end)

    def _keep(self, replies: Sequence[NewReply]) -> None:
        if self._options.record != "off":
            self._kept.store.put_all(replies)


def wire_model(model: Model) -> Model:
    """Under whose name what a model asks by itself is kept."""
    return Model("wire", model.id)


def recorded_for_another(kept: SessionRecordings, question: Question) -> tuple[str, str] | None:
    """The case that an app's reply is of, and its file, if it is recorded for that what the app asked models."""
    model = wire_model(question.model).id
    files = kept.files_of(model)
    found = kept.find(question, live=False, request=question.request) if files else None
    if found is None:
        return None
    return next(((found.case, file) for file in files if kept.store.nearest(model, file, found.case)), None)


def _question_inside(question: Question) -> Question:
    named = replace(question.source.named, model=wire_model(question.model))
    return question._replace(source=Source(named, None))
