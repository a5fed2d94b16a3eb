"""Requests sent ahead of the tests that want the replies, to models and to the model that judges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from queue import Queue
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import pytest

from pytest_fcall.core.case import Case
from pytest_fcall.plugin.item import CaseItem
from pytest_fcall.plugin.session import session_of
from pytest_fcall.session.ask.costs import share_of_concurrency
from pytest_fcall.session.ask.types import Conversation, Question
from pytest_fcall.session.endings import CaseEnded
from pytest_fcall.session.judge.samples import sample_request, samples_of
from pytest_fcall.session.judge.verdict import CaseJudge

if TYPE_CHECKING:
    from collections import deque
    from concurrent.futures import Future
    from contextlib import AbstractContextManager

    from pytest_fcall.core.reply import Reply
    from pytest_fcall.session.session import Session

Wanted: TypeAlias = "Sequence[Question | Conversation]"

_WINDOW_WITH_MAXFAIL = 16
"""Number of requests under way with -x and --maxfail, where few should be sent in vain."""


def prefetch(session: pytest.Session) -> None:
    """Send requests ahead of the tests, if a case may ask a model at all."""
    fcall = session_of(session.config)
    items = [item for item in session.items if isinstance(item, CaseItem)]
    fcall.replies.expect(sum(map(_expected_replies, items)))
    session.config.pluginmanager.register(Prefetch(session, fcall), "fcall-prefetch")


class Prefetch:
    """Keeps as many requests under way as the limits let, in the order of the items."""

    def __init__(self, session: pytest.Session, fcall: Session) -> None:
        self._items = session.items
        self._replies = fcall.replies
        self._places = {item: place for place, item in enumerate(session.items)}
        self._worker = _worker(session.config)
        window = share_of_concurrency(fcall.settings)
        self._portion = max(1, window // 4)
        """Number of requests that are sent at a time, which costs less than one by one."""
        self._reach = 2 * window
        """Number of items ahead that are looked at."""
        if session.config.getoption("maxfail"):
            self._portion = 1
            self._reach = window = min(window, _WINDOW_WITH_MAXFAIL)
        elif fcall.settings.store is not None:  # as many again wait for the server of the store meanwhile
            window, self._reach = 2 * window, 2 * self._reach
        self._most = window + self._portion - 1
        """Number of requests that may be under way: when the next portion is due, a whole window still is."""
        self._pause = 0
        """Number of items that may run before looking ahead again, since all within reach have been seen."""
        self._seen: set[int] = set()
        self._waiting: set[Future[Any]] = set()
        self._judge = JudgePrefetch(fcall)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> None:
        """Send more requests, before an item runs."""
        if self._pause:
            self._pause -= 1
        else:
            self._fill(item)
        if self._judge.waiting:
            self._watch(self._judge.ask())

    def pytest_keyboard_interrupt(self) -> None:
        """Wait for nothing more."""
        self._replies.cancel()

    def pytest_unconfigure(self) -> None:
        """Let go of the items, which nobody will run any more."""
        self._places.clear()
        self._judge.waiting.clear()

    def _fill(self, item: pytest.Item) -> None:
        upcoming = self._upcoming(self._places[item])
        questions = self._questions(upcoming)
        while (room := self._most - len(self._waiting)) >= self._portion:
            portion = [*islice(questions, room)]
            if not portion:
                self._pause = max(0, min(self._portion, len(upcoming) // 2) - 1)
                return
            self._watch(self._sent(portion))

    def _watch(self, futures: Iterable[Future[Any]]) -> None:
        for future in futures:
            self._waiting.add(future)
            future.add_done_callback(self._waiting.discard)

    def _sent(self, portion: Wanted) -> Sequence[Future[Any]]:
        questions = [each for each in portion if isinstance(each, Question)]
        conversations = [each for each in portion if isinstance(each, Conversation)]
        return [*self._replies.ask_ahead(questions), *self._replies.converse_ahead(conversations)]

    def _questions(self, places: Iterable[int]) -> Iterator[Question | Conversation]:
        for place in places:
            if place not in self._seen:
                self._seen.add(place)
                item = self._items[place]
                if isinstance(item, CaseItem):
                    questions = _questions_of(item)
                    self._judge.expect(item, questions)
                    yield from questions
                    if questions:
                        yield from _variants_of(item)

    def _upcoming(self, place: int) -> Sequence[int]:
        """The places of the items that this process will run next, as far as it knows."""
        if self._worker is None:
            return range(place, min(place + self._reach, len(self._places)))
        return [place, *dealt_places(self._worker.torun, self._reach - 1)]


class JudgePrefetch:
    """Asks the model that judges ahead of the tests, once there are answers to judge."""

    def __init__(self, session: Session) -> None:
        judge = session.settings.judge
        self._session = session
        self._may_ask = judge is not None and judge.live
        self.waiting: dict[CaseItem, Wanted] = {}
        """Items whose answers are under way or there."""

    def expect(self, item: CaseItem, wanted: Wanted) -> None:
        """Note the requests of an item, if the model that judges may be asked about the answers."""
        if self._may_ask and wanted and item.asks_judge_model:
            self.waiting[item] = wanted

    def ask(self) -> list[Future[Reply]]:
        """Ask about all answers that have come by now. An item none of whose answers will come is dropped."""
        replies = self._session.replies
        sent: list[Future[Reply]] = []
        for item, wanted in [*self.waiting.items()]:
            if any(map(replies.is_pending, wanted)):
                continue
            del self.waiting[item]
            answers = [answer for each in wanted if (answer := replies.finished_answer(each))]
            if len(answers) == len(wanted) and isinstance(item.case, Case):
                try:
                    opinions = self._session.opinions(item.case, item.asker)
                    judge = CaseJudge(item.case, self._session, opinions, None, item.context.match_contexts)
                    sent += judge.ask_ahead(answers)
                except CaseEnded:  # the item itself will say why
                    continue
        return sent


def _expected_replies(item: CaseItem) -> int:
    """The number of replies that an item needs, as far as that is known."""
    if not isinstance(item.case, Case):
        return 0
    settings = item.context.session.settings
    samples = samples_of(item.case, settings.samples).count
    if item.case.variants or settings.vary:
        from pytest_fcall.session.judge.variants import wanted_answers

        samples += wanted_answers(item.case, settings.vary, item.context.session.relations)
    return samples


def _questions_of(item: CaseItem) -> Wanted:
    """The requests that an item will send in any case, if they are known before its fixtures are set up."""
    if item.named is None or not isinstance(item.case, Case):
        return []
    session = item.context.session
    try:
        source = session.replies.source(item.named)
        if source.is_app or item.context.changes_requests or not item.context.own_model or item.is_skipped:
            return []
        request = item.planned_request(source.settings)
        samples = range(samples_of(item.case, session.settings.samples).count)
        requests = [sample_request(request, sample) for sample in samples]
        if item.case.mode == "conversation":
            return [Conversation(item.case, source, each, item.asker) for each in requests]
        return [Question.of(source, each, item.asker) for each in requests]
    except CaseEnded:  # the item itself will say why
        return []


def _variants_of(item: CaseItem) -> Wanted:
    """The requests for variants of the case of an item, and for repetitions of it."""
    case, session = item.case, item.context.session
    if item.named is None or not isinstance(case, Case) or not (case.variants or session.settings.vary):
        return []
    try:
        source = session.replies.source(item.named)
        planned = item.planned_variants(source.settings, has_own_tools=source.asks_models)
        if planned is None:
            return []
        return planned.wanted(case, source, item.planned_request(source.settings), item.asker, session.settings.samples)
    except CaseEnded:  # the item itself will say why
        return []


class _LockedQueue(Protocol):
    """The queue of a worker of pytest-xdist 3.7 and newer."""

    def lock(self) -> AbstractContextManager[deque[object]]: ...


class _Worker(Protocol):
    """The worker of pytest-xdist that this process is."""

    @property
    def torun(self) -> _LockedQueue | Queue[object]:
        """The commands that it was sent. Older versions replace the queue when they take something back."""
        ...


def _worker(config: pytest.Config) -> _Worker | None:
    found = config.pluginmanager.get_plugins() if hasattr(config, "workerinput") else ()
    return next((plugin for plugin in found if hasattr(plugin, "torun")), None)


def dealt_places(queue: _LockedQueue | Queue[object], most: int) -> list[int]:
    """The places of the items that wait in the queue of a worker, at most so many; marks that end it are left out."""
    if isinstance(queue, Queue):
        with queue.mutex:
            waiting = [*islice(queue.queue, most)]
    else:
        with queue.lock() as items:
            waiting = [*islice(items, most)]
    return [each for each in waiting if isinstance(each, int)]
