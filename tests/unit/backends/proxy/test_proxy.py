from __future__ import annotations

import http.client
import json
import socket
from dataclasses import replace
from typing import Any

import anthropic
import openai
import pytest
from openai.types.chat import ChatCompletionMessageParam

from pytest_fcall.core import RawCall, Usage
from tests.servers import Answer, Server, chat, provider_error, responses
from tests.servers.faults import cut_off, reset, throttled
from tests.unit.backends.proxy.support import CHAT_STREAM, MESSAGE, MESSAGE_STREAM, Between, Fresh, port_of, streamed

QUESTION: list[ChatCompletionMessageParam] = [{"role": "user", "content": "Weather in Oslo?"}]
CALL = RawCall("get_weather", '{"city": "Oslo"}', "c1")


def client(between: Between, token: str | None = None, **more: Any) -> openai.OpenAI:
    return openai.OpenAI(base_url=between.url(token), api_key="sk-very-secret", **{"max_retries": 0, **more})


def ask(between: Between, content: str = "Weather in Oslo?", **more: Any) -> str | None:
    with client(between) as asking:
        reply = asking.chat.completions.create(model="exam-1", messages=[{"role": "user", "content": content}], **more)
    said: str | None = reply.choices[0].message.content
    return said


def test_a_reply_is_recorded_and_given_again_without_the_server(between: Between) -> None:
    with between.running() as run:
        first = ask(between)
    assert (first, len(between.server.asked)) == ("You said: Weather in Oslo?", 1)
    assert [inner.model for inner in run.inner_requests] == ["exam-1"]
    assert run.inner_requests[0].reply.usage == Usage(20, 10)
    with between.running(live=False) as run:
        assert ask(between) == first
    assert len(between.server.asked) == 1
    assert run.not_recorded == []
    assert run.inner_requests[0].recorded


def test_keys_and_headers_are_passed_on_and_never_kept(between: Between) -> None:
    with between.running():
        ask(between, extra_headers={"x-team": "shop-secret"}, extra_body={"api_key": "body-secret"})
    sent = between.server.asked[0].headers
    assert (sent["authorization"], sent["x-team"]) == ("Bearer sk-very-secret", "shop-secret")
    (entry,) = between.tape.kept.values()
    assert "secret" not in repr(entry)


def test_equal_requests_keep_their_order(between: Between) -> None:
    between.server.script(chat("one"), chat("two"), chat("three"))
    with between.running():
        assert [ask(between) for _ in range(3)] == ["one", "two", "three"]
    with between.running(live=False):
        assert [ask(between) for _ in range(3)] == ["one", "two", "three"]


def test_a_request_that_failed_is_the_same_one_when_it_is_sent_again(between: Between) -> None:
    between.server.script(throttled(0.001), reset(), chat("one"), chat("two"))
    with between.running(), client(between, max_retries=3) as asking:
        said = [asking.chat.completions.create(model="exam-1", messages=QUESTION) for _ in range(2)]
    assert [each.choices[0].message.content for each in said] == ["one", "two"]
    with between.running(live=False):
        assert [ask(between) for _ in range(2)] == ["one", "two"]


@pytest.mark.parametrize("status", [400, 404, 413, 422])
def test_what_a_provider_says_of_the_request_itself_is_given_again(between: Between, status: int) -> None:
    between.server.script(provider_error(status, "too long", code="context_length_exceeded"))
    for live in (True, False):
        with between.running(live=live) as run, pytest.raises(openai.APIStatusError, match="too long") as error:
            ask(between)
        assert error.value.status_code == status
        assert run.not_recorded == []
        assert run.inner_requests[0].reply.malformed


@pytest.mark.parametrize("status", [401, 403, 429, 500, 503])
def test_a_failure_that_may_pass_is_not_kept(between: Between, status: int) -> None:
    between.server.script(provider_error(status, "not now"))
    with between.running(), pytest.raises(openai.APIStatusError, match="not now"):
        ask(between)
    assert not between.tape.kept


def test_the_same_request_of_another_case_is_another_one(between: Between) -> None:
    between.server.script(chat("for oslo"), chat("for rome"))
    for case in ("oslo", "rome"):
        with between.running(case):
            ask(between)
    for case in ("rome", "oslo"):
        with between.running(case, live=False):
            assert ask(between) == f"for {case}"


def test_the_same_request_of_another_sample_is_another_one(between: Between) -> None:
    between.server.script(chat("first"), chat("second"))
    for sample in (0, 1):
        with between.running(sample=sample):
            ask(between)
    with between.running(sample=1, live=False):
        assert ask(between) == "second"


def test_a_new_request_is_refused_in_words_with_what_is_new(between: Between) -> None:
    with between.running():
        ask(between, "Weather in Oslo?")
    with between.running(live=False) as run, pytest.raises(openai.BadRequestError) as refused:
        ask(between, "Weather in Rome?")
    assert run.not_recorded == [
        "request 1 to exam-1 is not recorded\n"
        "the prompt changed (user message):\n"
        "  - Weather in Oslo?\n"
        "  + Weather in Rome?"
    ]
    assert run.not_recorded[0] in str(refused.value.body["message"])  # type: ignore[index]
    assert len(between.server.asked) == 1


