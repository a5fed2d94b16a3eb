from __future__ import annotations

import sqlite3
from multiprocessing.context import BaseContext
from pathlib import Path

import pytest

from pytest_fcall.backends.processes.locks import hold_lock


def take(path: Path) -> None:
    with hold_lock(path, 0):
        pass


def test_a_lock_stays_although_another_thread_of_its_process_asks_for_it(
    tmp_path: Path, processes: BaseContext
) -> None:
    path = tmp_path / "lock"
    with hold_lock(path, 0), processes.Pool(1) as others:
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            take(path)
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            others.apply(take, (path,))
