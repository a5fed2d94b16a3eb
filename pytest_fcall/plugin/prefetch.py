"""Requests sent ahead of the tests that want the replies, to models and to the model that judges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import pytest

from pytest_fcall.core import Case
from pytest_fcall.plugin.item import CaseItem, planned_request
from pytest_fcall.plugin.judge_model import is_judged, named_judge
from pytest_fcall.session.ask.conversation import Conversation
from pytest_fcall.session.ask.limits import share_of_concurrency
from pytest_fcall.session.ask.model import asker_of
from pytest_fcall.session.ask.replies import replies
from pytest_fcall.session.ask.source import Question
from pytest_fcall.session.judge.samples import first_portion, request_of_sample, samples_of
from pytest_fcall.session.judge.verdict import ask_judge_ahead

if TYPE_CHECKING:
    from collections import deque
    from concurrent.futures import Future
    from contextlib import AbstractContextManager

    from pytest_fcall.core import Reply


Wanted: TypeAlias = Sequence[Question | Conversation]


class JudgePrefetch:
    """Knows the judged items whose answers are under way or there."""

    def __init__(self, config: pytest.Config) -> None:
        named = named_judge(config)
        self._asking = replies(config)
        self._may_ask = named is not None and named.live
        self._waiting: dict[CaseItem, Wanted] = {}

    def expect(self, item: CaseItem, wanted: Wanted) -> None:
        """Know what an item will ask of its model, if a model will judge the answers."""
        if self._may_ask and wanted and isinstance(item.case, Case) and is_judged(item.case):
            self._waiting[item] = wanted

    def ask(self) -> list[Future[Reply]]:
        """Ask about all answers that have come by now. An item none of whose answers will come is let go."""
        begun: list[Future[Reply]] = []
        for item, wanted in [*self._waiting.items()]:
            if any(map(self._asking.is_awaited, wanted)):
                continue
            del self._waiting[item]
            answers = [answer for each in wanted if (answer := self._asking.arrived(each))]
            if len(answers) == len(wanted) and isinstance(item.case, Case):
                # What cannot be asked is for the item itself to say.
                with suppress(pytest.fail.Exception, pytest.skip.Exception):
                    begun += ask_judge_ahead(item, item.case, answers)
        return begun


_WHERE_A_FAILURE_ENDS_IT = 16
"""Under -x and --maxfail few replies should be asked for in vain."""


class Prefetch:
    """Keeps as many requests under way as the limits let, in the order of the items."""

    def __init__(self, session: pytest.Session) -> None:
        self._session = session
        replies(session.config).expect(sum(map(_expected_replies, session.items)))
        self._places = {item: place for place, item in enumerate(session.items)}
        self._queue = _worker_queue(session.config)
        window = share_of_concurrency(session.config)
        self._portion = max(1, window // 4)
        """How many are asked for at a time, for that costs less than one by one."""
        self._reach = 2 * window
        """How many items ahead are looked at."""
        if session.config.getoption("maxfail"):
            self._portion = 1
            self._reach = window = min(window, _WHERE_A_FAILURE_ENDS_IT)
        self._most = window + self._portion - 1
        """How many may be under way: when the next portion is due, as many as may be in flight still are."""
        self._pause = 0
        """How many items may run before it is worth to look again, since all within reach are seen."""
        self._seen: set[int] = set()
        self._waiting: set[Future[Any]] = set()
        self._judge = JudgePrefetch(session.config)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> None:
        """Fill up what is under way, before an item runs."""
        if self._pause:
            self._pause -= 1
        else:
            self._fill(item)
        self._watch(self._judge.ask())

    def _fill(self, item: pytest.Item) -> None:
        upcoming = self._upcoming(self._places[item])
        questions = self._questions(upcoming)
        while (room := self._most - len(self._waiting)) >= self._portion:
            portion = [*islice(questions, room)]
            if not portion:
                self._pause = max(0, min(self._portion, len(upcoming) // 2) - 1)
                return
            self._watch(self._begun(portion))

    def _watch(self, futures: Iterable[Future[Any]]) -> None:
        for future in futures:
            self._waiting.add(future)
            future.add_done_callback(self._waiting.discard)

    def _begun(self, portion: Sequence[Question | Conversation]) -> Sequence[Future[Any]]:
        asking = replies(self._session.config)
        questions = [each for each in portion if isinstance(each, Question)]
        conversations = [each for each in portion if isinstance(each, Conversation)]
        return [*asking.ask_ahead(questions), *asking.converse_ahead(conversations)]

    def _questions(self, places: Iterable[int]) -> Iterator[Question | Conversation]:
        for place in places:
            if place not in self._seen:
                self._seen.add(place)
                item = self._session.items[place]
                if isinstance(item, CaseItem):
                    questions = _questions(item)
                    self._judge.expect(item, questions)
                    yield from questions

    def pytest_keyboard_interrupt(self) -> None:
        """Wait for nothing more."""
        replies(self._session.config).cancel()

    def _upcoming(self, place: int) -> Sequence[int]:
        """The places of the items that this process will run, as far as it knows and not too far ahead."""
        if self._queue is None:
            return range(place, min(place + self._reach, len(self._places)))
        with self._queue.lock() as places:
            return [place, *(each for each in islice(places, self._reach - 1) if isinstance(each, int))]


def _expected_replies(item: pytest.Item) -> int:
    """How many replies it needs, as far as is known."""
    if not isinstance(item, CaseItem) or not isinstance(item.case, Case):
        return 0
    return first_portion(samples_of(item.case, item.config))


def _questions(item: CaseItem) -> Sequence[Question | Conversation]:
    """What an item will ask in any case, if that is known before its fixtures are."""
    if item.named is None or not isinstance(item.case, Case):
        return []
    # What cannot be asked is for the item itself to say.
    with suppress(pytest.fail.Exception, pytest.skip.Exception):
        source = replies(item.config).source(item.named)
        if not source.is_app and _is_plain(item):
            request, asker = planned_request(item, item.case, source.settings), asker_of(item)
            samples = range(first_portion(samples_of(item.case, item.config)))
            requests = [request_of_sample(request, sample) for sample in samples]
            if item.case.mode == "conversation":
                return [Conversation(item.case, source, each, asker) for each in requests]
            return [Question.of(source, each, asker) for each in requests]
    return []


def _is_plain(item: CaseItem) -> bool:
    if item.is_skipped:
        return False
    definitions = getattr(item, "_fixtureinfo").name2fixturedefs.get("fc_model", ())  # noqa: B009  pytest's own
    changed = [each for each in item.ihook.pytest_fcall_request.get_hookimpls() if not _is_ours(each.plugin)]
    return not changed and len(definitions) == 1


def _is_ours(plugin: object) -> bool:
    return getattr(plugin, "__name__", "").startswith("pytest_fcall.")


class _Queue(Protocol):
    def lock(self) -> AbstractContextManager[deque[object]]: ...


def _worker_queue(config: pytest.Config) -> _Queue | None:
    """What a worker of pytest-xdist was told to run; it may be looked at while it is locked."""
    for plugin in config.pluginmanager.get_plugins() if hasattr(config, "workerinput") else ():
        if (queue := getattr(plugin, "torun", None)) is not None and hasattr(queue, "lock"):
            return queue  # type: ignore[no-any-return]
    return None
