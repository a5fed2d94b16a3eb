"""What the proxy adds to a call: the same client and the same server, with and without it between them."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from urllib.parse import urlsplit

from benchmarks.wire import Asking

LATENCY = 0.05
CALLS = {1: 20, 64: 640}
"""How many calls a pass makes, by how many are in flight."""


@dataclass(frozen=True, slots=True)
class Pass:
    """What a call took in one pass, in milliseconds; CPU by process."""

    median: float
    settled: float
    """The median of the second half: the first rounds are those of calls that all begin at the same moment."""
    p95: float
    cpu: dict[str, float]


def proxy(folder: Path, rounds: int) -> None:
    """A call of 50 ms, one at a time and many in flight: without the proxy, with it, and with what it is built on."""
    with ExitStack() as running:
        server = running.enter_context(_process("server", str(LATENCY)))
        between = {
            "aiohttp alone": running.enter_context(_process("aiohttp", server.address)),
            "proxy": running.enter_context(_process("proxy", server.address, str(folder))),
        }
        for in_flight, count in CALLS.items():
            passes: dict[str, list[Pass]] = {name: [] for name in ("direct", *between)}
            for number in range(rounds + 1):
                for name, done in passes.items():
                    way = between.get(name, server)
                    taken = _pass(way.address, count, in_flight, {"server": server, "between": way})
                    if number:
                        done.append(taken)
            print(f"### {count} calls of {LATENCY * 1000:.0f} ms, {in_flight} in flight\n")
            print(_table(passes), "\n")


def _pass(address: str, count: int, in_flight: int, others: dict[str, _Process]) -> Pass:
    parts = urlsplit(address)
    asking = Asking(("127.0.0.1", parts.port or 0), parts.path, count, in_flight)
    before = {"client": time.process_time(), **{name: other.cpu() for name, other in others.items()}}
    asyncio.run(asking.ask())
    after = {"client": time.process_time(), **{name: other.cpu() for name, other in others.items()}}
    taken = [1000 * each for each in asking.seconds]
    cpu = {name: 1000 * (after[name] - before[name]) / count for name in before}
    return Pass(median(taken), median(taken[count // 2 :]), sorted(taken)[int(0.95 * count)], cpu)


def _table(passes: dict[str, list[Pass]]) -> str:
    lines = [
        "| way | median ms | p95 ms | CPU ms a call: client | server | between | added ms | second half |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, mine in passes.items():
        cpu = [f"{median(each.cpu[who] for each in mine):.2f}" for who in ("client", "server", "between")]
        times = [f"{median(getattr(each, what) for each in mine):.1f}" for what in ("median", "p95")]
        pairs = list(zip(passes["direct"], mine, strict=True))
        added = median(each.median - direct.median for direct, each in pairs)
        settled = median(each.settled - direct.settled for direct, each in pairs)
        rest = [""] * 3 if mine is passes["direct"] else [cpu[2], f"{added:.1f}", f"{settled:.1f}"]
        lines.append(f"| {name} | {' | '.join((*times, *cpu[:2], *rest))} |")
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class _Process:
    """One end of the wire."""

    process: subprocess.Popen[str]
    address: str

    def cpu(self) -> float:
        """The CPU seconds that it took so far."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())


@contextmanager
def _process(*arguments: str) -> Iterator[_Process]:
    command = [sys.executable, "-m", "benchmarks.wire", *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        yield _Process(process, process.stdout.readline().strip())
        process.communicate()
