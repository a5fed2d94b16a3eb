"""The proxy between apps and their models: who may hear what passes through, and what headers and addresses may do."""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
import stat
import sys
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection
from pathlib import Path

import pytest

from pytest_fcall.backends.proxy.announcements import announce, announced_proxies
from pytest_fcall.backends.proxy.case_lookup import AppRuns
from pytest_fcall.backends.proxy.http import proof
from pytest_fcall.backends.proxy.listener import LazyListener
from pytest_fcall.backends.proxy.proxy import Proxy
from pytest_fcall.backends.proxy.relay import Relay
from tests.by_night import by_night
from tests.integration.exam import Exam
from tests.integration.test_model_http import APP
from tests.servers import Answer, Asked, Server, chat
from tests.servers.listener import Listener
from tests.unit.backends.proxy.support import Between

KEY = "sk-the-key-of-the-app"
BODY = json.dumps({"model": "exam-1", "messages": [{"role": "user", "content": "a private question"}]}).encode()
TOKEN = "0123456789abcdef" * 2
LONG_GONE = f"http://127.0.0.1:%s/{TOKEN}"


@pytest.fixture
def between(server: Server) -> Iterator[Between]:
    with Between(server) as proxy:
        yield proxy


def post(url: str, headers: dict[str, str] | None = None, body: bytes = BODY) -> tuple[int, dict[str, str], bytes]:
    """Send a request as an app does."""
    host, _, path = url.removeprefix("http://").partition("/")
    connection = HTTPConnection(host, timeout=30)
    given = {"Content-Type": "application/json", "Authorization": f"Bearer {KEY}", **(headers or {})}
    try:
        connection.request("POST", f"/{path}", body, given)
        answer = connection.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
    finally:
        connection.close()


@contextmanager
def relayed(root: Path, server: Server) -> Iterator[str]:
    """The address of `fcall proxy` for an app in the project; its provider is the server."""

    async def serve(connections: socket.socket, end: object) -> None:
        await Relay(TOKEN[::-1], root, {"OPENAI_BASE_URL": server.url}).serve(connections, end)  # type: ignore[arg-type]

    listening = LazyListener(serve)
    try:
        yield f"http://127.0.0.1:{listening.port}/{TOKEN[::-1]}/OPENAI_BASE_URL/v1/chat/completions"
    finally:
        listening.close()


class Impostor(Listener):
    """Another user's program, at the port of a run that was killed. It hears everything, and answers what it likes."""

    def __init__(self, answers: Callable[[bytes], bytes | None]) -> None:
        super().__init__()
        self.heard = b""
        self.connections = 0
        self._answers = answers

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                asked = await reader.readuntil(b"\r\n\r\n")
                self.heard += asked
                if (answer := self._answers(asked)) is None:
                    self.heard += await reader.read()
                if not answer:
                    break
                writer.write(answer)
                if b"Connection: close" in answer:
                    break
        writer.close()


def said(body: bytes, *headers: str) -> bytes:
    lines = ("HTTP/1.1 200 OK", f"Content-Length: {len(body)}", *headers, "", "")
    return "\r\n".join(lines).encode() + body


def challenge_in(asked: bytes) -> str:
    found = re.search(rb"/prove/([0-9a-f]+)/", asked)
    assert found
    return found[1].decode()


IMPOSTORS: dict[str, Callable[[bytes], bytes | None]] = {
    "says yes": lambda _: said(b"yes"),
    "says nothing": lambda _: said(b""),
    "says the challenge": lambda asked: said(challenge_in(asked).encode()),
    "guesses the token": lambda asked: said(proof("0" * 32, challenge_in(asked)).encode()),
    "says the proof of another challenge": lambda _: said(proof(TOKEN, "0" * 32).encode()),
    "redirects": lambda _: b"HTTP/1.1 307 Temporary Redirect\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n",
    "is no server": lambda _: b"SSH-2.0-OpenSSH_9.9\r\n",
    "says much": lambda _: said(b"y" * 1_000_000),
    "says what is no text": lambda _: said(b"\xff" * 64),
    "hangs up": lambda _: b"",
    "is silent": lambda _: None,
}
SILENCE = by_night("is silent")  # `fcall proxy` waits for five seconds