def test_nobody_tries_again_what_is_not_recorded(between: Between) -> None:
    with (
        between.running(live=False) as run,
        client(between, max_retries=3) as asking,
        pytest.raises(openai.BadRequestError),
    ):
        asking.chat.completions.create(model="exam-1", messages=QUESTION)
    assert len(run.not_recorded) == 1


def test_a_request_that_comes_once_more_than_recorded_says_so(between: Between) -> None:
    with between.running():
        ask(between)
    with between.running(live=False) as run:
        ask(between)
        with pytest.raises(openai.BadRequestError, match="not for the 2nd time"):
            ask(between)
    assert len(run.inner_requests) == 1


def test_responses_are_recorded_with_their_calls(between: Between) -> None:
    between.server.script(responses("Looking.", calls=[("get_weather", {"city": "Oslo"})]))
    tool: Any = {"type": "function", "name": "get_weather", "parameters": {"type": "object"}, "strict": False}
    for live in (True, False):
        with between.running(live=live) as run, client(between) as asking:
            reply = asking.responses.create(model="exam-1", instructions="Be short.", input="Oslo?", tools=[tool])
        assert reply.output_text == "Looking."
        assert run.inner_requests[0].reply.tool_calls == (RawCall("get_weather", '{"city": "Oslo"}', "call_0"),)
        assert [tool.name for tool in run.inner_requests[0].request.tools] == ["get_weather"]
        assert [message["content"] for message in run.inner_requests[0].request.messages] == ["Be short.", "Oslo?"]


@pytest.mark.parametrize("live", [True, False])
def test_a_stream_is_given_again_event_by_event(between: Between, live: bool) -> None:
    between.server.script(CHAT_STREAM)
    with between.running(), client(between) as asking:
        first = list(asking.chat.completions.create(model="exam-1", messages=QUESTION, stream=True))
    with between.running(live=live) as run, client(between) as asking:
        again = list(asking.chat.completions.create(model="exam-1", messages=QUESTION, stream=True))
    assert again == first
    assert len(first) == 5
    reply = run.inner_requests[0].reply
    assert (reply.text, reply.tool_calls, reply.finish) == ("The sky is blue.", (CALL,), "tool_calls")
    assert reply.usage == Usage(20, 10)


def test_a_stream_of_responses_comes_to_a_reply(between: Between) -> None:
    whole = json.loads(responses("Blue.").body)
    between.server.script(
        streamed(
            {"type": "response.created", "sequence_number": 0, "response": {**whole, "output": []}},
            {"type": "response.completed", "sequence_number": 1, "response": whole},
            named=True,
        )
    )
    with between.running() as run, client(between) as asking:
        events = list(asking.responses.create(model="exam-1", input="Oslo?", stream=True))
    assert [event.type for event in events] == ["response.created", "response.completed"]
    assert run.inner_requests[0].reply.text == "Blue."


@pytest.mark.parametrize("stream", [False, True])
def test_messages_are_recorded_and_given_again(between: Between, stream: bool) -> None:
    between.server.script(MESSAGE_STREAM if stream else Answer(json.dumps(MESSAGE).encode()))
    texts = []
    for live in (True, False):
        url = between.url(variable="ANTHROPIC_BASE_URL")
        with between.running(live=live) as run, anthropic.Anthropic(base_url=url, api_key="key") as asking:
            asked: Any = {"model": "exam-1", "max_tokens": 9, "system": "Be short.", "messages": QUESTION}
            if stream:
                with asking.messages.stream(**asked) as events:
                    message = events.get_final_message()
            else:
                message = asking.messages.create(**asked)
        texts.append([part.model_dump() for part in message.content])
        reply = run.inner_requests[0].reply
        assert (reply.text, reply.finish) == ("I look.", "tool_calls")
        assert reply.tool_calls == (RawCall("get_weather", {"city": "Oslo"}, "t1"),)
        assert reply.usage == Usage(20, 10, 8)
        assert [message["role"] for message in run.inner_requests[0].request.messages] == ["system", "user"]
    assert texts[0] == texts[1]
    assert len(between.server.asked) == 1
    assert between.server.asked[0].path == "/v1/messages"


def test_what_is_no_question_to_a_model_is_recorded_too(between: Between) -> None:
    vector = {"object": "embedding", "index": 0, "embedding": [0.5, 1.0]}
    answer = {"object": "list", "data": [vector], "model": "e", "usage": {"prompt_tokens": 1, "total_tokens": 1}}
    between.server.script(Answer(json.dumps(answer).encode()))
    for live in (True, False):
        with between.running(live=live) as run, client(between) as asking:
            found = asking.embeddings.create(model="e", input="Oslo", encoding_format="float")
        assert found.data[0].embedding == [0.5, 1.0]
        assert run.inner_requests[0].model == ""


