from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_fcall.backends.local.process_data import ProcessSpec
from pytest_fcall.backends.processes.protocol import new_tokens
from pytest_fcall.core import ModelUnavailable, Reply
from tests.unit.backends.local.asking import ENGINES, Watched, backend, backends, launcher, pid_of, request

pytestmark = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="processes are watched as Linux has it")


def test_a_stranger_at_the_port_is_not_mistaken_for_the_process(tmp_path: Path) -> None:
    async def first() -> None:
        async with backends(tmp_path, 1) as [one]:
            await one.complete(request("x"))

    async def again() -> Reply:
        async with backends(tmp_path, 1) as [one]:
            return await one.complete(request("y"))

    asyncio.run(first())
    [address] = tmp_path.glob("*/address")
    seen = json.loads(address.read_text("ascii"))
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        address.write_text(json.dumps({**seen, "port": stranger.getsockname()[1]}), "ascii")

        def mimic() -> None:
            caller, _ = stranger.accept()
            with caller:
                caller.sendall(caller.recv(64))

        async def both() -> Reply:
            reply, _ = await asyncio.gather(again(), asyncio.to_thread(mimic))
            return reply

        assert asyncio.run(both()).text == "y of y"


def test_who_does_not_know_the_token_is_told_nothing_and_keeps_nothing_alive(tmp_path: Path) -> None:
    async def ask() -> Watched:
        async with backends(tmp_path, 1) as [one]:
            watched = Watched(pid_of(await one.complete(request("x"))))
            [address] = tmp_path.glob("*/address")
            port = json.loads(address.read_text("ascii"))["port"]
            with socket.create_connection(("127.0.0.1", port)) as stranger:
                stranger.sendall(b"x" * 64)
                stranger.settimeout(30)
                assert await asyncio.to_thread(stranger.recv, 64) == b""
            await one.complete(request("y"))
        return watched

    assert asyncio.run(ask()).ends()


@pytest.mark.parametrize("content", ["", "[]", "{", '{"port": 99999999999, "tokens": 1}', '{"port": true}', "[" * 9999])
def test_a_damaged_address_is_made_anew(tmp_path: Path, content: str) -> None:
    found = launcher(tmp_path)
    found.log.parent.mkdir()
    found.log.with_name("address").write_text(content, "ascii")
    with found.connect():
        assert json.loads(found.log.with_name("address").read_text("ascii"))["port"] > 0


@pytest.mark.parametrize("mode", [0o777, 0o755, 0o710])
def test_a_folder_that_others_can_open_is_not_trusted(tmp_path: Path, mode: int) -> None:
    tmp_path.chmod(mode)

    async def ask() -> None:
        await backend(tmp_path).complete(request("x"))

    with pytest.raises(ModelUnavailable, match="must be a folder that only you can open"):
        asyncio.run(ask())


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    async def ask() -> None:
        await backend(tmp_path / "file" / "folder").complete(request("x"))

    with pytest.raises(ModelUnavailable, match="cannot be started"):
        asyncio.run(ask())


def test_a_process_that_nobody_comes_to_ends(tmp_path: Path) -> None:
    order = ProcessSpec(f"{ENGINES}:spelling").to_data()
    told = json.dumps({"spec": order, "tokens": new_tokens().to_data(), "folder": str(tmp_path)})
    code = "from pytest_fcall.backends.local.process import main; main(idle_seconds=0)"
    done = subprocess.run(
        [sys.executable, "-c", code], input=told.encode(), capture_output=True, timeout=60, check=True
    )
    assert int(done.stdout) > 0


def test_a_process_that_does_not_start_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sitecustomize.py").write_text("raise SystemExit('no space left on device')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    async def ask() -> None:
        async with backends(tmp_path / "processes", 1) as [one]:
            await one.complete(request("x"))

    with pytest.raises(ModelUnavailable, match=r"did not start; end of its log: .*no space left on device"):
        asyncio.run(ask())