@pytest.mark.parametrize("impostor", [SILENCE if name == "is silent" else name for name in IMPOSTORS])
def test_who_takes_the_port_of_a_killed_run_hears_nothing(tmp_path: Path, server: Server, impostor: str) -> None:
    server.default = lambda _: chat("Hello.")
    with Impostor(IMPOSTORS[impostor]) as listening, relayed(tmp_path, server) as url:
        announce(tmp_path, LONG_GONE % listening.host.partition(":")[2])
        status, _, _ = post(url)
    assert status == 200
    assert len(server.asked) == 1  # the provider was asked instead, as without a run
    assert b"GET /prove/" in listening.heard
    for secret in (KEY, "private", TOKEN):
        assert secret.encode() not in listening.heard
    assert announced_proxies(tmp_path) == {}


def test_who_takes_the_port_after_the_proof_hears_nothing_either(tmp_path: Path, server: Server) -> None:
    def answers(asked: bytes) -> bytes:
        return said(proof(TOKEN, challenge_in(asked)).encode(), "Connection: close")

    server.default = lambda _: chat("Hello.")
    with Impostor(answers) as listening, relayed(tmp_path, server) as url:
        announce(tmp_path, LONG_GONE % listening.host.partition(":")[2])
        assert post(url)[0] == 200
    assert listening.connections == 1
    for secret in (KEY, "private", TOKEN):
        assert secret.encode() not in listening.heard


def test_a_run_that_ends_meanwhile_leaves_the_request_to_the_run_of_its_case(tmp_path: Path, server: Server) -> None:
    def proves_it(asked: bytes) -> bytes:
        return said(proof(TOKEN, challenge_in(asked)).encode()) if b"GET /prove/" in asked else b""

    def knows_the_case(asked: bytes) -> bytes:
        return proves_it(asked) or said(b'{"known": true}')

    with (
        Impostor(proves_it) as ending,
        Impostor(knows_the_case) as going_on,
        relayed(tmp_path, server) as url,
    ):
        for number, run in enumerate((ending, going_on)):
            announced = announce(tmp_path, LONG_GONE % run.host.partition(":")[2])
            announced.rename(announced.with_name(str(number)))
        status, _, body = post(url)
    assert b"POST" in ending.heard
    assert (status, body) == (200, b'{"known": true}')
    assert server.asked == []


def test_a_run_that_is_there_proves_it_and_hears_the_request(tmp_path: Path, server: Server) -> None:
    runs = AppRuns()
    listening = LazyListener(Proxy(runs, lambda _: None).serve)
    try:
        announce(tmp_path, f"http://127.0.0.1:{listening.port}/{runs.by_hand}")
        with relayed(tmp_path, server) as url:
            status, _, body = post(url)
    finally:
        listening.close()
    assert (status, server.asked) == (400, [])
    assert b"no run knows this request's case" in body


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")
@pytest.mark.parametrize(
    ("address", "mode"),
    [
        (LONG_GONE % "{port}", 0o644),
        (LONG_GONE % "{port}", 0o660),
        ("http://localhost:{port}/" + TOKEN, 0o600),
        ("http://evil.example:{port}/" + TOKEN, 0o600),
        ("http://127.0.0.1:{port}@evil.example/" + TOKEN, 0o600),
        ("https://127.0.0.1:{port}/" + TOKEN, 0o600),
        (LONG_GONE % "{port}" + "?x=", 0o600),
        (LONG_GONE % "{port}" + "\nx", 0o600),
    ],
)
def test_an_address_that_came_with_a_project_is_not_believed(
    tmp_path: Path, server: Server, address: str, mode: int
) -> None:
    server.default = lambda _: chat("Hello.")
    planted = tmp_path / ".fcall/proxies/1"
    planted.parent.mkdir(parents=True)
    with Impostor(lambda asked: said(proof(TOKEN, challenge_in(asked)).encode())) as listening:
        planted.write_text(address.format(port=listening.host.partition(":")[2]))
        planted.chmod(mode)
        with relayed(tmp_path, server) as url:
            assert post(url)[0] == 200
    assert listening.heard == b""
    assert len(server.asked) == 1


NAMED = {"Connection": "X-Hop, close , x-Other-Hop", "X-Hop": "for one connection", "X-Other-Hop": "for one connection"}


def test_headers_that_connection_names_end_at_the_proxy(between: Between) -> None:
    between.server.default = lambda _: Answer(
        chat("Hello.").body, headers={"X-Back-Hop": "1", "Connection": "X-Back-Hop"}
    )
    with between.running():
        status, headers, _ = post(f"{between.url()}/chat/completions", {**NAMED, "X-Kept": "to the end"})
    assert status == 200
    (asked,) = between.server.asked
    assert asked.headers["x-kept"] == "to the end"
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert not {"x-hop", "x-other-hop"} & asked.headers.keys()
    assert "x-back-hop" not in headers


