from __future__ import annotations

import asyncio
import gzip
import sys
from subprocess import run

import pytest

from pytest_fcall.backends.openai import direct_sender, openai_backend
from pytest_fcall.core import Model, Unanswered
from tests.servers import Answer, Asked, Server, chat
from tests.unit.backends.openai.asking import NOWHERE, USER, ask, request, thread

PROXY_VARIABLES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PROXY_VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def is_by_library(asked: Asked) -> bool:
    return "OpenAI" in asked.headers["user-agent"]


def test_a_request_does_without_the_openai_library(server: Server) -> None:
    program = (
        "import sys; from tests.servers import Server; from tests.unit.backends.openai.asking import ask, request\n"
        "with Server() as server:\n"
        "    print(ask(server, request()).text, sorted({'openai', 'pydantic', 'httpx2'} & set(sys.modules)))"
    )
    done = run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "You said: Weather in Oslo? []\n"


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
def test_a_proxy_of_the_environment_is_used(server: Server, monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.setenv(variable, server.url.removesuffix("/v1"))
    assert ask(server, request(), base_url="http://model.example/v1").text == "You said: Weather in Oslo?"
    assert server.asked[0].path == "http://model.example/v1/chat/completions"
    assert is_by_library(server.asked[0])


@pytest.mark.parametrize(
    ("variable", "exceptions"), [("HTTP_PROXY", "127.0.0.1"), ("HTTP_PROXY", "*"), ("HTTPS_PROXY", "")]
)
def test_a_server_that_needs_no_proxy_is_asked_directly(
    server: Server, monkeypatch: pytest.MonkeyPatch, variable: str, exceptions: str
) -> None:
    monkeypatch.setenv(variable, "http://127.0.0.1:1")
    monkeypatch.setenv("NO_PROXY", exceptions)
    ask(server, request())
    assert not is_by_library(server.asked[0])


def test_exceptions_that_only_the_library_knows_are_honoured(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("NO_PROXY", "127.0.0.0/8")
    ask(server, request())
    assert server.asked[0].path == "/v1/chat/completions"


def moved(location: str, status: int = 307) -> Answer:
    return Answer(b"", status, headers={"location": location})


@pytest.mark.parametrize("status", [307, 308])
def test_a_redirect_is_followed_with_the_same_body(server: Server, status: int) -> None:
    server.script(moved("/v2/chat/completions", status), moved("/v2/chat/completions", status))
    assert ask(server, request()).text == "You said: Weather in Oslo?"
    assert server.asked[-1].path == "/v2/chat/completions"
    assert server.asked[-1].json["messages"] == [USER]


def test_the_key_does_not_follow_a_redirect_to_another_server(server: Server) -> None:
    with Server() as other:
        server.default = lambda _: moved(f"{other.url}/chat/completions")
        ask(server, request())
        assert "authorization" in server.asked[0].headers
        assert "authorization" not in other.asked[0].headers


def test_requests_that_are_redirected_at_the_same_time_all_arrive(server: Server) -> None:
    def answer(asked: Asked) -> Answer:
        return chat("Here.") if asked.path.startswith("/v2") else moved("/v2/chat/completions")

    async def ask_many() -> set[str]:
        backend = openai_backend(Model("openai", "exam", {"base_url": server.url}), NOWHERE)
        try:
            return {reply.text for reply in await asyncio.gather(*(backend.complete(thread([USER])) for _ in range(9)))}
        finally:
            await backend.close()

    server.default = answer
    assert asyncio.run(ask_many()) == {"Here."}


def test_a_large_request_is_sent_whole(server: Server) -> None:
    said = "x" * 3_000_000
    assert ask(server, thread([{"role": "user", "content": said}])).text == f"You said: {said}"


@pytest.mark.parametrize("encoding", ["identity", "gzip"])
def test_an_answer_without_end_is_not_read_to_the_end(
    server: Server, monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    monkeypatch.setattr(direct_sender, "LONGEST_ANSWER", 100_000)
    body = b" " * 1_000_000
    server.script(Answer(gzip.compress(body) if encoding == "gzip" else body, headers={"content-encoding": encoding}))
    with pytest.raises(Unanswered, match="the answer has more than 100,000 bytes"):
        ask(server, request())
    assert ask(server, request()).text == "You said: Weather in Oslo?"
