from __future__ import annotations

import logging
from base64 import b64encode
from collections.abc import Iterator

import pytest

from pytest_fcall.backends.openai.environment_proxy import environment_proxy
from pytest_fcall.core import ModelUnavailable, Reply, Unanswered
from tests.servers import LOOPBACK_CERTIFICATE, Answer, Proxy, Server, refused_connection
from tests.unit.backends.openai.asking import ask, request

USER = "proxy-user"
PASSWORD = "p@ss:wörd/of the proxy"  # noqa: S105
QUOTED = "proxy-user:p%40ss:w%C3%B6rd%2Fof%20the%20proxy"
KEY = "sk-of-the-test"


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("SSL_CERT_FILE", str(LOOPBACK_CERTIFICATE))


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    with Proxy() as running:
        yield running


@pytest.fixture
def encrypted() -> Iterator[Server]:
    """A server by HTTPS."""
    with Server(certificate=LOOPBACK_CERTIFICATE) as running:
        yield running


def assert_answered(reply: Reply) -> None:
    assert reply.text == "You said: Weather in Oslo?"


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
@pytest.mark.parametrize("scheme", ["http://", ""])
def test_a_proxy_of_the_environment_is_used(
    server: Server, proxy: Proxy, monkeypatch: pytest.MonkeyPatch, variable: str, scheme: str
) -> None:
    monkeypatch.setenv(variable, f"{scheme}{proxy.host}")
    assert_answered(ask(server, request()))
    assert [(passed.method, passed.target) for passed in proxy.passed] == [("POST", f"{server.url}/chat/completions")]
    assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("variable", ["HTTPS_PROXY", "all_proxy"])
def test_what_is_encrypted_goes_through_a_tunnel_that_shows_nothing(
    encrypted: Server, proxy: Proxy, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, f"http://{QUOTED}@{proxy.host}")
    assert_answered(ask(encrypted, request()))
    (passed,) = proxy.passed
    assert (passed.method, f"https://{passed.target}/v1") == ("CONNECT", encrypted.url)
    assert sorted(passed.headers) == ["accept", "accept-encoding", "host", "proxy-authorization", "user-agent"]
    assert "proxy-authorization" not in encrypted.asked[0].headers
    assert encrypted.asked[0].headers["authorization"] == f"Bearer {KEY}"


