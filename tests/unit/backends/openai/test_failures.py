from __future__ import annotations

import asyncio

import pytest

from pytest_fcall.backends.openai import openai_backend
from pytest_fcall.core import CaseRefused, Model, ModelUnavailable, Request, Unanswered
from pytest_fcall.decoding.decoders import decode
from tests import servers
from tests.servers import Answer, Server
from tests.unit.backends.openai.asking import NOWHERE, WEATHER, ask, request, thread


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (servers.broken(), "the server failed: HTTP 500: upstream connect error"),
        (servers.broken(503), "the server failed: HTTP 503: upstream connect error"),
        (servers.web_page(502), "the server failed: HTTP 502: a web page"),
        (Answer(b"", 504), "the server failed: HTTP 504: Gateway Timeout"),
        (Answer(b"\xff\xfe", 500), "the server failed: HTTP 500: ��"),
        (servers.reset(), "the server closed the connection before it answered"),
        (servers.reset_mid_body(), "the answer broke off in the middle"),
        (servers.cut_off(), "the answer broke off in the middle"),
        (servers.cut_off(chunked=True), "the answer broke off in the middle"),
        (servers.truncated_json(), "the server's answer is JSON that is cut off after character 60"),
        (servers.invalid_utf8(), "the server's answer is not UTF-8 at byte"),
        (servers.web_page(), "the server answered with a web page; `base_url` usually ends in /v1"),
        (Answer(b"{}", headers={"content-encoding": "gzip"}), "the answer is compressed and cannot be decompressed"),
        (Answer(b""), "the server's answer is empty"),
        (Answer(b" \n"), "the server's answer is empty"),
        (Answer(b'data: {"choices": []}\n\n', content_type="text/event-stream"), "the server streams its answer"),
        (Answer(b'{"choices": NaN}'), "the server's answer is JSON with an invalid or too long number"),
        (Answer(b'{"choices": ' + b"1" * 5000 + b"}"), "JSON with an invalid or too long number"),
        (Answer(b"[" * 100_000), "the server's answer is JSON"),
        (servers.not_openai([1, 2]), "not in OpenAI's form"),
        (servers.not_openai(None), "not in OpenAI's form"),
        (servers.not_openai({"generated_text": "Hello"}), "not in OpenAI's form"),
    ],
)
def test_a_server_that_fails_is_asked_again_by_whoever_may(server: Server, answer: Answer, told: str) -> None:
    server.script(answer)
    with pytest.raises(Unanswered) as caught:
        ask(server, request())
    assert str(caught.value).startswith("openai:exam: ")
    assert told in str(caught.value)
    assert not caught.value.throttled
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("answer", "seconds"),
    [
        (servers.throttled(), None),
        (servers.throttled(3), 3.0),
        (servers.throttled(0.5), 0.5),
        (servers.throttled(3, milliseconds=1500), 1.5),
        (servers.throttled(date="Thu, 01 Jan 1970 00:00:00 GMT"), 0.0),
        (servers.throttled(date="soon"), None),
        (servers.throttled(-3), 0.0),
        (servers.throttled(float("inf")), None),
    ],
)
def test_too_many_requests_say_when_to_come_again(server: Server, answer: Answer, seconds: float | None) -> None:
    server.script(answer)
    with pytest.raises(Unanswered, match="too many requests at a time: HTTP 429: Rate limit") as caught:
        ask(server, request())
    assert caught.value.throttled
    assert caught.value.retry_after == seconds


@pytest.mark.parametrize("answer", [servers.silent(), servers.silent(sent=30), servers.dripping(1.0)])
def test_an_answer_that_takes_too_long_is_not_waited_for(server: Server, answer: Answer) -> None:
    server.script(answer)
    with pytest.raises(Unanswered, match=r"no answer came within 0\.05 s"):
        ask(server, request(), timeout="0.05")


def test_a_server_that_is_not_there_is_told_of() -> None:
    with Server() as server, pytest.raises(Unanswered, match="the connection was refused: is the server running"):
        ask(server, request(), base_url=servers.refused_connection())


