"""What processes count together, in a file or on a server, and alone."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing, contextmanager
from multiprocessing.context import BaseContext

import pytest

from pytest_fcall.backends.budget import Budget, OverBudget
from pytest_fcall.backends.dispatch.job import DispatchLimits, SystemClock
from pytest_fcall.backends.dispatch.rate_limits import RateLimits
from pytest_fcall.backends.processes.ledger import LedgerError
from pytest_fcall.backends.store import ReplyStore
from pytest_fcall.backends.store.address import StorePlace
from tests.unit.backends.store.entries import argument_of, place_of


def count_up(argument: str, times: int) -> None:
    with closing(ReplyStore(place_of(argument))) as store:
        ledger = store.ledger("run")
        for _ in range(times):
            ledger.change("count", lambda text, _: (str(int(text or 0) + 1), None))
        ledger.close()


def test_a_text_that_nobody_has_written_is_empty(place: StorePlace) -> None:
    with closing(ReplyStore(place)) as store, closing(store.ledger("run")) as ledger:
        assert ledger.read("count")[0] == ""
        assert ledger.change("count", lambda text, _: ("1", f"was {text!r}")) == "was ''"
        assert ledger.change("other", lambda text, _: (text, text)) == ""
        assert ledger.read("count")[0] == "1"


def test_no_change_of_another_process_or_thread_is_lost(place: StorePlace, processes: BaseContext) -> None:
    count_up(argument_of(place), 1)
    with ProcessPoolExecutor(2, mp_context=processes) as others, ThreadPoolExecutor(2) as threads:
        counting = [pool.submit(count_up, argument_of(place), 30) for pool in (others, threads) for _ in range(2)]
        assert [each.result() for each in counting] == [None] * 4
    with closing(ReplyStore(place)) as store, closing(store.ledger("run")) as ledger:
        assert ledger.read("count")[0] == "121"


def test_a_change_that_raises_changes_nothing(place: StorePlace) -> None:
    def refuse(text: str, now: float) -> tuple[str, None]:
        raise ZeroDivisionError

    with closing(ReplyStore(place)) as store, closing(store.ledger("run")) as ledger:
        ledger.change("count", lambda *_: ("1", None))
        with pytest.raises(ZeroDivisionError):
            ledger.change("count", refuse)
        assert ledger.change("count", lambda text, _: (text, text)) == "1"


@contextmanager
def limited(place: StorePlace) -> Iterator[Callable[[], float]]:
    """A host with `--fc-rpm=5`: how long it has to wait for its next request."""
    with (
        closing(ReplyStore(place)) as store,
        closing(RateLimits(DispatchLimits(rpm=5, shared=store.ledger("run")), SystemClock())) as limits,
    ):
        yield lambda: limits.take("openai:exam", 0).wait


def test_hosts_share_one_rate(place: StorePlace) -> None:
    with limited(place) as first, limited(place) as second:
        assert [first(), second(), first(), second(), second()] == [0] * 5
        assert first() > 0
        assert second() > 0


def test_a_time_to_wait_holds_for_hosts_without_limits_too(place: StorePlace) -> None:
    with closing(ReplyStore(place)) as one, closing(ReplyStore(place)) as two:
        told = RateLimits(DispatchLimits(shared=one.ledger("run")), SystemClock())
        other = RateLimits(DispatchLimits(shared=two.ledger("run")), SystemClock())
        told.block("openai:exam", 500)
        with closing(one.ledger("run")) as ledger:
            ledger.change("after it", lambda text, _: (text, None))  # where nobody waits for what is told
        assert 400 < other.take("openai:exam", 0).wait <= 500
        assert other.take("openai:other", 0).wait == 0
        assert not told.warning + other.warning
        told.close()
        other.close()


def test_hosts_share_a_budget(place: StorePlace) -> None:
    with closing(ReplyStore(place)) as one, closing(ReplyStore(place)) as two:
        first, second = (Budget(1, store.ledger("run"), "budget of run") for store in (one, two))
        number = first.hold(0.6, "it")
        assert second.hold(0.6, "it") is None
        assert number is not None
        first.settle(number, 0.5)
        with pytest.raises(OverBudget):
            second.hold(0.6, "it")
        assert second.spent == 0.5
        first.close()
        second.close()


def test_the_time_is_that_of_the_store(place: StorePlace) -> None:
    with closing(ReplyStore(place)) as store, closing(store.ledger("run")) as ledger:
        told = ledger.change("count", lambda _, now: (json.dumps(now), now))
        assert told <= store.now() + 0.001
        assert ledger.read("count")[1] >= told


@pytest.mark.skipif(sys.platform == "win32", reason="folders that are files")
def test_what_cannot_be_counted_is_told(place: StorePlace) -> None:
    if "postgresql" in argument_of(place):
        place = place_of("postgresql://nobody@127.0.0.1:1/none?project=x&connect_timeout=2")
    else:
        place = place_of("/dev/null/replies.db")
    ledger = ReplyStore(place).ledger("run")
    with pytest.raises(LedgerError):
        ledger.change("count", lambda text, _: (text, None))
