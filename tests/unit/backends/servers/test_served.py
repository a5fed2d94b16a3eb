"""A real server, started and stopped."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
from contextlib import suppress
from pathlib import Path

import pytest

from pytest_fcall.backends.openai import openai_backend
from pytest_fcall.backends.servers.command import Command
from pytest_fcall.backends.servers.keeper import start_server
from pytest_fcall.backends.settings import SettingsError
from pytest_fcall.core import CaseRefused, Message, Model, ModelUnavailable, Reply, Request, Unanswered
from tests.unit.backends.local.asking import ROOT, Watched
from tests.unit.backends.servers.asking import backends, little, request, started
from tests.unit.backends.servers.little import DIE, WHO

pytestmark = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="processes are watched as Linux has it")


def test_one_server_answers_all_and_ends_with_the_last_and_with_what_it_has_started(tmp_path: Path) -> None:
    pids = tmp_path / "pids"

    async def ask() -> list[list[Watched]]:
        async with backends(little("--pids", pids), 3) as workers:
            replies = await asyncio.gather(*(each.complete(request(WHO)) for each in workers))
            assert len({reply.text for reply in replies}) == 1
            watched = started(pids)
            await workers[0].close()
            assert (await workers[1].complete(request("x"))).text == "You said: x"
        return watched

    [[server, child]] = asyncio.run(ask())
    assert server.ends()
    assert child.ends()


def keeper_of(pids: Path) -> int:
    """The process that has started the server."""
    server = pids.read_text("ascii").split()[0]
    [told] = [line for line in Path(f"/proc/{server}/status").read_text().splitlines() if line.startswith("PPid:")]
    return int(told.split()[1])


def test_it_ends_with_all_that_it_has_started_when_who_keeps_it_is_killed(tmp_path: Path) -> None:
    pids = tmp_path / "pids"

    async def ask() -> list[list[Watched]]:
        async with backends(little("--pids", pids)) as [one]:
            await one.complete(request("x"))
            watched = started(pids)
            os.kill(keeper_of(pids), signal.SIGKILL)
            return watched

    [[server, child]] = asyncio.run(ask())
    assert server.ends()
    assert child.ends()


def asked_of(command: str, text: str = "x", **options: str) -> Reply:
    async def ask() -> Reply:
        async with backends(command, 1, **options) as [one]:
            return await one.complete(request(text))

    return asyncio.run(ask())


def test_a_reply_tells_what_served_it() -> None:
    about = asked_of(little()).engine
    assert str(about["served_by"]).startswith("python")
    assert about["version"] == "1.2.3"


def test_a_server_that_says_no_version_and_has_no_health_is_asked_as_well() -> None:
    assert "version" not in asked_of(little("--version", "?", "--health", "404")).engine


def test_nothing_is_asked_before_the_server_is_ready(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)

    async def ask() -> Reply:
        async with backends(little("--waits", gate)) as [one]:
            asked = asyncio.create_task(one.complete(request("x")))
            await asyncio.to_thread(gate.write_bytes, b"")
            return await asked

    reply = asyncio.run(ask())
    assert reply.text == "You said: x"


def test_a_server_that_fails_is_told_with_the_end_of_its_log() -> None:
    told = r"^openai:exam: the server ended with status 3 before it was ready; end of its log: starting / CUDA out of"
    with pytest.raises(ModelUnavailable, match=told):
        asked_of(little("--says", "CUDA out of memory"))


def test_all_who_ask_hear_of_the_failure_of_one_server(tmp_path: Path) -> None:
    pids = tmp_path / "pids"

    async def ask() -> list[Reply | BaseException]:
        async with backends(little("--pids", pids, "--says", "no GPU"), 2) as workers:
            at_once = [each.complete(request("x")) for each in (*workers, *workers)]
            return await asyncio.gather(*at_once, return_exceptions=True)

    for failure in asyncio.run(ask()):
        assert isinstance(failure, ModelUnavailable)
        assert "no GPU" in str(failure)
    [[_, child]] = started(pids)
    assert child.ends()


def test_a_key_in_the_log_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "very-secret-key")
    with pytest.raises(ModelUnavailable) as raised:
        asked_of(little("--says", "api_key=very-secret-key"))
    assert "api_key=…" in str(raised.value)


def test_a_program_that_is_not_installed_is_named() -> None:
    with pytest.raises(ModelUnavailable, match=r"program 'no-such-vllm' \(`serve`\) not found; is it installed\?"):
        asked_of("no-such-vllm serve --port {port}")


def test_a_program_that_cannot_be_run_is_told(tmp_path: Path) -> None:
    (tmp_path / "vllm").touch()
    with pytest.raises(ModelUnavailable, match=r"the server 'vllm' cannot be started: .*Permission denied"):
        asked_of(f"{tmp_path / 'vllm'} --port {{port}}")


def test_a_server_that_is_never_ready_is_given_up() -> None:
    with pytest.raises(ModelUnavailable, match=r"not ready within 0\.01 s \(`serve_timeout`\)"):
        asked_of(little("--health", "503"), serve_timeout="0.01")


def test_a_server_that_is_stopped_leaves_nothing_behind(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    words = shlex.split(little("--pids", pids))

    async def begin_and_stop() -> str:
        running = await start_server(Command(words, "http://127.0.0.1:{port}/v1", ROOT))
        await running.ready()
        [[_, child]] = started(pids)
        await running.stop()
        assert await asyncio.to_thread(child.ends)
        return await running.ended()

    assert asyncio.run(begin_and_stop()) == "the server was ended by signal 15"


def test_a_server_that_ends_in_the_middle_is_told_and_not_started_again(tmp_path: Path) -> None:
    pids = tmp_path / "pids"

    async def ask() -> None:
        async with backends(little("--pids", pids)) as [one]:
            await one.complete(request("x"))
            [[_, child]] = started(pids)
            with pytest.raises(Unanswered):
                await one.complete(request(DIE))
            assert await asyncio.to_thread(child.ends)
            while True:  # until the news has come
                with suppress(Unanswered):
                    await one.complete(request("y"))

    with pytest.raises(ModelUnavailable, match=r"the server ended with status 7; .*illegal instruction"):
        asyncio.run(ask())
    assert len(pids.read_text("ascii").splitlines()) == 1


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"serve": "vllm serve"}, "`serve` must be a command such as"),
        ({"serve": "s {port}", "base_url": "http://127.0.0.1:8000/v1"}, "`base_url` must contain {port}"),
        ({"serve": "s {port}", "base_url": "https://127.0.0.1:{port}/v1"}, "`base_url` must contain {port}"),
        ({"serve": "s {port}", "base_url": "http://x/{port}"}, "`base_url` must contain {port}"),
        ({"serve": "s {port}", "serve_timeout": "0"}, "`serve_timeout` must be a positive number of seconds"),
    ],
)
def test_what_cannot_be_served_is_told_before_anything_is_started(options: dict[str, str], told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        openai_backend(Model("openai", "exam", options), Path())


def test_a_case_starts_nothing() -> None:
    async def ask() -> None:
        message: Message = {"role": "user", "content": "x"}
        async with backends(little()) as [one]:
            await one.complete(Request((message,), settings={"serve": "rm {port}"}))

    with pytest.raises(CaseRefused, match="`serve` cannot be set by a case"):
        asyncio.run(ask())
