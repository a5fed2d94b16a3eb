from __future__ import annotations

import asyncio
import sqlite3
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing.context import BaseContext
from multiprocessing.synchronize import Event
from pathlib import Path

import pytest

from pytest_fcall.backends.dispatch.job import DispatchLimits, SystemClock
from pytest_fcall.backends.dispatch.rate_limits import WINDOW_SECONDS, RateLimits
from pytest_fcall.backends.processes.ledger import FileLedger
from tests.unit.backends.dispatch.support import JumpingClock


def take_many(path: Path, rpm: int, tries: int) -> int:
    """Try to send so often without waiting; return how often that was allowed."""
    rate_limits = RateLimits(DispatchLimits(rpm=rpm, shared=FileLedger(path)), SystemClock())
    try:
        return sum(rate_limits.take("openai:exam", 0).wait == 0 for _ in range(tries))
    finally:
        assert not rate_limits.warning
        rate_limits.close()


def test_threads_share_one_rate(tmp_path: Path) -> None:
    with ThreadPoolExecutor(6) as threads:
        taken = list(threads.map(take_many, [tmp_path / "limits.db"] * 6, [50] * 6, [40] * 6))
    assert sum(taken) == 50


def test_processes_share_one_rate(tmp_path: Path, processes: BaseContext) -> None:
    with ProcessPoolExecutor(3, mp_context=processes) as pool:
        taken = list(pool.map(take_many, [tmp_path / "limits.db"] * 6, [100] * 6, [60] * 6))
    assert sum(taken) == 100


def hammer(path: Path, began: Event) -> None:
    began.set()
    while True:
        take_many(path, 1_000_000, 50)


def test_a_process_that_is_killed_at_any_moment_leaves_the_file_whole(tmp_path: Path, processes: BaseContext) -> None:
    path = tmp_path / "limits.db"
    for pause in (0.0, 0.003, 0.007):
        began = processes.Event()
        process = processes.Process(target=hammer, args=(path, began))  # type: ignore[attr-defined]  # all kinds have it
        process.start()
        began.wait()
        deadline = time.monotonic() + pause
        while time.monotonic() < deadline:
            take_many(path, 1_000_000, 1)
        process.kill()
        process.join()
        assert take_many(path, 1_000_000, 10) == 10
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


def test_a_time_to_wait_holds_for_all_who_share_the_file_and_for_that_model_alone(tmp_path: Path) -> None:
    told, other = (
        RateLimits(DispatchLimits(shared=FileLedger(tmp_path / "limits.db")), SystemClock()) for _ in range(2)
    )
    assert other.take("openai:exam", 0).wait == 0
    told.block("openai:exam", 500)
    assert 400 < other.take("openai:exam", 0).wait <= 500
    assert other.take("openai:other", 0).wait == 0
    told.close()
    other.close()


def test_a_time_to_wait_holds_without_a_file_too() -> None:
    rate_limits = RateLimits(DispatchLimits(), SystemClock())
    rate_limits.block("openai:exam", 500)
    assert 400 < rate_limits.take("openai:exam", 0).wait <= 500


def test_tokens_are_settled_in_the_file(tmp_path: Path) -> None:
    ledgers = (FileLedger(tmp_path / "limits.db") for _ in range(2))
    first, second = (RateLimits(DispatchLimits(tpm=1000, shared=ledger), SystemClock()) for ledger in ledgers)
    wait, taken = first.take("openai:exam", 10)
    assert wait == 0
    first.settle("openai:exam", taken, 990)
    first.settle("openai:exam", taken + 1, 990)
    assert second.take("openai:exam", 1).wait > 0
    first.close()
    second.close()


@pytest.mark.parametrize("content", [b"not a database" * 100, None], ids=["damaged", "a-folder"])
def test_a_file_that_cannot_be_used_leaves_each_process_its_own_limits_and_a_note(
    tmp_path: Path, content: bytes | None
) -> None:
    path = tmp_path / "limits.db"
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)
    rate_limits = RateLimits(DispatchLimits(rpm=3, shared=FileLedger(path)), SystemClock())
    assert [rate_limits.take("openai:exam", 0).wait == 0 for _ in range(4)] == [True, True, True, False]
    assert str(path) in rate_limits.warning
    rate_limits.close()
    assert path.is_dir() or path.read_bytes() == content


def test_a_window_that_somebody_else_wrote_into_the_file_is_a_new_one(tmp_path: Path) -> None:
    path = tmp_path / "limits.db"
    assert take_many(path, 3, 5) == 3
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE texts SET text = 'nonsense'")
    connection.close()
    assert take_many(path, 3, 5) == 3


def test_of_several_requests_none_is_admitted_after_one_that_has_to_wait_for_a_moment() -> None:
    clock = JumpingClock()
    limits = RateLimits(DispatchLimits(rpm=1), clock)
    limits.take("openai:exam", 0)
    clock.now += WINDOW_SECONDS - 0.5
    (admission,) = asyncio.run(limits.take_all("openai:exam", [0, 0]))
    assert admission.wait == 0.5