@pytest.mark.parametrize(("scheme", "told"), [("http", "the answer is not HTTP"), ("https", r"no connection: \[SSL")])
def test_a_server_of_another_kind_is_told_of(scheme: str, told: str) -> None:
    async def mail(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(65536)
        writer.write(b"220 mail.example ready\r\n\r\n")
        writer.close()

    async def asked() -> None:
        async with await asyncio.start_server(mail, "127.0.0.1", 0) as server:
            address = f"{scheme}://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
            backend = openai_backend(Model("openai", "exam", {"base_url": address}), NOWHERE)
            try:
                await backend.complete(request())
            finally:
                await backend.close()

    with pytest.raises(Unanswered, match=f"^openai:exam: {told}"):
        asyncio.run(asked())


def test_a_huge_answer_is_read(server: Server) -> None:
    server.script(servers.huge(2_000_000))
    assert len(ask(server, request()).text) == 2_000_000


def test_a_call_that_the_provider_could_not_read_is_the_models_failure(server: Server) -> None:
    error = servers.provider_error(
        400,
        "Failed to call a function. See 'failed_generation' for more details.",
        code="tool_use_failed",
        failed_generation="<function=get_weather{city: Oslo}",
    )
    server.script(error)
    reply = ask(server, request(WEATHER))
    assert reply.text == "<function=get_weather{city: Oslo}"
    assert reply.finish == "unknown"
    assert reply.seconds is not None
    calls = decode(reply)
    assert calls.calls == ()
    assert calls.malformed is not None
    assert calls.malformed.startswith("The model's call could not be read by the provider: Failed to call a function")


def test_an_answer_without_room_is_cut_off(server: Server) -> None:
    told = "Could not finish the message because max_tokens or model output limit was reached."
    server.script(servers.provider_error(400, told))
    assert ask(server, request()).finish == "length"


def test_an_error_in_a_good_answer_is_an_error(server: Server) -> None:
    server.script(servers.not_openai({"error": {"code": 402, "message": "Insufficient credits"}}))
    with pytest.raises(ModelUnavailable, match="no quota or credit is left"):
        ask(server, request())
    choice = {"finish_reason": "error", "message": {"content": "We"}, "error": {"code": 502, "message": "No host"}}
    server.script(servers.not_openai({"choices": [choice]}))
    with pytest.raises(Unanswered, match="the server failed: HTTP 502: No host"):
        ask(server, request())


def test_a_wrong_key_stops_the_model_with_one_line(server: Server) -> None:
    server.script(servers.provider_error(401, "Incorrect API key provided: sk-abc***xyz.", code="invalid_api_key"))
    with pytest.raises(ModelUnavailable) as caught:
        ask(server, request())
    assert str(caught.value) == (
        "openai:exam: the API key was not accepted; check the variable OPENAI_API_KEY: HTTP 401"
    )


def test_a_request_that_is_too_long_concerns_its_case(server: Server) -> None:
    server.script(servers.provider_error(400, "Much too long", code="context_length_exceeded"))
    with pytest.raises(CaseRefused, match=r"^openai:exam: the request is longer than the model takes: HTTP 400: Much"):
        ask(server, request())


SECRETS = {
    "key": "sk-planted-0001",
    "header": "planted-header-0002",
    "query": "planted-query-0003",
    "step": "planted-step-of-an-address-0004",
    "body": "planted-body-0005",
    "variable": "planted-variable-0006",
}


@pytest.mark.parametrize("status", [200, 400, 403, 404, 429, 500])
def test_secrets_are_in_no_message_and_in_no_reply(
    server: Server, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = f"You sent {' and '.join(SECRETS.values())} to {server.url}/{SECRETS['step']}."
    server.script(servers.provider_error(status, told))
    monkeypatch.setenv("PLANTED", SECRETS["key"])
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", f"X-Gateway: {SECRETS['variable']}")
    options = {
        "api_key_env": "PLANTED",
        "base_url": f"{server.url}/{SECRETS['step']}?code={SECRETS['query']}",
        "headers": f'{{"X-Auth": "Basic {SECRETS["header"]}"}}',
        "extra_body": f'{{"options": {{"session_token": ["{SECRETS["body"]}"]}}}}',
    }
    with pytest.raises((ModelUnavailable, CaseRefused, Unanswered)) as caught:
        ask(server, request(), **options)
    everything = f"{caught.value!r} {vars(caught.value)} {caught.value.__cause__!r} {caught.value.__context__!r}"
    assert "You sent … and … and … and … and … and … to" in str(caught.value)
    assert not any(secret in everything for secret in SECRETS.values())


def test_secrets_are_in_no_reply(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRETS["key"])
    reply = ask(server, request(), headers=f'{{"X-Auth": "{SECRETS["header"]}"}}')
    assert server.asked[0].headers["x-auth"] == SECRETS["header"]
    assert not any(told in repr(reply) for told in (*SECRETS.values(), server.url, str(server.url).split(":")[2]))


def test_a_back_end_may_be_asked_from_several_event_loops_and_closed_twice(server: Server) -> None:
    backend = openai_backend(Model("openai", "exam", {"base_url": server.url}), NOWHERE)

    async def once(asked: Request) -> str:
        try:
            return (await backend.complete(asked)).text
        finally:
            await backend.close()

    assert asyncio.run(once(request())) == asyncio.run(once(request())) == "You said: Weather in Oslo?"
    asyncio.run(backend.close())


def test_many_questions_at_a_time_get_their_own_answers(server: Server) -> None:
    def asked(number: int) -> Request:
        return thread([{"role": "user", "content": str(number)}])

    async def all_of_them() -> list[str]:
        backend = openai_backend(Model("openai", "exam", {"base_url": server.url}), NOWHERE)
        try:
            return [each.text for each in await asyncio.gather(*(backend.complete(asked(n)) for n in range(50)))]
        finally:
            await backend.close()

    assert asyncio.run(all_of_them()) == [f"You said: {number}" for number in range(50)]
