"""Real processes, and what happens when one of them is gone."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from pytest_fcall.backends.local.backend import LocalBackend
from pytest_fcall.core import CaseRefused, Reply, Request, Usage
from tests.unit.backends.local.asking import ENGINES, ROOT, Watched, backends, pid_of, request
from tests.unit.backends.local.engines import HANG, HELD, REFUSED

pytestmark = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="processes are watched as Linux has it")


def client(folder: Path, *texts: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.unit.backends.local.client", str(folder), *texts],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def said(process: subprocess.Popen[str]) -> list[object]:
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, process.communicate()[1]
    found = json.loads(line)
    assert isinstance(found, list)
    return found


def pid_said(process: subprocess.Popen[str]) -> int:
    _, pid = said(process)
    assert isinstance(pid, int)
    return pid


def test_a_reply_tells_all_that_the_model_told(tmp_path: Path) -> None:
    async def ask() -> Reply:
        async with backends(tmp_path, 1, dtype="float32") as [one]:
            return await one.complete(request("häm \ud800\0"))

    reply = asyncio.run(ask())
    assert reply == Reply(
        "häm \ud800\0 of häm \ud800\0",
        usage=Usage(6, 1),
        seconds=0.5,
        engine={"pid": pid_of(reply), "dtype": "float32", "notes": ["said as it is"]},
    )


def test_one_process_answers_all_and_ends_with_the_last(tmp_path: Path) -> None:
    async def ask() -> Watched:
        async with backends(tmp_path, 3) as workers:
            replies = await asyncio.gather(*(each.complete(request("x")) for each in workers))
            [pid] = {pid_of(reply) for reply in replies}
            watched = Watched(pid)
            await workers[0].close()
            assert pid_of(await workers[1].complete(request("y"))) == pid
        return watched

    assert asyncio.run(ask()).ends()


def test_other_options_are_another_process(tmp_path: Path) -> None:
    async def ask() -> list[Reply]:
        async with backends(tmp_path, 1) as [one], backends(tmp_path, 1, dtype="bfloat16") as [other]:
            return [await each.complete(request("x")) for each in (one, other)]

    plain, other = asyncio.run(ask())
    assert pid_of(plain) != pid_of(other)


async def begun(worker: LocalBackend, asked: Request) -> asyncio.Task[Reply]:
    """Ask, and go on once the process has been told: it refuses at once what was asked after that."""
    task = asyncio.create_task(worker.complete(asked))
    await asyncio.sleep(0)
    with pytest.raises(CaseRefused):
        await worker.complete(request(REFUSED))
    return task


def test_batches_fill_across_workers(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)

    async def ask() -> list[str]:
        async with backends(tmp_path / "processes", 2) as workers:
            held = await begun(workers[0], request(f"{HELD}{gate}", batch="its own"))
            asked = [await begun(worker, request(text)) for worker, text in zip(workers, "ab", strict=True)]
            await asyncio.to_thread(gate.write_bytes, b"")
            await held
            return [(await each).text for each in asked]

    assert asyncio.run(ask()) == ["a of a+b", "b of a+b"]


def test_workers_in_processes_of_their_own_share_it_and_import_no_engine(tmp_path: Path) -> None:
    with ExitStack() as stack:
        workers = [stack.enter_context(client(tmp_path, "x")) for _ in range(3)]
        [pid] = {pid_said(worker) for worker in workers}
        for worker in workers:
            assert not {ENGINES, "torch", "transformers"} & set(map(str, said(worker)))
        watched = Watched(pid)
        for worker in workers:
            assert worker.communicate("", timeout=60) == ("", "")
    assert watched.ends()


def test_it_ends_with_a_worker_that_is_killed(tmp_path: Path) -> None:
    with client(tmp_path, "x") as worker:
        watched = Watched(pid_said(worker))
        worker.kill()
        assert watched.ends()


def test_it_ends_in_the_middle_of_its_work_when_nobody_is_left(tmp_path: Path) -> None:
    with client(tmp_path, "x", HANG) as worker:
        watched = Watched(pid_said(worker))
        worker.kill()
        assert watched.ends()


def test_it_outlives_the_worker_that_started_it_while_another_needs_it(tmp_path: Path) -> None:
    async def ask() -> Watched:
        async with backends(tmp_path, 1) as [staying]:
            with client(tmp_path, "x") as first:
                pid = pid_said(first)
                assert pid_of(await staying.complete(request("y"))) == pid
                first.kill()
            assert pid_of(await staying.complete(request("z"))) == pid
            return Watched(pid)

    assert asyncio.run(ask()).ends()


def test_a_request_that_is_given_up_leaves_its_batch(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)

    async def ask() -> str:
        async with backends(tmp_path / "processes", 1) as [one]:
            held = await begun(one, request(f"{HELD}{gate}", batch="its own"))
            given_up = await begun(one, request("given up"))
            given_up.cancel()
            await asyncio.gather(given_up, return_exceptions=True)
            last = await begun(one, request("last"))
            await asyncio.to_thread(gate.write_bytes, b"")
            await held
            return (await last).text

    assert asyncio.run(ask()) == "last of last"
