"""The proxy of a session, between apps and the models that they ask."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Protocol

from pytest_fcall.core.backend import Model
from pytest_fcall.core.request import Request
from pytest_fcall.session.ask.active_run import ActiveRun
from pytest_fcall.session.ask.no_reply import AppOverBudget, NotRecorded, WentAround
from pytest_fcall.session.ask.proxy_endpoint import ProxyEndpoint
from pytest_fcall.session.ask.recordings import RecordedAppRequests
from pytest_fcall.session.ask.types import Asker, Question, Source
from pytest_fcall.session.ask.volatile import volatile_of
from pytest_fcall.session.endings import CaseError

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_fcall.backends.proxy.app_run import AppRun
    from pytest_fcall.backends.proxy.case_context import CaseContext, CaseWork
    from pytest_fcall.backends.proxy.case_lookup import AppRuns
    from pytest_fcall.backends.proxy.detours import DetourWatch, WatchedRun
    from pytest_fcall.backends.spans.inbox import SpanInbox
    from pytest_fcall.core.reply import Reply
    from pytest_fcall.session.ask.costs import SpendingLimit
    from pytest_fcall.session.ask.recordings import SessionRecordings
    from pytest_fcall.session.settings import Settings


_LAST_FLUSH_SECONDS = 1.0
"""Exporters would send what they still hold when the run ends to nobody, again and again, when Python ends."""
_NOBODY = "nobody"
"""Stands where a case, and an app, would be named."""


class AppElsewhere(Protocol):
    """The way in which an app in another process finds the proxy."""

    by_hand: bool
    """Whether it was started before the run, by `fcall proxy`."""
    group: str
    """The part of its addresses that stands for the one case that it works on; empty where cases share them."""


class AppProxy:
    """Starts the proxy with the first app that sends a request, and knows the case that each app works on."""

    def __init__(
        self, settings: Settings, recordings: SessionRecordings, spending: SpendingLimit, endpoint: ProxyEndpoint | None
    ) -> None:
        self._settings = settings
        self._recordings = recordings
        self._spending = spending.of_apps()
        self._endpoint = endpoint or ProxyEndpoint(_variables(settings), replay=settings.replay)
        self._endpoint.serve_session(recordings.keep, self._nobodys_run)
        self.variables = self._endpoint.variables
        self._lock = Lock()
        self._active: dict[tuple[str, str, str, int], ActiveRun] = {}
        self._context: CaseContext | None = None
        self._nobody: AppRun | None = None
        self._announced: Path | None = None
        self._watch: DetourWatch | None = None
        self._known_to_ask: dict[tuple[str, Path], bool] = {}
        """Whether requests of an app were recorded when this was first asked, by its id and the file of the test."""
        self._asked: set[str] = set()
        """The ids of the apps that have sent requests in this run."""
        self.unpriced: Counter[str] = Counter()
        """Requests of apps that may be billed although no whole answer came, by the node id of the test."""
        self.remarks: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
        """Remarks on requests of apps, by the node id of the test."""
        self.left_out: defaultdict[str, dict[tuple[str, str], None]] = defaultdict(dict)
        """The parts left out of their keys, as pairs of a pattern and a text, by the node id of the test."""

    def has_recordings(self, question: Question) -> bool:
        """Whether requests of the app are recorded for this case, so that it can run without its models."""
        if not self._settings.proxy:
            return False
        inside = _question_inside(question)
        return self._recordings.has_any(inside) and self._recordings.nearest(inside) is not None

    def is_known_to_ask(self, source: Source, asker: Asker) -> bool:
        """Whether requests of the app are recorded, or it has sent some in this run."""
        key = source.id, asker.file
        if key not in self._known_to_ask:
            inside = _question_inside(Question(source, Request(()), asker, ""))
            recorded = bool(self._recordings.files_of(inside.source.id)) or self._recordings.has_any(inside)
            self._known_to_ask[key] = recorded
        return self._known_to_ask[key] or source.id in self._asked

    def in_process(self, question: Question) -> AbstractContextManager[ActiveRun | None]:
        """Let what an app in this process sends meanwhile belong to the question; the list grows with each request.

        Gives None without a proxy. Raises NotRecorded and AppOverBudget for requests that were not answered, whatever
        the app made of it, WentAround for those that were refused, and StoreError for answers that could not be
        recorded.
        """
        return _WorkHere(self, question) if self._settings.proxy else nullcontext()

    def begin_here(self, question: Question) -> tuple[ActiveRun, WatchedRun | None, CaseWork]:
        """Begin what `in_process` lets belong to the question; `end_here` ends it."""
        runs, live = self._endpoint.runs, self._may_ask(question)
        context = self._context or self._begin_context(runs)
        self.variables.begin(self._endpoint.base(runs.in_process), offline=not live)
        try:
            watch = self._detour_watch()
            active = self._begin(question, runs.in_process)
        except BaseException:
            self.variables.end()
            raise
        watched = None
        if watch is not None:
            watched = watch.begin(live=live)
            active.detours = watched.detours
        return active, watched, context.work(runs.mark(active.token))

    def end_here(self, question: Question, active: ActiveRun, watched: WatchedRun | None) -> None:
        """End what `begin_here` began."""
        self._end(question, active)
        if watched is not None and self._watch is not None:
            self._watch.end(watched)
        self.variables.end()

    @contextmanager
    def elsewhere(self, question: Question, app: AppElsewhere) -> Iterator[ActiveRun | None]:
        """Do the same for an app in another process, which learns the addresses from the request to it."""
        if not self._settings.proxy:
            yield None
            return
        from pytest_fcall.backends.proxy.case_lookup import CASE_TAG, CaseTag, case_headers

        runs = self._endpoint.runs
        group = app.group or runs.by_hand
        if app.by_hand:
            self._announce(runs.by_hand)
        with self._run(question, group) as active:
            offline = not self._may_ask(question)
            bases = self.variables.values(self._endpoint.base(active.token), offline=offline)
            headers = case_headers(active.token, next(iter(bases.values()), ""))
            tag = CASE_TAG.set(CaseTag(headers, self.variables.values(self._endpoint.base(group), offline=offline)))
            try:
                yield active
            finally:
                CASE_TAG.reset(tag)

    def with_spans(self, question: Question, active: ActiveRun | None, reply: Reply) -> Reply:
        """The reply of an app in this process, with what its spans tell, which are waited for if they are judged."""
        if active is None or not (question.asker.wants_spans and self._endpoint.inbox):
            return reply
        from pytest_fcall.session.ask.app_spans import wait_for_spans

        wait_for_spans(self._endpoint.inbox, active.token, self._settings.spans_wait)
        return self._with_spans(self._endpoint.inbox, active, reply)

    async def with_spans_async(self, question: Question, active: ActiveRun | None, reply: Reply) -> Reply:
        """Do the same in an event loop, of an app anywhere."""
        if active is None or not (question.asker.wants_spans and self._endpoint.inbox):
            return reply
        from pytest_fcall.session.ask.app_spans import flush_exporters, wait_for_spans_async

        if question.source.is_app:
            flush_exporters(self._settings.spans_wait)
        await wait_for_spans_async(self._endpoint.inbox, active.token, self._settings.spans_wait)
        return self._with_spans(self._endpoint.inbox, active, reply)

    def _with_spans(self, inbox: SpanInbox, active: ActiveRun, reply: Reply) -> Reply:
        from pytest_fcall.session.ask.app_spans import span_facts

        collected = inbox.close(active.token)
        facts = span_facts(collected, self._settings.spans_wait, self.variables.spans_of_person())
        return replace(reply, spans=facts)

    def take_spans(self) -> None:
        """Take the spans of apps from now on, where the settings have nothing against it."""
        settings = self._settings
        if settings.proxy and settings.spans != "off":
            self._endpoint.take_spans(over=settings.spans == "always")

    @property
    def span_strays(self) -> Mapping[tuple[str, str], int]:
        """Spans that are part of no verdict: see `SpanInbox.strays`."""
        return dict(self._endpoint.inbox.strays) if self._endpoint.inbox else {}

    def turn(self) -> AbstractAsyncContextManager[None]:
        """Wait until no other run uses an app that was started by hand."""
        from pytest_fcall.backends.proxy.announcements import exclusive_app_use

        return exclusive_app_use(self._settings.root) if self._settings.proxy else nullcontext()

    @property
    def strays(self) -> Mapping[tuple[str, bool], int]:
        """Requests that are part of no verdict: see `AppRun.strays`."""
        return self._endpoint.strays

    def close(self) -> None:
        """Stop serving."""
        if self._endpoint.inbox is not None:
            from pytest_fcall.session.ask.app_spans import flush_exporters

            flush_exporters(_LAST_FLUSH_SECONDS)
        if self._context is not None:
            self._context.end()
        if self._announced is not None:
            self._announced.unlink(missing_ok=True)
        self._endpoint.close()

    def _detour_watch(self) -> DetourWatch | None:
        """The watch over connections that go around the proxy; None where they may."""
        if self._settings.around == "allow":
            return None
        if self._watch is None:
            from pytest_fcall.backends.proxy.detours import DetourWatch

            self._watch = DetourWatch(self._settings.root, self.variables.defaults)
        return self._watch

    @contextmanager
    def _run(self, question: Question, group: str) -> Iterator[ActiveRun]:
        """Raises what `in_process` raises."""
        active = self._begin(question, group)
        try:
            yield active
        except Exception:
            self.raise_failures(question, active)
            raise
        finally:
            self._end(question, active)
        self.raise_failures(question, active)

    def raise_failures(self, question: Question, active: ActiveRun) -> None:
        """Raise what a request of the app failed for: whatever the app makes of that, it is the reason."""
        if active.run:
            _raise_failures(active.run)
        if active.detours and not self._may_ask(question):
            raise WentAround(
                f"the app goes around the proxy to {active.detours[0].text}, and no model may be asked in this run. So "
                "that what it asks is recorded and replayed, its client must take its address from the variable of "
                "the provider, such as OPENAI_BASE_URL; fc_around = allow lets it pass"
            ) from None

    def _note(self, test: str, run: AppRun) -> None:
        """Note what is to be told of the requests of a test; nothing is kept of most."""
        if run.unpriced:
            self.unpriced[test] += run.unpriced
        if found := [*run.remarks, *(("broken", fault) for fault in run.faults)]:
            self.remarks[test] += found
        if run.left_out:
            self.left_out[test].update(run.left_out)

    def _begin(self, question: Question, group: str) -> ActiveRun:
        origin = self._origin(question)
        with self._lock:
            active = self._active.get(origin)
            if active is None:
                active = self._active[origin] = ActiveRun(partial(self._new_run, question), origin)
                active.token = self._endpoint.runs.add(active, group)
                if inbox := self._endpoint.inbox:
                    asker = question.asker
                    inbox.open(active.token, f"{origin[1]}::{asker.case}", wanted=asker.wants_spans)
            active.users += 1
        return active

    def _end(self, question: Question, active: ActiveRun) -> None:
        with self._lock:
            active.users -= 1
            if not active.users:
                active.end()
                del self._active[active.origin]
                self._endpoint.runs.remove(active.token)
                if active.run:
                    self._note(question.asker.nodeid, active.run)

    def _origin(self, question: Question) -> tuple[str, str, str, int]:
        file = self._recordings.file_name(question)
        return question.source.id, file, question.asker.case, question.request.sample

    def _new_run(self, question: Question) -> AppRun:
        from pytest_fcall.backends.proxy.app_run import AppRun, RequestOrigin

        inside, live = _question_inside(question), self._may_ask(question)
        self._asked.add(question.source.id)
        file = self._recordings.file_name(question)
        origin = RequestOrigin(inside.source.id, file, question.asker.case, question.request.sample)
        recordings = RecordedAppRequests(self._recordings, inside, live)
        volatile, strays = volatile_of(question.asker.volatile, question.model), self._endpoint.runs.strays
        return AppRun(
            origin,
            recordings,
            live,
            self.variables.upstreams(),
            self._spending,
            volatile,
            secrets=self._settings.secrets,
            strays=strays,
        )

    def _nobodys_run(self) -> AppRun:
        """The run of requests that belong to no case, whose recordings lie beside the first conftest file."""
        if self._nobody is None:
            from pytest_fcall.session.models import NamedModel

            settings = self._settings
            live = settings.live or any(named.live for named in settings.models)
            asker = Asker(settings.root / "conftest.py", _NOBODY, _NOBODY, _NOBODY, settings.volatile)
            source = Source(NamedModel(Model("app", _NOBODY), "fixture", live=live), None)
            self._nobody = self._new_run(Question(source, Request(()), asker, ""))
            self._nobody.is_nobodys = True
        return self._nobody

    def _begin_context(self, runs: AppRuns) -> CaseContext:
        """Have requests say which case they belong to, from the first app on."""
        from pytest_fcall.backends.proxy.case_context import CaseContext

        self._context = CaseContext(runs, spans=self._endpoint.inbox is not None)
        self._context.begin()
        return self._context

    def _may_ask(self, question: Question) -> bool:
        """Whether the app's models may be asked."""
        return question.source.named.live and not self._settings.replay

    def _announce(self, group: str) -> None:
        """Let apps find the proxy that `fcall proxy` has started."""
        if self._announced is None:
            from pytest_fcall.backends.proxy.announcements import announce

            self._announced = announce(self._settings.root, self._endpoint.base(group))


