from __future__ import annotations

import http.client
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from threading import Thread
from urllib.parse import urlsplit

import pytest

from tests.servers import (
    Answer,
    Asked,
    Server,
    broken,
    chat,
    closed_unannounced,
    cut_off,
    dripping,
    dropped_when_reused,
    huge,
    invalid_utf8,
    not_openai,
    refused_connection,
    reset,
    reset_mid_body,
    responses,
    silent,
    throttled,
    truncated_json,
    web_page,
)

HELLO = {"messages": [{"role": "user", "content": "Hello"}]}


@contextmanager
def connected(url: str, timeout: float = 10) -> Iterator[http.client.HTTPConnection]:
    with closing(http.client.HTTPConnection(urlsplit(url).netloc, timeout=timeout)) as connection:
        yield connection


def ask(connection: http.client.HTTPConnection, body: object = HELLO, path: str = "chat/completions") -> bytes:
    connection.request("POST", f"/v1/{path}", json.dumps(body), {"Authorization": "Bearer key"})
    return connection.getresponse().read()


def test_calls_that_the_user_spells_out_are_made_and_all_else_is_said_back(server: Server) -> None:
    calls = '[{"name": "add", "arguments": {"a": 1}}]'
    with connected(server.url) as connection:
        said = json.loads(ask(connection))["choices"][0]
        called = json.loads(ask(connection, {"messages": [{"role": "user", "content": calls}]}))["choices"][0]
        also = json.loads(ask(connection, {"input": calls}, "responses"))["output"]
        connection.request("GET", "/v1/models")
        assert connection.getresponse().status == 404
    assert (said["message"]["content"], said["finish_reason"]) == ("You said: Hello", "stop")
    assert called["message"]["tool_calls"][0]["function"] == {"name": "add", "arguments": '{"a": 1}'}
    assert [(item["type"], item["name"], item["arguments"]) for item in also] == [("function_call", "add", '{"a": 1}')]


def test_what_was_asked_is_kept_in_order_with_headers_and_connection(server: Server) -> None:
    for _ in range(2):
        with connected(server.url) as connection:
            ask(connection)
            ask(connection, {"messages": [{"role": "user", "content": "Again"}]})
    server.wait_for(4)
    assert [(asked.connection, asked.json["messages"][0]["content"]) for asked in server.asked] == [
        (1, "Hello"),
        (1, "Again"),
        (2, "Hello"),
        (2, "Again"),
    ]
    first = server.asked[0]
    assert (first.method, first.path, first.headers["authorization"]) == ("POST", "/v1/chat/completions", "Bearer key")
    assert first.answered is not None
    assert first.answered >= first.arrived


def test_scripted_answers_come_first_and_in_order(server: Server) -> None:
    server.script(chat("one"), responses("two"))
    with connected(server.url) as connection:
        texts = [ask(connection).decode() for _ in range(3)]
    assert ['"one"' in texts[0], '"two"' in texts[1], "You said: Hello" in texts[2]] == [True] * 3


def test_an_answer_can_depend_on_what_was_asked() -> None:
    def by_length(asked: Asked) -> Answer:
        return chat(str(len(asked.body)))

    with Server(by_length) as server, connected(server.url) as connection:
        assert json.loads(ask(connection))["choices"][0]["message"]["content"] == str(len(json.dumps(HELLO)))


@pytest.mark.parametrize(
    ("answer", "status", "headers"),
    [
        (throttled(2), 429, {"retry-after": "2"}),
        (throttled(milliseconds=1500), 429, {"retry-after-ms": "1500"}),
        (throttled(date="Wed, 21 Oct 2026 07:28:00 GMT"), 429, {"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT"}),
        (throttled(1, status=503), 503, {"retry-after": "1"}),
        (broken(), 500, {"content-type": "text/plain"}),
        (Answer(status=599), 599, {}),
        (web_page(), 200, {"content-type": "text/html; charset=utf-8"}),
    ],
)
def test_faults_have_the_status_and_headers_of_real_ones(
    server: Server, answer: Answer, status: int, headers: dict[str, str]
) -> None:
    server.script(answer)
    with connected(server.url) as connection:
        connection.request("POST", "/v1/chat/completions", json.dumps(HELLO))
        response = connection.getresponse()
        response.read()
    assert response.status == status
    assert {name: response.getheader(name) for name in headers} == headers


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (reset(), ConnectionResetError),
        (reset_mid_body(), (ConnectionResetError, http.client.IncompleteRead)),
        (cut_off(), http.client.IncompleteRead),
        (cut_off(chunked=True), http.client.IncompleteRead),
    ],
    ids=["reset", "reset-mid-body", "cut-off", "cut-off-chunks"],
)
def test_connections_break_where_they_are_told_to(
    server: Server, answer: Answer, error: type[Exception] | tuple[type[Exception], ...]
) -> None:
    server.script(answer)
    with connected(server.url) as connection, pytest.raises(error):
        ask(connection)


@pytest.mark.parametrize("answer", [silent(), silent(sent=5)], ids=["from-the-start", "in-the-body"])
def test_silence_lasts_until_the_client_loses_patience(server: Server, answer: Answer) -> None:
    server.script(answer)
    with connected(server.url, timeout=0.05) as connection, pytest.raises(TimeoutError):
        ask(connection)


@pytest.mark.parametrize(
    "answer", [truncated_json(), invalid_utf8(), web_page()], ids=["truncated", "invalid-utf8", "web-page"]
)
def test_a_whole_body_can_still_be_unreadable(server: Server, answer: Answer) -> None:
    server.script(answer)
    with connected(server.url) as connection:
        body = ask(connection)
    assert body == answer.body
    with pytest.raises(ValueError, match=r"."):
        json.loads(body)


@pytest.mark.parametrize(
    "answer",
    [dripping(0), Answer(b"{}", chunked=True), Answer(b"", chunked=True), huge(3_000_000), not_openai([1])],
    ids=["dripping", "chunked", "no-chunk", "huge", "not-openai"],
)
def test_a_body_arrives_whole_however_it_travels(server: Server, answer: Answer) -> None:
    server.script(answer)
    with connected(server.url) as connection:
        assert ask(connection) == answer.body


def test_a_connection_can_be_closed_after_an_answer_that_promised_to_keep_it(server: Server) -> None:
    server.script(closed_unannounced())
    with connected(server.url) as connection:
        assert json.loads(ask(connection))
        assert connection.sock is not None
        assert connection.sock.recv(1) == b""


def test_a_connection_can_break_when_it_is_used_again(server: Server) -> None:
    server.script(dropped_when_reused())
    with connected(server.url) as connection:
        assert json.loads(ask(connection))
        with pytest.raises(ConnectionError):
            ask(connection)
    assert len(server.asked) == 1


def test_answers_are_held_back_until_the_test_lets_them_go(server: Server) -> None:
    got: list[bytes] = []

    def client() -> None:
        with connected(server.url) as connection:
            got.append(ask(connection))

    clients = [Thread(target=client) for _ in range(3)]
    with server.holding():
        for each in clients:
            each.start()
        server.wait_for(3)
        assert not got
    for each in clients:
        each.join()
    assert len(got) == 3


def test_nobody_listens_where_a_connection_is_to_be_refused() -> None:
    with connected(refused_connection()) as connection, pytest.raises(ConnectionRefusedError):
        ask(connection)


def test_the_server_also_runs_as_a_process_of_its_own() -> None:
    command = [sys.executable, "-m", "tests.servers", "--latency", "0.01"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        with connected(process.stdout.readline().strip()) as connection:
            assert json.loads(ask(connection))["choices"]
        process.communicate()
    assert process.returncode == 0