def test_headers_that_connection_names_end_at_fcall_proxy(tmp_path: Path, server: Server) -> None:
    server.default = lambda _: chat("Hello.")
    with relayed(tmp_path, server) as url:
        assert post(url, NAMED)[0] == 200
    assert not {"x-hop", "x-other-hop"} & server.asked[0].headers.keys()


@pytest.mark.parametrize("userinfo", ["user:secret", "user", ":secret", "us%40er:s%3Ac", "üser:sécret"])
def test_a_name_and_password_in_the_address_are_handed_on(
    server: Server, userinfo: str, capfd: pytest.CaptureFixture[str]
) -> None:
    from urllib.parse import quote, unquote

    server.default = lambda _: chat("Hello.")
    with Between(server) as between:
        run = between.run()
        shown = quote(userinfo, safe=":%@")
        run.providers = {"OPENAI_BASE_URL": server.url.replace("http://", f"http://{shown}@")}
        token = between.runs.add(lambda: run, between.runs.in_process)
        status, _, _ = post(f"{between.url()}/chat/completions")
        between.runs.remove(token)
    given = unquote(userinfo) if ":" in userinfo else f"{userinfo}:"
    assert status == 200
    assert server.asked[0].headers["authorization"] == f"Basic {b64encode(given.encode()).decode()}"
    assert "Traceback" not in "".join(capfd.readouterr())


@pytest.mark.parametrize("more", ["", "&headers={}"])
def test_a_name_and_password_in_the_address_of_a_model_are_no_traceback(
    exam: Exam, more: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    exam.cities("Oslo")
    address = exam.server.url.replace("http://", "http://user:secret@")
    result = exam.shop.run(f"--fc-model=openai:exam?base_url={address}")
    text = result.stdout.str() + result.stderr.str()
    assert "Traceback" not in text
    assert result.ret in (0, 4, 10)
    assert "secret" not in text


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")
def test_what_is_kept_can_be_read_by_this_user_alone(exam: Exam) -> None:
    before = os.umask(0)
    try:
        exam.cities("Oslo", "Rome")
        exam.run("--fc-accept").assert_outcomes(passed=2)
        exam.apart("-n2", "--fc-rpm=1000", "--fc-record=all").assert_outcomes(passed=2)
        announce(exam.path, LONG_GONE % 1)
    finally:
        os.umask(before)
    kept = exam.path / ".fcall"
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in (kept, *kept.rglob("*"))}
    open_to_others = {str(path.relative_to(kept)): oct(mode) for path, mode in modes.items() if mode & 0o077}
    assert open_to_others.keys() <= {".gitignore"}
    (shared,) = (exam.path / "cases").rglob("*.accepted")
    assert stat.S_IMODE(shared.stat().st_mode) == 0o666


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="command lines of all processes")
def test_no_command_line_shows_a_token(exam: Exam, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", exam.server.url)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    seen: set[str] = set()

    def answer(asked: Asked) -> Answer:
        seen.update(command_lines())
        return chat("Hello.")

    exam.server.default = answer
    exam.shop.app(APP)
    exam.shop.file(
        "pyproject.toml",
        f"""
        [tool.fcall.models.shop]
        model = "http:http://127.0.0.1:{{port}}/chat"
        serve = "{sys.executable} app.py x-fcall-case"
        response = "answer"
        """,
    )
    exam.shop.file("started.py", STARTED)
    exam.shop.cases("cases: [{id: one, prompt: hello, expect: no_call}]", "exam.fc.yaml")
    exam.shop.run("--fc-model=http:shop").assert_outcomes(passed=1)
    for how in ("run", "spawn"):
        monkeypatch.setenv("HOW", how)
        exam.shop.run("--fc-model=python:started:answer").assert_outcomes(passed=1)
    assert len(exam.server.asked) == 3
    assert [line for line in seen if re.search(r"127\.0\.0\.1:\d+/[0-9a-f]{32}|[^/]\b[0-9a-f]{32}\b", line)] == []


def command_lines() -> Iterator[str]:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            yield path.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")


STARTED = '''
import multiprocessing
import os
import subprocess
import sys

ASK = """
import os, urllib.request
url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
body = b'{"model": "exam-1", "messages": [{"role": "user", "content": "%s"}]}' % os.environ["HOW"].encode()
request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
urllib.request.urlopen(request).read()
"""


def ask():
    exec(ASK)


def answer(request):
    how = os.environ["HOW"]
    if how == "run":
        subprocess.run([sys.executable, "-c", ASK], check=True)
    else:
        process = multiprocessing.get_context("spawn").Process(target=ask)
        process.start()
        process.join()
    return "Hello."
'''
