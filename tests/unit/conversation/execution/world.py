"""What stands behind the tools in tests."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any


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


def greet(port: int) -> str:
    with socket.create_connection(("127.0.0.1", port), 5) as connection:
        connection.sendall(b"hello")
    return "done"


def ever() -> None:
    while True:
        pass
