from __future__ import annotations

import asyncio
from collections.abc import Sequence
from threading import Event, Thread, current_thread

import pytest

from pytest_fcall.backends.dispatch.group_writer import GroupWriter
from pytest_fcall.backends.dispatch.job import AnsweredJob
from pytest_fcall.backends.store import StoreError
from pytest_fcall.core import Reply
from tests.unit.backends.dispatch.support import Scripted, job


def texts(arrivals: Sequence[AnsweredJob]) -> list[str | None]:
    return [reply.text for _, reply in arrivals]


async def handed_on(arrivals: GroupWriter[AnsweredJob], *names: str) -> list[BaseException | None]:
    backend = Scripted()
    return await asyncio.gather(
        *(arrivals.write((job(name, backend), Reply(text=name))) for name in names), return_exceptions=True
    )


class OtherMachine:
    """Keeps what it is asked to once it may answer, but nothing bad."""

    def __init__(self) -> None:
        self.seen: list[list[str | None]] = []
        self.asked, self.answer = Event(), Event()

    def keep(self, arrivals: Sequence[AnsweredJob]) -> None:
        self.seen.append(texts(arrivals))
        self.asked.set()
        assert self.answer.wait(20)
        if "bad" in texts(arrivals):
            raise StoreError("JSON cannot say this")


def test_what_arrives_together_is_handed_on_together() -> None:
    seen: list[list[str | None]] = []
    assert asyncio.run(handed_on(GroupWriter(lambda each: seen.append(texts(each))), "a", "b", "c")) == [
        None,
        None,
        None,
    ]
    assert seen == [["a", "b", "c"]]


def test_who_waits_for_no_other_machine_is_handed_replies_in_the_thread_of_the_loop() -> None:
    threads: list[Thread] = []
    asyncio.run(handed_on(GroupWriter(lambda _: threads.append(current_thread())), "a"))
    asyncio.run(handed_on(GroupWriter(lambda _: threads.append(current_thread()), remote=True), "a"))
    assert [each is current_thread() for each in threads] == [True, False]


def test_what_arrives_later_is_handed_on_later() -> None:
    seen: list[list[str | None]] = []

    async def story() -> None:
        arrivals: GroupWriter[AnsweredJob] = GroupWriter(lambda each: seen.append(texts(each)))
        await handed_on(arrivals, "a", "b")
        await handed_on(arrivals, "c")

    asyncio.run(story())
    assert seen == [["a", "b"], ["c"]]


def test_no_reply_suffers_for_another_that_cannot_be_kept() -> None:
    kept: list[str | None] = []

    def keep(arrivals: Sequence[AnsweredJob]) -> None:
        if "bad" in texts(arrivals):
            raise StoreError("JSON cannot say this")
        kept.extend(texts(arrivals))

    first, bad, last = asyncio.run(handed_on(GroupWriter(keep), "first", "bad", "last"))
    assert (first, last) == (None, None)
    assert isinstance(bad, StoreError)
    assert kept == ["first", "last"]


def test_one_that_cannot_be_kept_is_not_tried_twice() -> None:
    tried: list[list[str | None]] = []

    def keep(arrivals: Sequence[AnsweredJob]) -> None:
        tried.append(texts(arrivals))
        raise StoreError("no space left")

    [error] = asyncio.run(handed_on(GroupWriter(keep), "a"))
    assert isinstance(error, StoreError)
    assert tried == [["a"]]


def test_a_reply_that_is_there_is_handed_on_even_if_nobody_waits_any_more() -> None:
    seen: list[list[str | None]] = []

    async def story() -> None:
        arrivals: GroupWriter[AnsweredJob] = GroupWriter(lambda each: seen.append(texts(each)))
        waiting = [asyncio.ensure_future(arrivals.write((job(each, Scripted()), Reply(text=each)))) for each in "ab"]
        await asyncio.sleep(0)
        waiting[0].cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting[0]
        await waiting[1]

    asyncio.run(story())
    assert seen == [["a", "b"]]


def test_what_comes_while_another_machine_writes_is_written_together_next_and_the_loop_goes_on() -> None:
    machine = OtherMachine()

    async def story() -> None:
        arrivals: GroupWriter[AnsweredJob] = GroupWriter(machine.keep, remote=True)
        first = asyncio.ensure_future(handed_on(arrivals, "a"))
        assert await asyncio.to_thread(machine.asked.wait, 20)
        others = asyncio.ensure_future(handed_on(arrivals, "b", "bad", "c"))
        await asyncio.sleep(0)
        assert not first.done()
        machine.answer.set()
        assert await first == [None]
        (good, bad, last) = await others
        assert (good, last) == (None, None)
        assert isinstance(bad, StoreError)

    asyncio.run(story())
    assert machine.seen == [["a"], ["b", "bad", "c"], ["b"], ["bad"], ["c"]]


def test_another_machine_writes_one_thing_at_a_time() -> None:
    machine = OtherMachine()

    async def story() -> None:
        arrivals: GroupWriter[AnsweredJob] = GroupWriter(machine.keep, 0, remote=True)
        first = asyncio.ensure_future(handed_on(arrivals, "a"))
        assert await asyncio.to_thread(machine.asked.wait, 20)
        second = asyncio.ensure_future(handed_on(arrivals, "b"))
        for _ in range(3):  # threads begin in the order in which they were asked for
            await asyncio.to_thread(str)
        assert machine.seen == [["a"]]
        machine.answer.set()
        assert [*await asyncio.gather(first, second)] == [[None], [None]]
        assert await handed_on(arrivals, "c") == [None]

    asyncio.run(story())
    assert machine.seen == [["a"], ["b"], ["c"]]


def test_what_waits_for_another_machine_is_written_at_the_end() -> None:
    machine = OtherMachine()

    async def story() -> None:
        arrivals: GroupWriter[AnsweredJob] = GroupWriter(machine.keep, remote=True)
        both = [asyncio.ensure_future(handed_on(arrivals, "a"))]
        assert await asyncio.to_thread(machine.asked.wait, 20)
        both.append(asyncio.ensure_future(handed_on(arrivals, "b")))
        for _ in range(3):
            await asyncio.sleep(0)
        machine.answer.set()
        arrivals.flush()
        assert machine.seen == [["a"], ["b"]]
        assert await asyncio.gather(*both) == [[None], [None]]

    asyncio.run(story())
