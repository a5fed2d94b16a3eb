"""Apps that speak HTTP otherwise than the libraries of the providers do, and answers that libraries seldom see."""

from __future__ import annotations

import gzip
import json
import logging
import socket
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from threading import Event

import openai
import pytest

from pytest_fcall.backends.store import NewReply
from tests.servers import Answer, Server, chat
from tests.unit.backends.proxy.support import CHAT_STREAM, MESSAGE_STREAM, Between, Memory, chunk, streamed
from tests.unit.backends.proxy.test_broken_answers import (
    COHERE_EVENTS,
    CONVERSE_FRAMES,
    GEMINI_CHUNKS,
    OLLAMA_LINES,
    frames,
    lines,
)

BODY = json.dumps({"model": "exam-1", "messages": [{"role": "user", "content": "Weather in Oslo?"}]}).encode()


def connected(between: Between) -> socket.socket:
    return socket.create_connection(("127.0.0.1", between.listening.port), timeout=30)


def written(between: Between, headers: str = "", body: bytes = BODY, *, first: str = "POST {} HTTP/1.1") -> bytes:
    """A request that asks for the connection to be closed after it."""
    path = f"/{between.runs.in_process}/OPENAI_BASE_URL/v1/chat/completions"
    length = "" if "Transfer-Encoding" in headers else f"Content-Length: {len(body)}\r\n"
    return f"{first.format(path)}\r\nHost: x\r\nConnection: close\r\n{length}{headers}\r\n".encode() + body


def all_of(connection: socket.socket) -> bytes:
    return b"".join(iter(lambda: connection.recv(65_536), b""))


def unchunked(said: bytes) -> bytes:
    """The body of an answer in chunks, as far as it has come."""
    chunks = said.partition(b"\r\n\r\n")[2]
    body = b""
    while chunks:
        size, _, rest = chunks.partition(b"\r\n")
        body, chunks = body + rest[: int(size, 16)], rest[int(size, 16) + 2 :]
    return body


def said(between: Between, data: bytes) -> bytes:
    with connected(between) as connection:
        connection.sendall(data)
        return all_of(connection)


COMPLETED = {"type": "response.completed", "response": {"status": "completed", "output": []}}


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ("Transfer-Encoding: chunked\r\n", b"%x\r\n%b\r\n0\r\n\r\n" % (len(BODY), BODY)),
        ("Content-Encoding: gzip\r\n", gzip.compress(BODY)),
        ("Expect: 100-continue\r\n", BODY),
        ("Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n", BODY),
        (f"X-Long: {'k' * 30_000}\r\n", BODY),
    ],
    ids=["chunked", "gzip", "expect", "h2c", "long header"],
)
def test_however_a_body_travels_it_is_the_same_request(between: Between, headers: str, body: bytes) -> None:
    with between.running():
        first = said(between, written(between, headers, body))
    with between.running(live=False) as run:
        again = said(between, written(between))
    assert b"You said: Weather in Oslo?" in first
    assert b"You said: Weather in Oslo?" in again
    assert run.not_recorded == []
    (asked,) = between.server.asked
    assert asked.body == BODY
    assert {"expect", "upgrade", "http2-settings", "content-encoding"}.isdisjoint(asked.headers)


def test_who_waits_for_a_hundred_is_told_to_go_on(between: Between) -> None:
    head, _, body = written(between, "Expect: 100-continue\r\n").partition(b"\r\n\r\n")
    with between.running(), connected(between) as connection:
        connection.sendall(head + b"\r\n\r\n")
        assert connection.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(body)
        assert all_of(connection).startswith(b"HTTP/1.1 200 OK")


@pytest.mark.parametrize("answer", [chat("Blue."), CHAT_STREAM], ids=["whole", "stream"])
def test_http_1_0_is_spoken(between: Between, answer: Answer) -> None:
    between.server.script(answer)
    for live in (True, False):
        with between.running(live=live):
            head, _, body = said(between, written(between, first="POST {} HTTP/1.0")).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.0 200 OK")
        assert body == answer.body


def test_a_packed_answer_comes_unpacked(between: Between) -> None:
    packed = gzip.compress(chat("Blue.").body)
    between.server.script(Answer(packed, headers={"content-encoding": "gzip"}))
    for live in (True, False):
        with between.running(live=live) as run:
            assert said(between, written(between)).endswith(chat("Blue.").body)
        assert run.inner_requests[0].reply.text == "Blue."


def test_headers_that_the_app_did_not_send_are_not_sent(between: Between) -> None:
    with between.running():
        said(between, written(between))
    assert {"user-agent", "content-type", "accept"}.isdisjoint(between.server.asked[0].headers)


def test_a_web_socket_is_refused_in_words(between: Between) -> None:
    with between.running():
        answer = said(between, written(between, "Upgrade: websocket\r\n", b"", first="GET {} HTTP/1.1"))
    assert b"WebSockets are not recorded" in answer
    assert between.server.asked == []


