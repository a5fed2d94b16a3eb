"""Work for a server that is gathered while the server is waited for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from functools import partial
from threading import Event

import pytest

from pytest_fcall.backends.store.postgres.store_thread import GatheredWork, StoreThread, WorkOutcome

_PATIENCE = 20


class Server:
    """Takes its time: the first work ends when `answer` is set."""

    def __init__(self) -> None:
        self.seen: list[list[int]] = []
        self.asked, self.answer = Event(), Event()
        self.thread = StoreThread()
        self.work: GatheredWork[int] = GatheredWork(self.thread, self._divide)

    def _divide(self, numbers: Sequence[int]) -> Sequence[WorkOutcome]:
        self.seen.append([*numbers])
        self.asked.set()
        assert self.answer.wait(_PATIENCE)
        if 13 in numbers:
            raise ConnectionError("the connection is lost")
        return [partial(divmod, 60, number) for number in numbers]


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.answer.set()
    server.thread.close()


def test_what_comes_while_the_server_is_waited_for_is_done_together_next(server: Server) -> None:
    first = server.work.submit(1)
    assert server.asked.wait(_PATIENCE)
    others = [server.work.submit(number) for number in (2, 3, 4)]
    server.answer.set()
    assert [each.result(_PATIENCE) for each in (first, *others)] == [(60, 0), (30, 0), (20, 0), (15, 0)]
    assert server.seen == [[1], [2, 3, 4]]


def test_an_error_of_one_piece_is_that_of_nobody_else(server: Server) -> None:
    server.answer.set()
    futures = [server.work.submit(number) for number in (1, 0, 2)]
    assert isinstance(futures[1].exception(_PATIENCE), ZeroDivisionError)
    assert (futures[0].result(_PATIENCE), futures[2].result(_PATIENCE)) == ((60, 0), (30, 0))


def test_an_error_of_the_server_is_that_of_all_who_wait_and_of_no_later_one(server: Server) -> None:
    first = server.work.submit(1)
    assert server.asked.wait(_PATIENCE)
    lost = [server.work.submit(number) for number in (2, 13)]
    server.answer.set()
    assert first.result(_PATIENCE) == (60, 0)
    assert [str(each.exception(_PATIENCE)) for each in lost] == ["the connection is lost"] * 2
    assert server.work.do(4) == (15, 0)


def test_what_is_given_up_before_it_begins_is_not_done(server: Server) -> None:
    first = server.work.submit(1)
    assert server.asked.wait(_PATIENCE)
    given_up, last = server.work.submit(2), server.work.submit(3)
    assert given_up.cancel()
    assert not first.cancel()
    server.answer.set()
    assert last.result(_PATIENCE) == (20, 0)
    assert server.seen == [[1], [3]]
    with pytest.raises(CancelledError):
        given_up.result(_PATIENCE)


def test_whoever_ends_the_thread_waits_for_what_was_submitted_and_may_go_on(server: Server) -> None:
    server.answer.set()
    future = server.work.submit(5)
    server.thread.close()
    assert future.done()
    assert server.work.do(6) == (10, 0)
