"""A server cannot tell an HttpSender from the openai library but by its name, and both read it alike."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import pytest

from pytest_fcall.backends.openai.backend import PreparedRequest, prepare_request
from pytest_fcall.backends.openai.client import HttpSender
from pytest_fcall.backends.openai.server_answer import ServerAnswer, read_answer
from pytest_fcall.backends.openai.settings import Server as ServerSettings
from pytest_fcall.backends.provider_failures import ProviderFailure
from pytest_fcall.core import Json, Message, Reply, Request, Tool
from tests.conformance.openai_library import LibrarySender
from tests.servers import (
    LOOPBACK_CERTIFICATE,
    Answer,
    Asked,
    Proxy,
    Server,
    broken,
    chat,
    cut_off,
    dropped_when_reused,
    huge,
    invalid_utf8,
    not_openai,
    provider_error,
    refused_connection,
    reset,
    reset_mid_body,
    responses,
    throttled,
    truncated_json,
    web_page,
)

KEY = "sk-of-the-test"
WEATHER = Tool("weather.now", "Le temps qu'il fait, à l'instant", {"type": "object", "properties": {"city": {}}})
ASK = {"role": "user", "content": "Weather in Ålesund and Oslo? ☂"}
CALLS: list[Json] = [
    {
        "id": f"call_{city}",
        "type": "function",
        "function": {"name": "weather.now", "arguments": f'{{"city": "{city}"}}'},
    }
    for city in ("Ålesund", "Oslo")
]
TRAIL: list[Message] = [
    {"role": "system", "content": "Be short."},
    ASK,
    {"role": "assistant", "content": None, "tool_calls": CALLS},
    *({"role": "tool", "tool_call_id": f"call_{city}", "content": '{"rain": true}'} for city in ("Ålesund", "Oslo")),
]


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")


def prepared(messages: list[Message], *tools: Tool, **settings: Json) -> PreparedRequest:
    return prepare_request("exam", settings, Request(tuple(messages), tools), official=False)


PLAIN = prepared([ASK])
REQUESTS = {
    "plain": PLAIN,
    "tools": prepared([ASK], WEATHER, temperature=0, tool_choice="weather.now", strict=True),
    "parallel calls": prepared(TRAIL, WEATHER, parallel_tool_calls=True),
    "image": prepared(
        [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0="}}]}]
    ),
    "further fields": prepared([ASK], extra_body={"options": {"num_ctx": 4096}}, seed=7, max_tokens=5),
    "responses": prepared([ASK], WEATHER, api="responses", reasoning_effort="low"),
    "responses with calls": prepared(TRAIL, WEATHER, api="responses"),
    "prompt": prepared([ASK], WEATHER, mode="prompt"),
}

Outcome = Reply | ProviderFailure


def exchanged(
    sender_type: type[HttpSender | LibrarySender],
    url: str,
    request: PreparedRequest = PLAIN,
    headers: Mapping[str, str] | None = None,
    *,
    times: int = 1,
) -> list[Outcome]:
    """What comes of a request that is sent so many times by one sender."""

    async def send() -> list[ServerAnswer | ProviderFailure]:
        sender = sender_type(url, KEY, ServerSettings(url, "").headers())
        try:
            return [await sender.send(request.endpoint.path, request.body, headers or {}) for _ in range(times)]
        finally:
            await sender.close()

    return [
        read_answer(answer, request.endpoint, request.wire.wire_tools) if isinstance(answer, ServerAnswer) else answer
        for answer in asyncio.run(send())
    ]


def assert_sent_alike(
    server: Server, url: str, request: PreparedRequest = PLAIN, headers: Mapping[str, str] | None = None
) -> Asked:
    """Send a request both ways, and return what the server was asked."""
    assert exchanged(HttpSender, url, request, headers) == exchanged(LibrarySender, url, request, headers)
    direct, library = server.asked
    assert_asked_alike(direct, library, headers or {})
    assert direct.body == request.body
    return direct


def assert_asked_alike(direct: Asked, library: Asked, headers: Mapping[str, str] = MappingProxyType({})) -> None:
    """`headers` are those that were asked for."""
    assert (direct.method, direct.path, direct.body) == (library.method, library.path, library.body)
    assert distinctive(direct.headers, headers) == distinctive(library.headers, headers)


def distinctive(sent: Mapping[str, str], asked_for: Mapping[str, str]) -> dict[str, str]:
    """The headers, without those by which the library names itself and with which it repeats what HTTP/1.1 implies."""
    wanted = {name.lower() for name in asked_for}
    return {
        name: value
        for name, value in sent.items()
        if name in wanted or not (name in {"user-agent", "connection"} or name.startswith("x-stainless-"))
    }


@pytest.mark.parametrize("request_", REQUESTS.values(), ids=REQUESTS)
def test_a_request_is_sent_alike(server: Server, request_: PreparedRequest) -> None:
    asked = assert_sent_alike(server, server.url, request_)
    assert asked.path == f"/v1{request_.endpoint.path}"
    assert asked.headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    ("address", "path"),
    [
        ("", "/chat/completions"),
        ("/", "/chat/completions"),
        ("/v1/", "/v1/chat/completions"),
        ("/v1//", "/v1//chat/completions"),
        ("/v1#fragment", "/v1/chat/completions"),
        (
            "/openai/deployments/exam?api-version=2024-10-21",
            "/openai/deployments/exam/chat/completions?api-version=2024-10-21",
        ),
        ("/with%20space/%2F/~me/{x}/v1;a=b", "/with%20space/%2F/~me/%7Bx%7D/v1;a=b/chat/completions"),
        ("/a/../v1", "/v1/chat/completions"),
        ("/v1?code=a%2Bb%20c&name=%C3%A9", "/v1/chat/completions?code=a%2Bb+c&name=%C3%A9"),
        ("/v1?flag=&a=1&a=2", "/v1/chat/completions?a=2"),
        ("/v1?a=1;2&b=x/y:z@,*~!()$'\"%zz", "/v1/chat/completions?a=1%3B2&b=x/y:z@,*~!()$'%22%25zz"),
    ],
)
def test_a_request_is_sent_to_the_same_address(server: Server, address: str, path: str) -> None:
    server.default = lambda _: chat("Here.")
    assert assert_sent_alike(server, f"{server.url.removesuffix('/v1')}{address}").path == path


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": "Basic eDp5"},
        {"authorization": "Basic eDp5"},
        {"api-key": "azure", "Accept": "*/*"},
        {"content-type": "application/json; charset=utf-8"},
        {"User-Agent": "mine", "X-Stainless-Lang": "none"},
        {"Accept-Encoding": "identity", "Connection": "close"},
        {"Cookie": "a=b", "Host": "model.example"},
        {"X-Empty": "", "X-Twice": "1", "x-twice": "2"},
    ],
)
def test_headers_of_the_settings_are_sent_alike(server: Server, headers: dict[str, str]) -> None:
    asked = assert_sent_alike(server, server.url, headers=headers)
    assert {name.lower(): value for name, value in headers.items()}.items() <= asked.headers.items()


@pytest.mark.parametrize(
    ("variables", "headers"),
    [
        ({"OPENAI_ORG_ID": "org"}, {"openai-organization": "org"}),
        ({"OPENAI_PROJECT_ID": "project", "OPENAI_ORG_ID": ""}, {"openai-project": "project"}),
        ({"OPENAI_ADMIN_KEY": "admin"}, {"authorization": f"Bearer {KEY}"}),
        ({"OPENAI_CUSTOM_HEADERS": "X-A: b: c\nnone\n x-d :e \nContent-Type: text/plain"}, {"x-a": "b: c", "x-d": "e"}),
        ({"OPENAI_CUSTOM_HEADERS": "authorization: Basic eDp5\nAccept: */*"}, {"authorization": "Basic eDp5"}),
    ],
)
def test_headers_of_the_environment_are_sent_alike(
    server: Server, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], headers: dict[str, str]
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    asked = assert_sent_alike(server, server.url, headers={"X-Own": "1"})
    assert headers.items() <= asked.headers.items()


GOOD = chat("The sky is blue.")


def compressed(body: bytes, encoding: str, *, chunked: bool = False) -> Answer:
    return replace(GOOD, body=body, headers={"content-encoding": encoding}, chunked=chunked)


def bare_deflate(body: bytes) -> bytes:
    stream = zlib.compressobj(wbits=-15)
    return stream.compress(body) + stream.flush()


ANSWERS = {
    "text": GOOD,
    "calls": chat(calls=[("weather.now", {"city": "Oslo"}), ("weather.now", {"city": "Ålesund"})]),
    "chunks": replace(GOOD, chunked=True),
    "responses": responses("Hello"),
    "large": huge(3_000_000),
    "gzip": compressed(gzip.compress(GOOD.body), "gzip"),
    "gzip in chunks": compressed(gzip.compress(GOOD.body), "GZIP", chunked=True),
    "gzip without its end": compressed(gzip.compress(GOOD.body)[:-8], "gzip"),
    "gzip that is none": compressed(GOOD.body, "gzip"),
    "gzip of nothing": compressed(b"", "gzip"),
    "deflate": compressed(zlib.compress(GOOD.body), "deflate"),
    "deflate without a header": compressed(bare_deflate(GOOD.body), "deflate"),
    "identity": compressed(GOOD.body, "identity"),
    "byte order mark": replace(GOOD, body=b"\xef\xbb\xbf" + GOOD.body),
    "other character set": replace(GOOD, content_type="application/json; charset=latin-1"),
    "nothing": Answer(b""),
    "no content": Answer(b"", 204),
    "not modified": Answer(b"", 304),
    "choices": Answer(b"{}", 300),
    "redirect to nowhere": Answer(b"{}", 307),
    "cut JSON": truncated_json(),
    "no UTF-8": invalid_utf8(),
    "no OpenAI": not_openai({"generated_text": "Hello"}),
    "error with 200": not_openai({"error": {"code": 402, "message": "Insufficient credits"}}),
    "web page": web_page(),
    "events": Answer(b"data: {}\n\n", content_type="text/event-stream"),
    "400": provider_error(400, "No.", code="context_length_exceeded", type="invalid_request_error", param="messages"),
    "401": provider_error(401, "Incorrect API key", code="invalid_api_key"),
    "403": provider_error(403),
    "404": provider_error(404, "No such model", code="model_not_found"),
    "409": provider_error(409),
    "413": Answer(b"", 413),
    "418": Answer(b"short and stout", 418, "text/plain"),
    "422": not_openai({"detail": [{"msg": "field required", "type": "missing"}]}, 422),
    "429": throttled(),
    "429, seconds": throttled(3.5),
    "429, milliseconds": throttled(milliseconds=1500),
    "429, date": throttled(date="Thu, 01 Jan 1970 00:00:00 GMT"),
    "429, compressed": replace(throttled(2), body=gzip.compress(b"{}"), headers={"content-encoding": "gzip"}),
    "500": broken(),
    "502": web_page(502),
    "503": broken(503),
    "599": Answer(b"", 599),
    "reset": reset(),
    "reset in the middle": reset_mid_body(),
    "cut off": cut_off(),
    "cut off in chunks": cut_off(chunked=True),
}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_an_answer_is_read_alike(server: Server, answer: Answer) -> None:
    server.default = lambda _: answer
    assert exchanged(HttpSender, server.url) == exchanged(LibrarySender, server.url)
    assert len(server.asked) == 2


def test_the_library_alone_does_not_know_gzip_by_its_old_name(server: Server) -> None:
    server.default = lambda _: compressed(gzip.compress(GOOD.body), "x-gzip")
    assert isinstance(exchanged(HttpSender, server.url)[0], Reply)
    assert isinstance(exchanged(LibrarySender, server.url)[0], ProviderFailure)


def test_only_the_library_passes_over_an_encoding_that_it_does_not_know(server: Server) -> None:
    server.default = lambda _: compressed(GOOD.body, "rot13")
    assert exchanged(HttpSender, server.url) == [
        ProviderFailure("the answer is compressed with rot13, which is not read", billable=True)
    ]
    assert isinstance(exchanged(LibrarySender, server.url)[0], Reply)


def test_a_connection_is_kept_for_the_next_request_alike(server: Server) -> None:
    assert exchanged(HttpSender, server.url, times=2) == exchanged(LibrarySender, server.url, times=2)
    assert [asked.connection for asked in server.asked] == [1, 1, 2, 2]


def test_a_connection_that_breaks_when_it_is_reused_is_reported_alike(server: Server) -> None:
    server.default = lambda _: dropped_when_reused()
    direct = exchanged(HttpSender, server.url, times=2)
    assert direct == exchanged(LibrarySender, server.url, times=2)
    assert direct[1] == ProviderFailure("the server closed the connection before it answered")


def test_a_server_that_is_not_there_is_reported_alike() -> None:
    nowhere = refused_connection()
    assert exchanged(HttpSender, nowhere) == exchanged(LibrarySender, nowhere)


def test_a_certificate_is_trusted_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    with Server(certificate=LOOPBACK_CERTIFICATE) as server:
        untrusted = exchanged(HttpSender, server.url)
        assert untrusted == exchanged(LibrarySender, server.url)
        assert untrusted == [ProviderFailure("self-signed certificate", codes=frozenset({"untrusted_certificate"}))]
        monkeypatch.setenv("SSL_CERT_FILE", str(LOOPBACK_CERTIFICATE))
        assert_sent_alike(server, server.url)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("location", ["/v2/chat/completions?a=%2B#part", "../chat/completions"])
def test_a_redirect_is_followed_alike(server: Server, status: int, location: str) -> None:
    moved = Answer(b"", status, headers={"location": location})
    server.script(moved, GOOD, moved, GOOD)
    assert exchanged(HttpSender, server.url) == exchanged(LibrarySender, server.url)
    assert_asked_alike(server.asked[1], server.asked[3])


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_only_the_library_follows_a_redirect_to_another_server(server: Server, status: int) -> None:
    with Server(lambda _: GOOD) as other:
        server.default = lambda _: Answer(b"", status, headers={"location": f"{other.url}/chat/completions"})
        [stayed] = exchanged(HttpSender, server.url)
        assert isinstance(stayed, ProviderFailure)
        assert other.asked == []
        [followed] = exchanged(LibrarySender, server.url)
        assert isinstance(followed, Reply)
        assert len(other.asked) == 1


LIBRARY_WARNING = pytest.mark.filterwarnings("ignore:(BasicAuth|The 'proxy_auth'):DeprecationWarning")
"""The library gives aiohttp names and passwords in a way that newer versions of aiohttp warn of."""


@LIBRARY_WARNING
def test_proxies_of_the_environment_are_used_alike(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_PROXY")
    monkeypatch.setenv("HTTP_PROXY", server.url.replace("//", "//me:p%40ss@").removesuffix("/v1"))
    asked = assert_sent_alike(server, "http://model.example/v1")
    assert asked.path == "http://model.example/v1/chat/completions"
    assert asked.headers["proxy-authorization"] == "Basic bWU6cEBzcw=="


@LIBRARY_WARNING
@pytest.mark.parametrize("credentials", ["", "me:p%40ss@"])
def test_tunnels_are_asked_for_alike(monkeypatch: pytest.MonkeyPatch, credentials: str) -> None:
    monkeypatch.delenv("NO_PROXY")
    monkeypatch.setenv("SSL_CERT_FILE", str(LOOPBACK_CERTIFICATE))
    with Proxy() as proxy, Server(certificate=LOOPBACK_CERTIFICATE) as server:
        monkeypatch.setenv("HTTPS_PROXY", f"http://{credentials}{proxy.host}")
        assert_sent_alike(server, server.url)
    direct, library = proxy.passed
    assert direct == library


@pytest.mark.parametrize(
    "exceptions", ["*", "127.0.0.1", "127.0.0.0/8", "model.example", "10.0.0.0/8", ".0.0.1", "localhost", "::1"]
)
def test_exceptions_from_proxies_are_read_alike(
    server: Server, monkeypatch: pytest.MonkeyPatch, exceptions: str
) -> None:
    with Proxy() as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://{proxy.host}")
        monkeypatch.setenv("NO_PROXY", exceptions)
        assert_sent_alike(server, server.url)
    assert len(proxy.passed) in (0, 2)