@pytest.mark.parametrize("data", [b"\x16\x03\x01\x02\r\n\r\n", b"GET / SMTP/3\r\n\r\n", b"POST /\xff HTTP/1.1\r\n\r\n"])
def test_what_is_no_http_is_answered_and_not_logged(
    between: Between, data: bytes, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    assert b"400 Bad Request" in said(between, data)
    assert (caplog.records, capfd.readouterr().err) == ([], "")


def test_half_a_request_is_none(
    between: Between, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    with between.running() as run:
        with connected(between) as connection:
            connection.sendall(written(between)[:-5])
        assert b"200 OK" in said(between, written(between))
    assert (len(between.server.asked), len(run.inner_requests)) == (1, 1)
    assert [record for record in caplog.records if record.levelno > logging.INFO] == []
    assert capfd.readouterr().err == ""


def test_a_list_of_models_is_recorded_and_given_again(between: Between) -> None:
    listed = {"object": "list", "data": [{"id": "exam-1", "object": "model", "created": 1, "owned_by": "us"}]}
    between.server.script(Answer(json.dumps(listed).encode()))
    for live in (True, False):
        with between.running(live=live) as run, openai.OpenAI(base_url=between.url(), api_key="key") as client:
            assert [model.id for model in client.models.list()] == ["exam-1"]
        assert [inner.model for inner in run.inner_requests] == [""]
    assert len(between.server.asked) == 1


def test_a_file_is_known_again_though_each_form_has_another_boundary(between: Between) -> None:
    between.server.script(Answer(b'{"text": "Hello."}'))
    for live in (True, False):
        with between.running(live=live) as run, openai.OpenAI(base_url=between.url(), api_key="key") as client:
            heard = client.audio.transcriptions.create(model="ear-1", file=("a.wav", b"RIFF\x00--\xff"))
        assert heard.text == "Hello."
        assert run.not_recorded == []


@pytest.mark.parametrize("live", [True, False])
def test_a_path_that_the_provider_does_not_know_is_its_own_to_refuse(between: Between, live: bool) -> None:
    for again in (True, live):
        with (
            between.running(live=again) as run,
            openai.OpenAI(base_url=between.url(), api_key="key", max_retries=0) as client,
            pytest.raises(openai.NotFoundError, match="no such path: /v1/vector_stores"),
        ):
            client.vector_stores.list()
        assert run.not_recorded == []


def test_a_piece_of_a_stream_is_handed_on_before_there_is_another(between: Between) -> None:
    first = b'data: {"choices": [{"index": 0, "delta": {"content": "The"}, "finish_reason": null}]}\n\n'
    between.server.script(replace(CHAT_STREAM, body=first * 2, sent=len(first), ending="hang"))
    got = b""
    with between.running(), connected(between) as connection:
        connection.sendall(written(between))
        while first not in got:
            got += connection.recv(65_536)


@pytest.mark.parametrize("drip", [None, 0.0])
@pytest.mark.parametrize(
    ("path", "answer", "end"),
    [
        ("/chat/completions", CHAT_STREAM, b"[DONE]\n\n"),
        ("/messages", MESSAGE_STREAM, b'"message_stop"}\n\n'),
        ("/responses", streamed(COMPLETED), b'"output": []}}\n\n'),
        ("/elsewhere", streamed({"a": 1}, {"b": 2}), b'{"b": 2}\n\n'),
        ("/models/m:streamGenerateContent", Answer(json.dumps(GEMINI_CHUNKS).encode(), chunked=True), b"]}]"),
        ("/api/chat", lines(*OLLAMA_LINES), b"}\n"),
        ("/model/m/converse-stream", frames(*CONVERSE_FRAMES), CONVERSE_FRAMES[-1]),
        ("/v2/chat", streamed(*COHERE_EVENTS), b"}\n\n"),
    ],
)
def test_the_end_of_a_stream_is_given_once_it_is_kept(
    server: Server, path: str, answer: Answer, end: bytes, drip: float | None
) -> None:
    class Watching(Memory):
        connection: socket.socket
        before = b""
        watched = Event()

        def keep(self, replies: Sequence[NewReply]) -> None:
            self.connection.setblocking(False)
            with suppress(BlockingIOError):
                self.before = self.connection.recv(1_000_000)
            self.connection.settimeout(30)
            super().keep(replies)
            self.watched.set()

    tape = Watching()
    with Between(server, tape) as between, between.running(), connected(between) as tape.connection:
        server.script(replace(answer, drip=drip))
        request = written(between).replace(b"/chat/completions", path.encode())
        tape.connection.sendall(request)
        assert tape.watched.wait(30)
        rest = all_of(tape.connection)
    assert len(tape.kept) == 1
    assert unchunked(tape.before + rest).endswith(end)
    assert not unchunked(tape.before).endswith(end)


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("/chat/completions", streamed(chunk({"content": "The sky"}))),
        ("/messages", streamed({"type": "message_start"}, {"type": "error", "error": {"type": "overloaded_error"}})),
        ("/responses", streamed({"type": "response.created", "response": {}})),
    ],
)
def test_a_stream_that_ends_before_its_end_is_not_kept(between: Between, path: str, answer: Answer) -> None:
    between.server.script(answer)
    with between.running() as run:
        assert b"200 OK" in said(between, written(between).replace(b"/chat/completions", path.encode()))
    assert between.tape.kept == {}
    assert [bool(inner.broken) for inner in run.inner_requests] == [True]


def test_a_stream_is_kept_though_the_app_has_gone_away_in_the_middle(between: Between) -> None:
    between.server.script(replace(CHAT_STREAM, drip=0.0))
    with between.running() as run:
        with connected(between) as connection:
            connection.sendall(written(between))
            assert connection.recv(65_536)
        while not run.inner_requests:
            assert said(between, b"GET / HTTP/1.0\r\n\r\n")
    assert run.inner_requests[0].reply.text == "The sky is blue."
