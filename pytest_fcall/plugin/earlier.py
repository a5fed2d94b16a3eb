"""Conversations that come before cases: held once in a process for all cases that share them."""

from __future__ import annotations

from asyncio import wrap_future
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from pytest_fcall.core import Case, Earlier, Reply, Request, canonical, request_digest

if TYPE_CHECKING:
    from pytest_fcall.conversation.earlier import Left
    from pytest_fcall.core import Model
    from pytest_fcall.plugin.lacking import Lacking
    from pytest_fcall.plugin.sources import Question


class Before(NamedTuple):
    """What earlier conversations have left, and what was said in them if they were held for the one who asks."""

    left: Left
    said: Sequence[Reply] = ()


@dataclass(frozen=True, slots=True)
class _Begun:
    """Conversations that a test has begun."""

    nodeid: str
    left: Future[Left] = field(default_factory=Future)


class EarlierConversations:
    """Whoever needs some first holds them, and all others wait, in whatever thread. A failure is everybody's."""

    def __init__(self, lacking: Lacking) -> None:
        self._lacking = lacking
        self._lock = Lock()
        self._begun: dict[tuple[str, ...], _Begun] = {}

    async def of(self, earlier: Earlier, question: Question, hold: Callable[[], Awaitable[Left]]) -> Before:
        """What they have left, for this question. They are held by `hold` where nobody has begun to."""
        __tracebackhide__ = True
        key = _key(earlier, question.model, question.request)
        with self._lock:
            known = self._begun.get(key)
            begun = self._begun[key] = known or _Begun(question.asker.nodeid)
            if not known:
                begun.left.set_running_or_notify_cancel()  # so that nobody who is given up ends it for others
        if known:
            return Before(await self._awaited(known, question))
        try:
            left = await hold()
        except BaseException as error:
            begun.left.set_exception(error)
            raise
        begun.left.set_result(left)
        return Before(left, [step.reply for transcript in left.transcripts for step in transcript.steps])

    async def _awaited(self, begun: _Begun, question: Question) -> Left:
        __tracebackhide__ = True
        try:
            return await wrap_future(begun.left)
        except BaseException:
            self._lacking.likewise(begun.nodeid, question)
            raise


def first_of(case: Case, asked: Request) -> Request:
    """The first request of an earlier conversation: with the settings of what is asked, and for the same sample."""
    from pytest_fcall.cases import plan_request

    return plan_request(case, asked.settings, asked.sample)


def _key(earlier: Earlier, model: Model, asked: Request) -> tuple[str, ...]:
    """Tells what is held before a request from what else may be."""
    firsts = (request_digest(model.id, first_of(case, asked)) for case in earlier.cases)
    return canonical({**model.options}), *firsts