class _WorkHere:
    """An app in this process at work on a question; see `AppProxy.in_process`."""

    __slots__ = ("_active", "_proxy", "_question", "_watched", "_work")

    def __init__(self, proxy: AppProxy, question: Question) -> None:
        self._proxy = proxy
        self._question = question

    def __enter__(self) -> ActiveRun:
        self._active, self._watched, self._work = self._proxy.begin_here(self._question)
        self._work.__enter__()
        return self._active

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        self._work.__exit__()
        try:
            if error is None or isinstance(error, Exception):
                self._proxy.raise_failures(self._question, self._active)
        finally:
            self._proxy.end_here(self._question, self._active, self._watched)


def recorded_for_other_case(recordings: SessionRecordings, question: Question) -> tuple[str, str] | None:
    """The case, and its file, for which both an app's reply and the app's own requests are recorded, if one is."""
    model = _wire_model(question.model).id
    files = recordings.files_of(model)
    found = recordings.find(question, live=False, request=question.request) if files else None
    if found is None:
        return None
    return next(((found.case, file) for file in files if recordings.store.nearest(model, file, found.case)), None)


def _wire_model(model: Model) -> Model:
    """The name under which requests of an app are recorded."""
    return Model("wire", model.id)


def _question_inside(question: Question) -> Question:
    named = question.source.named._replace(model=_wire_model(question.model))
    return question._replace(source=Source(named, None))


def _variables(settings: Settings) -> Mapping[str, str]:
    from pytest_fcall.backends.proxy.variables import read_variables

    return read_variables(settings.proxy_variables) if settings.proxy else {}


def _raise_failures(run: AppRun) -> None:
    if not (run.not_keyed or run.not_recorded or run.not_paid or run.not_stored):
        return
    if run.not_keyed:
        raise CaseError(run.not_keyed[0]) from None
    from pytest_fcall.backends.store import StoreError

    if run.not_recorded:
        raise NotRecorded(run.not_recorded[0]) from None
    if run.not_paid:
        raise AppOverBudget(run.not_paid[0]) from None
    raise StoreError(run.not_stored[0]) from None
