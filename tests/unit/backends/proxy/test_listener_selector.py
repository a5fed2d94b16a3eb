"""Few things at a time, and each in its turn."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack
from selectors import EVENT_READ, EVENT_WRITE
from socket import socket, socketpair

import pytest

from pytest_fcall.backends.proxy.listener import FewAtOnceSelector

MANY = 10


@pytest.fixture
def selector() -> Iterator[FewAtOnceSelector]:
    with FewAtOnceSelector() as selector:
        yield selector


@pytest.fixture
def ready(selector: FewAtOnceSelector) -> Iterator[list[socket]]:
    """Sockets that `selector` watches, and that have something to read."""
    with ExitStack() as opened:
        pairs = [tuple(map(opened.enter_context, socketpair())) for _ in range(MANY)]
        for ours, theirs in pairs:
            theirs.send(b"x")
            selector.register(ours, EVENT_READ)
        yield [ours for ours, _ in pairs]


def told(selector: FewAtOnceSelector) -> list[object]:
    return [key.fileobj for key, _ in selector.select(0)]


def test_what_is_ready_is_told_by_and_by_and_each_once_before_any_twice(
    selector: FewAtOnceSelector, ready: list[socket]
) -> None:
    turns = [told(selector) for _ in range(5)]

    assert [len(turn) for turn in turns] == [2] * 5
    assert {each for turn in turns for each in turn} == set(ready)


def test_what_is_ready_again_waits_until_all_others_had_their_turn(
    selector: FewAtOnceSelector, ready: list[socket]
) -> None:
    first = told(selector)  # nothing is read, so that all of it stays ready

    assert not set(first) & {each for _ in range(4) for each in told(selector)}


def test_a_socket_that_was_closed_meanwhile_is_not_told(selector: FewAtOnceSelector, ready: list[socket]) -> None:
    left = set(ready) - {*told(selector)}
    for each in left:
        selector.unregister(each)
        each.close()

    assert told(selector) == []


def test_a_socket_that_is_waited_for_otherwise_meanwhile_is_told_of_that(
    selector: FewAtOnceSelector, ready: list[socket]
) -> None:
    left = set(ready) - {*told(selector)}
    for each in left:
        selector.modify(each, EVENT_WRITE)
    events = [event for _ in range(MANY) for key, event in selector.select(0) if key.fileobj in left]

    assert events
    assert set(events) == {EVENT_WRITE}


def test_who_waits_is_told_as_soon_as_there_is_something(selector: FewAtOnceSelector) -> None:
    ours, theirs = socketpair()
    with ours, theirs:
        selector.register(ours, EVENT_READ)
        assert selector.select(0) == []
        theirs.send(b"x")

        assert [key.fileobj for key, _ in selector.select(None)] == [ours]


def test_a_loop_that_takes_things_in_turn_answers_who_came_first_before_it_hears_who_came_last() -> None:
    order: list[str] = []

    async def answered(name: int, ours: socket) -> None:
        loop = asyncio.get_running_loop()
        await loop.sock_recv(ours, 1)
        order.append(f"heard {name}")
        await asyncio.sleep(0)
        order.append(f"answered {name}")

    async def all_answered() -> None:
        with ExitStack() as opened:
            pairs = [tuple(map(opened.enter_context, socketpair())) for _ in range(64)]
            for ours, _ in pairs:
                ours.setblocking(False)
            tasks = [asyncio.create_task(answered(name, ours)) for name, (ours, _) in enumerate(pairs)]
            await asyncio.sleep(0)
            for _, theirs in pairs:
                theirs.send(b"x")
            await asyncio.gather(*tasks)

    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(FewAtOnceSelector())) as runner:
        runner.run(all_answered())

    first_answer = next(place for place, step in enumerate(order) if step.startswith("answered"))
    assert first_answer < 16
    assert len(order) == 128
