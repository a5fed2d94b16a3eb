from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator

import pytest

from pytest_fcall.backends.http_answers import MOST_REDIRECTS
from pytest_fcall.backends.openai import openai_backend
from pytest_fcall.core import Model, ModelUnavailable
from tests.servers import Answer, Asked, Server, chat, provider_error
from tests.unit.backends.openai.asking import NOWHERE, USER, answered, ask, request, thread

SECRETS = {"authorization": "sk-of-the-test", "api-key": "azure-key", "x-gateway": "gateway-key", "cookie": "a=b"}


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("OPENAI_API_KEY", SECRETS["authorization"])
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", f"X-Gateway: {SECRETS['x-gateway']}")
    monkeypatch.setenv("OPENAI_ORG_ID", "our-organization")


@pytest.fixture
def other() -> Iterator[Server]:
    """A server of another origin."""
    with Server() as running:
        yield running


def moved(location: str, status: int = 307) -> Answer:
    return Answer(b"", status, headers={"location": location})


def ask_with_secrets(server: Server) -> str:
    """Ask a server with a header of the settings for each secret that no variable holds."""
    headers = {"api-key": SECRETS["api-key"], "Cookie": SECRETS["cookie"]}
    options = {"base_url": server.url, "headers": json.dumps(headers)}
    return answered(Model("openai", "exam", options), request()).text


def shown(asked: Asked) -> list[str]:
    """The secrets in a request, wherever they are."""
    written = f"{asked.path} {asked.headers} {asked.body!r}"
    return [name for name, secret in SECRETS.items() if secret in written]


@pytest.mark.parametrize("status", [307, 308])
def test_a_redirect_is_followed_with_the_same_body(server: Server, status: int) -> None:
    server.script(moved("/v2/chat/completions", status), moved("../v3/chat/completions", status))
    assert ask(server, request()).text == "You said: Weather in Oslo?"
    assert [asked.path for asked in server.asked[1:]] == ["/v2/chat/completions", "/v2/v3/chat/completions"]
    assert server.asked[-1].json["messages"] == [USER]


def test_a_large_request_follows_a_redirect_whole(server: Server) -> None:
    said = "x" * 3_000_000
    server.script(moved("/v2/chat/completions"))
    assert ask(server, thread([{"role": "user", "content": said}])).text == f"You said: {said}"


@pytest.mark.parametrize("status", [301, 302, 303])
def test_other_redirects_lead_to_a_page_without_a_body_as_in_a_browser(server: Server, status: int) -> None:
    server.script(moved("/v2/chat/completions", status), chat("Here."))
    assert ask(server, request()).text == "Here."
    assert [(asked.method, asked.body == b"") for asked in server.asked] == [("POST", False), ("GET", True)]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_nothing_is_sent_to_another_server(server: Server, other: Server, status: int) -> None:
    server.script(moved("/v2/chat/completions"), moved(f"{other.url}/chat/completions?token=secret", status))
    with pytest.raises(ModelUnavailable) as caught:
        ask_with_secrets(server)
    assert str(caught.value).endswith(
        ": the server's redirects lead nowhere; `base_url` must be the address that answers: a redirect leads to "
        f"{other.url}/chat/completions, which is another server, so nothing was sent there"
    )
    assert [shown(asked) for asked in server.asked] == [list(SECRETS)] * 2
    assert other.asked == []
    assert other.connections == 0


def test_another_name_and_another_scheme_are_another_server(server: Server) -> None:
    for elsewhere in (("127.0.0.1", "localhost"), ("http:", "https:")):
        server.script(moved(server.url.replace(*elsewhere) + "/chat/completions"))
        with pytest.raises(ModelUnavailable, match="which is another server"):
            ask_with_secrets(server)
    assert len(server.asked) == 2


def test_name_and_password_in_a_redirect_are_not_used(server: Server) -> None:
    server.script(moved(server.url.replace("//", "//me:word@") + "/chat/completions"))
    assert ask_with_secrets(server) == "You said: Weather in Oslo?"
    assert server.asked[1].headers["authorization"] == f"Bearer {SECRETS['authorization']}"


def test_a_wrong_key_after_a_redirect_at_home_is_a_wrong_key(server: Server) -> None:
    server.script(moved("/v2/chat/completions"), provider_error(401))
    with pytest.raises(ModelUnavailable, match="the API key was not accepted"):
        ask(server, request())


def test_redirects_in_a_circle_end(server: Server) -> None:
    server.default = lambda asked: moved("/a" if asked.path == "/b" else "/b")
    with pytest.raises(ModelUnavailable, match=r"lead nowhere.*more than 20 redirects in a row"):
        ask(server, request())
    assert len(server.asked) == MOST_REDIRECTS + 1


def test_as_many_redirects_as_are_allowed_are_followed(server: Server) -> None:
    server.script(*[moved("/v1/chat/completions")] * MOST_REDIRECTS)
    assert ask(server, request()).text == "You said: Weather in Oslo?"


@pytest.mark.parametrize("location", ["http://[", "ftp://127.0.0.1/", "file:///etc/passwd", "http://x:y/"])
def test_a_redirect_to_no_address_is_reported(server: Server, location: str) -> None:
    server.script(moved(location))
    with pytest.raises(ModelUnavailable, match="a redirect has no valid address"):
        ask(server, request())


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
