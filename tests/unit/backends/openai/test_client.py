from __future__ import annotations

import gzip
import os
import ssl
import sys
from subprocess import run
from types import SimpleNamespace

import pytest
import truststore

from pytest_fcall.backends import http_answers
from pytest_fcall.backends.openai import client
from pytest_fcall.core import CaseRefused, ModelUnavailable
from tests.servers import LOOPBACK_CERTIFICATE, Answer, Server
from tests.unit.backends.openai.asking import ask, request, thread


def test_a_request_does_without_the_openai_library(server: Server) -> None:
    program = (
        "import sys; from tests.servers import Server; from tests.unit.backends.openai.asking import ask, request\n"
        "with Server() as server:\n"
        "    print(ask(server, request()).text, sorted({'openai', 'pydantic', 'httpx2'} & set(sys.modules)))"
    )
    done = run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "You said: Weather in Oslo? []\n"


def test_a_large_request_is_sent_whole(server: Server) -> None:
    said = "x" * 3_000_000
    assert ask(server, thread([{"role": "user", "content": said}])).text == f"You said: {said}"


@pytest.mark.parametrize("encoding", ["identity", "gzip"])
def test_an_answer_without_end_is_not_read_to_the_end(
    server: Server, monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    monkeypatch.setattr(http_answers, "LONGEST_BODY", 100_000)
    body = b" " * 1_000_000
    server.script(Answer(gzip.compress(body) if encoding == "gzip" else body, headers={"content-encoding": encoding}))
    with pytest.raises(CaseRefused, match="the server's answer is no model's: it has more than 100,000 bytes"):
        ask(server, request())
    assert ask(server, request()).text == "You said: Weather in Oslo?"


@pytest.mark.parametrize("variable", ["OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_CUSTOM_HEADERS"])
@pytest.mark.parametrize("value", ["X: a\rb: secret", "X: sécret-word", "X: \0secret"])
def test_what_is_no_header_in_the_environment_is_named(
    server: Server, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setattr(os, "environ", {**os.environ, variable: value})
    with pytest.raises(ModelUnavailable, match=f"{variable}.*: one of these variables is not a line of") as caught:
        ask(server, request())
    assert "cret" not in str(caught.value)
    assert server.asked == []


@pytest.mark.parametrize("system", ["darwin", "win32"])
def test_certificates_are_the_systems_where_openssl_does_not_know_them(
    monkeypatch: pytest.MonkeyPatch, system: str
) -> None:
    used: list[int] = []

    def context(protocol: int) -> ssl.SSLContext:
        used.append(protocol)
        return ssl.SSLContext(protocol)

    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.delenv("SSL_CERT_DIR", raising=False)
    monkeypatch.setattr(truststore, "SSLContext", context)
    monkeypatch.setattr(client, "sys", SimpleNamespace(platform=system))
    with Server(certificate=LOOPBACK_CERTIFICATE) as server, pytest.raises(ModelUnavailable, match="is not trusted"):
        ask(server, request())
    assert used == [ssl.PROTOCOL_TLS_CLIENT]
