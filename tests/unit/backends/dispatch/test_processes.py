from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor, wait
from contextlib import closing
from multiprocessing.context import BaseContext
from pathlib import Path

from pytest_fcall.backends.dispatch.dispatcher import Dispatcher
from pytest_fcall.backends.dispatch.job import DispatchLimits
from pytest_fcall.backends.processes.ledger import FileLedger, ledger_path
from tests.unit.backends.dispatch.support import Scripted, busy, job, jobs, nowhere


def ask_many(path: Path, rpm: int, count: int) -> int:
    """Ask for as many replies; return how many came before the rate stopped the rest."""
    backend = Scripted()
    with closing(Dispatcher(DispatchLimits(rpm=rpm, shared=FileLedger(path)), nowhere)) as dispatcher:
        futures = [dispatcher.submit(each) for each in jobs(count, backend)]
        dispatcher.submit(job("a model without a queue", backend, "openai:other")).result(10)
        assert not dispatcher.progress().warning
        sent = backend.asked[:]
        wait(futures[: len(sent) - 1], 10)
    return sum(future.done() and not future.cancelled() for future in futures)


def test_dispatchers_in_several_processes_keep_to_one_rate(tmp_path: Path, processes: BaseContext) -> None:
    with ProcessPoolExecutor(3, mp_context=processes) as pool:
        answered = list(pool.map(ask_many, [tmp_path / "limits.db"] * 3, [70] * 3, [30] * 3))
    assert sum(answered) == 70


def turned_away(path: Path) -> str:
    """Ask a model that wants to be left alone for a while, and give up."""
    backend = Scripted(busy(retry_after=600))
    with closing(Dispatcher(DispatchLimits(shared=FileLedger(path), retries=0), nowhere)) as dispatcher:
        return str(dispatcher.submit(job("x", backend)).exception(10))


def test_what_one_process_is_told_to_wait_holds_for_another(tmp_path: Path, processes: BaseContext) -> None:
    path = tmp_path / "limits.db"
    with ProcessPoolExecutor(1, mp_context=processes) as pool:
        assert pool.submit(turned_away, path).result() == "too many requests"
    backend = Scripted()
    with closing(Dispatcher(DispatchLimits(shared=FileLedger(path)), nowhere)) as dispatcher:
        waiting = dispatcher.submit(job("x", backend))
        assert dispatcher.submit(job("y", backend, "openai:other")).result(10).text == "y"
        assert not waiting.done()
    assert backend.asked == ["y"]
    assert waiting.cancelled()


def test_what_runs_left_long_ago_is_deleted(tmp_path: Path) -> None:
    names = ("limits-old.db", "limits-old.db-journal", "limits-new.db", "replies.db")
    for name in names:
        (tmp_path / name).touch()
        if "new" not in name:
            os.utime(tmp_path / name, (0, 0))
    with closing(FileLedger(ledger_path(tmp_path, "mine"))) as ledger:
        ledger.change("rate", lambda before, _: (before + "1", None))
    assert {path.name for path in tmp_path.glob("*.db")} == {"limits-mine.db", "limits-new.db", "replies.db"}
    assert not (tmp_path / "limits-old.db-journal").exists()