def test_a_broken_connection_is_a_broken_connection_to_the_app(between: Between) -> None:
    between.server.script(reset(), cut_off(), cut_off(chunked=True))
    with between.running() as run:
        for _ in range(3):
            with pytest.raises(openai.APIConnectionError):
                ask(between)
    assert ([*run.inner_requests], between.tape.kept) == ([], {})


def test_a_stream_that_breaks_off_is_not_kept(between: Between) -> None:
    between.server.script(replace(CHAT_STREAM, sent=300, ending="reset"), CHAT_STREAM)
    with between.running() as run, client(between) as asking:
        stream = asking.chat.completions.create(model="exam-1", messages=QUESTION, stream=True)
        with pytest.raises(Exception):  # noqa: B017, PT011  whichever the library has for it
            list(stream)
        assert ([*run.inner_requests], between.tape.kept) == ([], {})
        assert len(list(asking.chat.completions.create(model="exam-1", messages=QUESTION, stream=True))) == 5
    assert len(between.tape.kept) == 1


def test_a_reply_is_kept_though_the_app_has_gone_away(between: Between) -> None:
    body = json.dumps({"model": "exam-1", "messages": QUESTION}).encode()
    with between.running() as run:
        address = ("127.0.0.1", between.listening.port)
        with between.server.holding(), socket.create_connection(address) as connection:
            path = f"/{between.runs.in_process}/OPENAI_BASE_URL/v1/chat/completions"
            head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
            connection.sendall(head.encode() + body)
            between.server.wait_for(1)
        assert ask(between, "something else")
        while not run.inner_requests[1:]:
            assert ask(between, "to pass the time")
    assert "Weather in Oslo?" in {str(entry.request.messages[0]["content"]) for entry in between.tape.kept.values()}


def test_ten_megabytes_go_both_ways(between: Between) -> None:
    between.server.default = lambda _: chat("y" * 10_000_000)
    asked = "x " * 5_000_000
    for live in (True, False):
        with between.running(live=live):
            assert len(ask(between, asked) or "") == 10_000_000
    assert len(between.server.asked[0].body) > 10_000_000


def test_hostile_bodies_come_back_as_they_came(between: Between) -> None:
    bodies = [b"", b"\xff\xfe", b"[" * 100_000, b'{"model": NaN}', b"null", b'"text"', b'{"messages": 7, "tools": 8}']
    answers = [b"\xff", b"{}", b"[1]", b"", b"null", b'{"choices": 5}', b'{"choices": [{"message": 1}]}']
    between.server.script(*(Answer(answer) for answer in answers))
    with between.running() as run:
        for body, answer in zip(bodies, answers, strict=True):
            assert post(between, body) == (200, answer)
    assert between.tape.kept == {}
    assert len(run.inner_requests) == len(bodies)


def test_hostile_requests_that_were_answered_are_known_again(between: Between) -> None:
    bodies = [b"\xff\xfe", b"[" * 100_000, b'{"model": NaN}', b"null", b'"text"', b'{"messages": 7, "tools": 8}']
    for live in (True, False):
        between.server.default = lambda _: chat("Blue.")
        with between.running(live=live) as run:
            for body in bodies:
                assert post(between, body) == (200, chat("Blue.").body)
        assert run.not_recorded == []
    assert len(between.server.asked) == len(bodies)


def post(between: Between, body: bytes, path: str | None = None) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port_of(between.url()), timeout=30)
    try:
        connection.request("POST", path or f"/{between.runs.in_process}/OPENAI_BASE_URL/v1/chat/completions", body)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


@pytest.mark.parametrize("path", ["/", "/elsewhere", "/wrong/OPENAI_BASE_URL/v1/models", "/wrong/X/../../y"])
def test_an_address_that_is_none_leads_nowhere(between: Between, path: str) -> None:
    with between.running() as run:
        status, _ = post(between, b"{}", path)
    assert status in (400, 404)
    assert (between.server.asked, [*run.inner_requests]) == ([], [])


def test_only_the_providers_of_the_run_can_be_reached(between: Between) -> None:
    with between.running():
        status, body = post(between, b"{}", f"/{between.runs.in_process}/OTHER_BASE_URL/v1/models")
    assert status == 400
    assert b"unknown proxy address" in body


def test_a_request_of_no_case_is_refused(between: Between) -> None:
    with pytest.raises(openai.BadRequestError, match="none is running"):
        ask(between)
    assert between.server.asked == []


def test_what_could_not_be_kept_is_not_asked_for(server: Server) -> None:
    from pytest_fcall.backends.store import StoreError

    class Full(Fresh):
        def check(self) -> None:
            raise StoreError("the disk is full")

    refused = pytest.raises(openai.BadRequestError, match="the disk is full")
    with Between(server, Full()) as between, between.running() as run, refused:
        ask(between)
    assert run.not_stored == ["the disk is full"]
    assert server.asked == []


def test_nothing_is_served_where_nobody_comes(server: Server) -> None:
    with Between(server) as between:
        assert between.listening.was_used is False
