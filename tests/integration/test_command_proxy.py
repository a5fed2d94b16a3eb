"""An app that was started by hand is recorded by the runs that ask it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from pytest_fcall.backends.proxy.announcements import announce, announced_proxies
from tests.integration.command import fcall
from tests.integration.conftest import Shop
from tests.integration.exam import prompt_of, weather_in
from tests.integration.test_model_http import APP
from tests.servers import Answer, Server, chat
from tests.servers.faults import refused_connection


@contextmanager
def started_by_hand(folder: Path, passes_on: str = "x-fcall-case", *options: str, **environment: str) -> Iterator[str]:
    """An app behind `fcall proxy`; gives the address of its chat."""
    port = refused_connection().split(":")[2].removesuffix("/v1")
    command = [sys.executable, "-m", "pytest_fcall.cli", "proxy", *options, "--"]
    command += [sys.executable, "app.py", passes_on]
    with subprocess.Popen(command, cwd=folder, env={**os.environ, **environment, "PORT": port}) as running:
        url = f"http://127.0.0.1:{port}"
        try:
            _wait_for(url, running)
            yield f"{url}/chat"
        finally:
            running.terminate()
            running.wait(30)


def _wait_for(url: str, running: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end and running.poll() is None:
        with suppress(OSError), urllib.request.urlopen(url):  # noqa: S310  loopback
            return
        time.sleep(0.01)  # an app that is not there yet needs the CPU to become so
    raise AssertionError("the app did not start")


@pytest.fixture
def by_hand(shop: Shop, server: Server, monkeypatch: pytest.MonkeyPatch) -> Shop:
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    shop.app(APP)
    shop.file("pytest.ini", "[pytest]\n")
    shop.cases(weather_in(["Paris", "Rome"]))
    return shop


def entry(shop: Shop, url: str) -> str:
    shop.file("pyproject.toml", f'[tool.fcall.models.shop]\nmodel = "http:{url}"\nresponse = "answer"\n')
    return "--fc-model=http:shop"


@pytest.mark.skipif(sys.platform == "win32", reason="processes of POSIX")
def test_what_an_app_started_by_hand_asks_is_recorded_and_replayed(by_hand: Shop, server: Server) -> None:
    path = by_hand.pytester.path
    with started_by_hand(path) as url:
        model = entry(by_hand, url)
        by_hand.run(model).assert_outcomes(passed=2)
        assert len(server.asked) == 2
        by_hand.run(model, "--fc-replay").assert_outcomes(passed=2)
        assert len(server.asked) == 2
    assert announced_proxies(path) == {}


@pytest.mark.skipif(sys.platform == "win32", reason="processes of POSIX")
def test_workers_share_an_app_without_mixing_their_cases(by_hand: Shop, server: Server) -> None:
    numbers = iter(range(100))
    server.default = lambda asked: Answer(chat(f"{prompt_of(asked)} {next(numbers)}").body, latency=0.01)
    towns = "".join(
        f"  - {{id: c{n}, prompt: town{n // 4}, answer: {{$contains: town{n // 4}}}, wire: {{count: 1}}}}\n"
        for n in range(8)
    )
    by_hand.cases(f"cases:\n{towns}")
    with started_by_hand(by_hand.pytester.path, passes_on="-") as url:
        by_hand.pytester.runpytest_subprocess("-n2", entry(by_hand, url)).assert_outcomes(passed=8)


@pytest.mark.skipif(sys.platform == "win32", reason="processes of POSIX")
def test_without_a_run_it_asks_its_models_as_ever(by_hand: Shop, server: Server) -> None:
    with started_by_hand(by_hand.pytester.path) as url:
        gone = refused_connection().removesuffix("v1") + "0" * 32
        announce(by_hand.pytester.path, gone)  # as a run that was killed leaves it
        body = b'{"messages": [{"role": "user", "content": "hi"}]}'
        with urllib.request.urlopen(url, body) as answer:  # noqa: S310  loopback
            assert b"You said: hi" in answer.read()
    assert server.asked[0].headers["authorization"] == "Bearer sk-very-secret"
    assert announced_proxies(by_hand.pytester.path) == {}


def test_the_exit_status_is_that_of_the_app(tmp_path: Path) -> None:
    done = fcall(tmp_path, "proxy", "--", sys.executable, "-c", "raise SystemExit(7)")
    assert done.returncode == 7


def test_the_app_sees_where_to_ask_and_a_key_that_is_none(tmp_path: Path) -> None:
    code = "import os; print(os.environ['OPENAI_BASE_URL'], os.environ['SHOP_BASE_URL'], os.environ['SHOP_API_KEY'])"
    arguments = ("--variable", "OPENAI_BASE_URL", "--variable", "SHOP_BASE_URL=https://llm.example/v2")
    openai, shop, key = fcall(tmp_path, "proxy", *arguments, "--", sys.executable, "-c", code).stdout.split()
    assert openai.startswith("http://127.0.0.1:")
    assert (openai[-19:], shop[-17:], key) == ("/OPENAI_BASE_URL/v1", "/SHOP_BASE_URL/v2", "sk-replayed")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "no command given: write `fcall proxy -- COMMAND`"),
        (("--variable", "7", "--", "x"), "'7' is not a variable name"),
        (("--variable", "SHOP_BASE_URL", "--", "x"), "SHOP_BASE_URL is not set; write --variable SHOP_BASE_URL=https"),
        (("--", "no-such-program-here"), "cannot start no-such-program-here: No such file"),
    ],
)
def test_a_slip_on_the_command_line_is_told(tmp_path: Path, arguments: tuple[str, ...], told: str) -> None:
    done = fcall(tmp_path, "proxy", *arguments)
    assert done.returncode == 2
    assert told in done.stderr


def test_what_is_announced_is_this_users_alone(tmp_path: Path) -> None:
    address = f"http://127.0.0.1:1/{'0' * 32}"
    path = announce(tmp_path, address)
    if sys.platform != "win32":
        assert path.stat().st_mode & 0o077 == 0
    path.with_name("damaged").write_bytes(b"\xff")
    path.with_name("empty").write_text("")
    assert announced_proxies(tmp_path) == {path: address}