def test_a_proxy_may_be_encrypted_itself(encrypted: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", encrypted.url.removesuffix("/v1"))
    with Server() as server:
        assert_answered(ask(server, request(), base_url="http://model.example/v1"))
    assert encrypted.asked[0].path == "http://model.example/v1/chat/completions"


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "HTTPS_PROXY"])
def test_a_proxy_gets_its_name_and_password(
    server: Server, encrypted: Server, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    with Proxy(credentials=f"{USER}:{PASSWORD}") as proxy:
        monkeypatch.setenv(variable, f"http://{QUOTED}@{proxy.host}")
        assert_answered(ask(server if variable == "HTTP_PROXY" else encrypted, request()))
        assert len(proxy.passed) == 1


@pytest.mark.parametrize(
    "exceptions",
    [
        "127.0.0.1",
        "*",
        "model.example, 127.0.0.1",
        "127.0.0.0/8",
        "10.0.0.0/8,127.0.0.1/32",
        "127.0.0.1:{port}",
        "model.example, *",
    ],
)
def test_a_server_that_needs_no_proxy_is_asked_directly(
    server: Server, proxy: Proxy, monkeypatch: pytest.MonkeyPatch, exceptions: str
) -> None:
    monkeypatch.setenv("HTTP_PROXY", f"http://{proxy.host}")
    monkeypatch.setenv("NO_PROXY", exceptions.format(port=server.url.split(":")[2].removesuffix("/v1")))
    assert_answered(ask(server, request()))
    assert proxy.passed == []


@pytest.mark.parametrize(
    "exceptions", ["", "10.0.0.0/8", "127.0.0.1:1", "localhost", "example", "27.0.0.1", "::1/128", "[::1]", "a/b"]
)
def test_exceptions_for_others_do_not_count(
    server: Server, proxy: Proxy, monkeypatch: pytest.MonkeyPatch, exceptions: str
) -> None:
    monkeypatch.setenv("HTTP_PROXY", f"http://{proxy.host}")
    monkeypatch.setenv("NO_PROXY", exceptions)
    assert_answered(ask(server, request()))
    assert len(proxy.passed) == 1


@pytest.mark.parametrize("exceptions", ["example", ".example", "*.example", "model.example", "MODEL.EXAMPLE"])
def test_a_domain_excepts_its_servers(proxy: Proxy, monkeypatch: pytest.MonkeyPatch, exceptions: str) -> None:
    monkeypatch.setenv("HTTP_PROXY", f"http://{proxy.host}")
    monkeypatch.setenv("NO_PROXY", exceptions)
    assert environment_proxy("http://model.example") is None
    assert environment_proxy("http://model.test") is not None


def test_a_proxy_for_the_other_scheme_does_not_count(
    server: Server, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", f"http://{proxy.host}")
    assert_answered(ask(server, request()))
    assert proxy.passed == []


def failure(server: Server, caplog: pytest.LogCaptureFixture) -> str:
    """The message of a request that fails; neither it nor the log shows the secrets of the proxy."""
    with caplog.at_level(logging.DEBUG), pytest.raises((ModelUnavailable, Unanswered)) as caught:
        ask(server, request())
    for shown in (str(caught.value), repr(caught.value), caplog.text):
        assert "w%C3%B6rd" not in shown
        assert "wörd" not in shown
        assert USER not in shown
    return str(caught.value)


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "HTTPS_PROXY"])
def test_a_proxy_that_knows_nobody_of_this_name_is_reported(
    server: Server,
    encrypted: Server,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    variable: str,
) -> None:
    with Proxy(credentials="somebody:else") as proxy:
        monkeypatch.setenv(variable, f"http://{QUOTED}@{proxy.host}")
        message = failure(server if variable == "HTTP_PROXY" else encrypted, caplog)
    assert "the proxy requires authentication; check the variables HTTP_PROXY and HTTPS_PROXY: HTTP 407" in message


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "HTTPS_PROXY"])
def test_a_proxy_that_is_not_there_is_told_from_the_server(
    server: Server,
    encrypted: Server,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    variable: str,
) -> None:
    nowhere = refused_connection().removesuffix("/v1").replace("//", f"//{QUOTED}@")
    monkeypatch.setenv(variable, nowhere)
    message = failure(server if variable == "HTTP_PROXY" else encrypted, caplog)
    assert message.endswith("no connection to the proxy: it refuses")


def test_a_proxy_that_refuses_a_tunnel_is_told_from_the_server(
    encrypted: Server, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with Proxy(refuses=403) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"http://{QUOTED}@{proxy.host}")
        message = failure(encrypted, caplog)
    assert message.endswith("the proxy does not connect to the server (HTTP 403)")


def test_what_a_proxy_repeats_of_its_secrets_is_not_shown(
    server: Server, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("HTTP_PROXY", server.url.removesuffix("/v1").replace("//", f"//{QUOTED}@"))
    server.default = lambda asked: Answer(
        f"{asked.headers['proxy-authorization']}, {QUOTED}, {PASSWORD}".encode(), 502, "text/plain"
    )
    message = failure(server, caplog)
    assert message.endswith("the server failed: HTTP 502: Basic …, …, …")
    assert b64encode(f"{USER}:{PASSWORD}".encode()).decode() not in message


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("HTTP_PROXY", f"socks5://{QUOTED}@127.0.0.1:1080"),
        ("ALL_PROXY", f"socks5h://{QUOTED}@127.0.0.1:1080"),
        ("HTTP_PROXY", f"http://{QUOTED}@127.0.0.1:port"),
        ("HTTP_PROXY", f"http://{QUOTED}@[127.0.0.1"),
        ("HTTP_PROXY", f"http://{QUOTED}@"),
        ("HTTP_PROXY", f"{QUOTED}@\u2100.example"),
    ],
)
def test_what_is_no_http_proxy_is_named_by_its_variable(
    server: Server, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    message = failure(server, caplog)
    assert "the proxy that the environment names; SOCKS is not supported: " in message
    assert message.endswith(f"{variable} must be an address such as http://127.0.0.1:3128")
    assert server.asked == []
