"""A real back end, a real server, and what goes wrong between them."""

from __future__ import annotations

from pathlib import Path

import pytest

import pytest_fcall.backends.openai.client  # noqa: F401  # takes longer than the shortest time that is measured here
from pytest_fcall.backends.dispatch.job import DispatchLimits
from pytest_fcall.backends.openai import openai_backend
from pytest_fcall.core import Backend, CaseRefused, Model, ModelUnavailable
from tests.servers import (
    Answer,
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
    provider_error,
    refused_connection,
    reset,
    reset_mid_body,
    silent,
    throttled,
    truncated_json,
    web_page,
)
from tests.unit.backends.dispatch.conftest import Start
from tests.unit.backends.dispatch.support import Run, job, jobs

TEMPORARY = {
    "throttled": throttled(),
    "throttled-for-seconds": throttled(7),
    "throttled-for-milliseconds": throttled(milliseconds=1500),
    "throttled-until-a-date": throttled(date="Wed, 21 Oct 2015 07:28:00 GMT"),
    "broken": broken(),
    "overloaded": broken(529),
    "unavailable": throttled(3, status=503),
    "too-slow": broken(408),
    "conflict": broken(409),
    "too-early": broken(425),
    "reset": reset(),
    "reset-mid-body": reset_mid_body(),
    "cut-off": cut_off(),
    "chunks-cut-off": cut_off(chunked=True),
    "truncated": truncated_json(),
    "web-page": web_page(),
    "gateway": web_page(502),
    "invalid-utf8": invalid_utf8(),
    "a-list": not_openai([1, 2]),
    "another-shape": not_openai({"answer": 42}),
    "empty": Answer(b""),
}


def backend(url: str, **options: str) -> Backend:
    return openai_backend(Model("openai", "exam", {"base_url": url, **options}), Path("/no/such/folder"))


@pytest.mark.parametrize("fault", TEMPORARY.values(), ids=TEMPORARY.keys())
def test_what_may_pass_is_asked_again_until_it_has(server: Server, run: Run, fault: Answer) -> None:
    server.script(fault, fault, chat("at last"))
    assert run.ask([job("Hello", backend(server.url))]) == ["at last"]
    assert len(server.asked) == 3
    assert len({asked.body for asked in server.asked}) == 1
    assert run.dispatcher.progress().retried == 2


@pytest.mark.parametrize("silence", [silent(), silent(sent=5), dripping(0.05)], ids=["whole", "mid-body", "dripping"])
def test_silence_is_asked_again_when_its_time_is_up(server: Server, start: Start, silence: Answer) -> None:
    server.script(silence, chat("at last"))
    assert start(DispatchLimits(timeout=0.5)).ask([job("Hello", backend(server.url))]) == ["at last"]
    assert len(server.asked) == 2


def test_what_a_server_asks_us_to_wait_is_waited(server: Server, run: Run) -> None:
    server.script(throttled(7), throttled(milliseconds=1500))
    run.ask([job("Hello", backend(server.url))])
    assert run.clock.waits == [7.5, 2.5]


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (
            provider_error(400, "This model's maximum context length is 8 tokens", code="context_length_exceeded"),
            CaseRefused,
        ),
        (provider_error(401, "Incorrect API key provided", code="invalid_api_key"), ModelUnavailable),
        (provider_error(404, "The model `exam` does not exist", code="model_not_found"), ModelUnavailable),
        (provider_error(429, "You exceeded your current quota", code="insufficient_quota"), ModelUnavailable),
    ],
    ids=["context", "key", "model", "quota"],
)
def test_what_will_not_pass_is_asked_once(server: Server, run: Run, answer: Answer, error: type[Exception]) -> None:
    server.script(answer)
    [failure] = run.ask([job("Hello", backend(server.url))])
    assert isinstance(failure, error)
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "good", [closed_unannounced(), dropped_when_reused(), huge(2_000_000)], ids=["closed", "dropped", "huge"]
)
def test_a_good_reply_is_one_whatever_becomes_of_its_connection(server: Server, start: Start, good: Answer) -> None:
    server.script(good)
    run = start(DispatchLimits(concurrency=1))
    first, second = run.ask(jobs(2, backend(server.url)))
    assert len(str(first)) > 20
    assert second == "You said: 1"


def test_a_server_that_nobody_runs_is_told_of_in_words(run: Run) -> None:
    [error] = run.ask([job("Hello", backend(refused_connection()))])
    assert isinstance(error, ModelUnavailable)
    assert str(error).endswith("the connection was refused: is the server running? (6 attempts)")


def test_a_burst_of_faults_of_all_kinds_loses_no_reply(server: Server, run: Run) -> None:
    server.script(*TEMPORARY.values(), *TEMPORARY.values())
    asked = jobs(100, backend(server.url))
    assert run.ask(asked) == [f"You said: {number}" for number in range(100)]
    assert len(server.asked) == 100 + 2 * len(TEMPORARY)


def test_as_many_requests_are_on_the_wire_as_allowed(server: Server, start: Start) -> None:
    run = start(DispatchLimits(concurrency=9))
    asked = backend(server.url)
    with server.holding():
        futures = [run.dispatcher.submit(each) for each in jobs(30, asked)]
        server.wait_for(9)
        assert run.dispatcher.progress().in_flight == 9
        assert len(server.asked) == 9
    assert [future.result(10).text for future in futures] == [f"You said: {number}" for number in range(30)]
