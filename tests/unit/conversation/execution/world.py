"""What stands behind the tools in tests."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo


class Shop:
    """Sells, and keeps account of it."""

    currency = "EUR"

    def __init__(self, stock: int = 3, *, label: str = "shop") -> None:
        self.stock = stock
        self.label = label
        self.sold: list[dict[str, int]] = []
        self._till = 0
        self._lock: asyncio.Lock | None = None

    @property
    def is_empty(self) -> bool:
        return self.stock == 0

    def buy(self, number: int) -> dict[str, int]:
        if number > self.stock:
            raise ValueError(f"there are only {self.stock}")
        self.stock -= number
        self.sold.append({"number": number})
        sys.stdout.write(f"sold {number}\n")
        return {"left": self.stock}

    async def order(self, number: int) -> dict[str, int]:
        """Wait on what belongs to the loop of the first call."""
        self._lock = self._lock or asyncio.Lock()
        async with self._lock:
            await asyncio.sleep(0)
            return self.buy(number)


async def opened_shop(stock: int) -> Shop:
    await asyncio.sleep(0)
    return Shop(stock, label="opened")


def shelf() -> dict[str, Any]:
    """An environment whose tools are keys of a mapping, and of an object in it."""
    return {"shop": Shop(), "double": double, "size": 2, "odd name": 1}


def double(value: int) -> int:
    return value * 2


def broken() -> Shop:
    raise RuntimeError("no shop today")


def variable(name: str) -> str | None:
    return os.environ.get(name)


def contents(path: str) -> str:
    return Path(path).read_text()


def scribble() -> str:
    Path("note").write_text("here")
    return str(Path("note").resolve())


def children() -> list[int]:
    """Start a child and a grandchild that would stay for an hour."""
    code = "import subprocess, sys, time; print(subprocess.Popen(sys.argv[1:]).pid, flush=True); time.sleep(3600)"
    sleep = [sys.executable, "-c", "import time; time.sleep(3600)"]
    child = subprocess.Popen([sys.executable, "-c", code, *sleep], stdout=subprocess.PIPE, text=True)
    assert child.stdout
    return [child.pid, int(child.stdout.readline())]


def children_and_then_on() -> None:
    sys.stdout.write(f"{children()}")
    sys.stdout.flush()
    ever()


def leave_with_a_session_of_its_own() -> int:
    return subprocess.Popen([sys.executable, "-c", ""], start_new_session=True).pid


def greet(port: int) -> str:
    with socket.create_connection(("127.0.0.1", port), 5) as connection:
        connection.sendall(b"hello")
    return "done"


async def threads() -> list[int]:
    with ThreadPoolExecutor(2) as pool:
        return [*pool.map(abs, [-1, -2]), await asyncio.to_thread(abs, -3)]


def database() -> list[Any]:
    with closing(sqlite3.connect("numbers")) as connection:
        connection.executescript("create table number (n); insert into number values (1)")
        return connection.execute("select n from number").fetchall()


def temporary_files() -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        first = Path(folder, "a")
        first.write_text("x")
        shutil.copy(first, first.with_name("b"))
        return sorted(path.name for path in Path(folder).iterdir())


def clocks() -> str:
    return datetime(2026, 1, 1, tzinfo=ZoneInfo("Europe/Oslo")).isoformat()[-6:]


def random_numbers() -> int:
    return len(os.urandom(16))


def ever() -> None:
    while True:
        pass


def nothing() -> None:
    """A factory in which the `return` was forgotten."""
