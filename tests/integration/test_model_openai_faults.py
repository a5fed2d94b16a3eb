"""What people see of a server that is not well: outcome, one line, what was asked again, what was kept."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

import pytest

from tests.by_night import by_night
from tests.integration.exam import Exam, assert_errors, called, prompt_of
from tests.servers import (
    Answer,
    Asked,
    broken,
    chat,
    closed_unannounced,
    cut_off,
    dripping,
    dropped_when_reused,
    echo,
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

INCONCLUSIVE = 10
SKY = "cases: [{id: sky, prompt: What is the sky like?, expect: no_call}]"
PARIS = chat(calls=[("get_weather", {"city": "Paris"})])


PASSING = {
    "throttled, no word when to come": throttled(),
    "throttled for a moment": throttled(0.01),
    "throttled for milliseconds": throttled(milliseconds=10),
    "throttled until a date that is over": throttled(date="Wed, 21 Oct 2015 07:28:00 GMT"),
    "unavailable for a moment": throttled(0.01, status=503),
    "500": broken(),
    "529": broken(529),
    "408": broken(408),
    "409": broken(409),
    "425": broken(425),
    "reset": reset(),
    "reset in the body": reset_mid_body(),
    "cut off": cut_off(),
    "cut off between chunks": cut_off(chunked=True),
    "truncated JSON": truncated_json(),
    "a web page": web_page(),
    "a gateway's page": web_page(502),
    "no UTF-8": invalid_utf8(),
    "a list": not_openai([1, 2]),
    "another shape": not_openai({"answer": 42}),
    "empty": Answer(b""),
}


def test_faults_that_pass_are_not_seen(exam: Exam) -> None:
    exam.shop.cases(asking(PASSING), "exam.fc.yaml")
    exam.server.default = lambda asked: PASSING[prompt_of(asked)] if exam.times(asked) < 3 else echo(asked)
    result = exam.run()
    result.assert_outcomes(passed=len(PASSING))
    assert result.ret == 0
    assert Counter(exam.asked()) == dict.fromkeys(PASSING, 3)
    assert exam.kept() == set(PASSING)


def asking(prompts: Iterable[str]) -> str:
    """The YAML of cases that want to be answered in words."""
    return "cases:\n" + "".join(
        f"  - {{id: case{n}, prompt: {json.dumps(prompt)}, expect: no_call}}\n" for n, prompt in enumerate(prompts)
    )


@pytest.mark.parametrize("good", [closed_unannounced(), dropped_when_reused()], ids=["closed", "dropped when reused"])
def test_connections_that_do_not_last_lose_nothing(exam: Exam, good: Answer) -> None:
    exam.cities("Paris", "Rome", "Oslo")
    exam.server.default = lambda asked: replace(echo(asked), ending=good.ending)
    exam.run("--fc-concurrency=1").assert_outcomes(passed=3)
    assert exam.kept() == {called(city) for city in ("Paris", "Rome", "Oslo")}


@dataclass(frozen=True)
class Staying:
    """A fault that stays, and the line that is seen."""

    answer: Answer
    line: str


STAYING = {
    "throttled": Staying(throttled(0.001), "too many requests at a time: HTTP 429: Rate limit reached for requests"),
    "500": Staying(broken(), "the server failed: HTTP 500: upstream connect error"),
    "reset": Staying(reset(), "the server closed the connection before it answered"),
    "reset in the body": Staying(reset_mid_body(), "the answer broke off in the middle"),
    "cut off": Staying(cut_off(chunked=True), "the answer broke off in the middle"),
    "truncated": Staying(truncated_json(), "the server's answer is JSON that is cut off after character *"),
    "a web page": Staying(web_page(), "the server answered with a web page; `base_url` usually ends in /v1, *"),
    "a gateway's page": Staying(web_page(502), "the server failed: HTTP 502: a web page"),
    "no UTF-8": Staying(invalid_utf8(), "the server's answer is not UTF-8 at byte *"),
    "a list": Staying(not_openai([1]), "the server's answer is JSON, but not in OpenAI's form"),
    "another shape": Staying(not_openai({"a": 1}), "the server's answer is JSON, but not in OpenAI's form*"),
    "empty": Staying(Answer(b""), "the server's answer is empty"),
}


def test_faults_that_stay_are_errors_of_one_line_and_the_run_inconclusive(exam: Exam) -> None:
    exam.shop.cases(asking(["healthy", *STAYING]), "exam.fc.yaml")
    exam.server.default = lambda asked: STAYING[said].answer if (said := prompt_of(asked)) in STAYING else echo(asked)
    result = exam.run("--fc-concurrency=1")
    result.assert_outcomes(passed=1, errors=len(STAYING))
    assert_errors(result, *(f"openai:exam: {fault.line} (6 attempts)" for fault in STAYING.values()))
    assert result.ret == INCONCLUSIVE
    assert Counter(exam.asked()) == {"healthy": 1} | dict.fromkeys(STAYING, 6)
    assert exam.kept() == {"healthy"}


@pytest.mark.parametrize("silence", [silent(), silent(sent=5), dripping(0.02)], ids=["all", "in the body", "dripping"])
def test_an_answer_that_takes_too_long_is_asked_for_again(exam: Exam, silence: Answer) -> None:
    exam.shop.cases(SKY, "exam.fc.yaml")
    exam.server.script(silence)
    exam.shop.run(f"--fc-model={exam.named('exam', timeout=0.1)}").assert_outcomes(passed=1)
    assert len(exam.server.asked) == 2


def test_what_never_comes_in_time_says_how_long_was_waited(exam: Exam) -> None:
    exam.shop.cases(SKY, "exam.fc.yaml")
    exam.always(silent())
    result = exam.shop.run(f"--fc-model={exam.named('exam', timeout=0.02)}")
    assert_errors(result, "openai:exam: no answer came within 0.02 s (6 attempts)")
    assert result.ret == INCONCLUSIVE


def test_where_nobody_is_there_one_case_is_tried(exam: Exam) -> None:
    exam.cities("Paris", "Rome", "Oslo")
    result = exam.shop.run(f"--fc-model=openai:exam?base_url={refused_connection()}", "--fc-concurrency=1")
    result.assert_outcomes(errors=1, skipped=2)
    assert_errors(result, "openai:exam: the connection was refused: is the server running? (6 attempts)")
    result.stdout.fnmatch_lines(
        [
            "3 cases without a reply, 2 of them not asked (not counted for the model); the next run asks again",
            "fcall: openai:exam 0/0 right, 1 error, 2 not asked",
        ]
    )
    assert result.ret == INCONCLUSIVE


def test_a_server_that_wants_to_be_left_alone_for_hours_is(exam: Exam) -> None:
    exam.cities("Paris", "Rome")
    exam.always(throttled(5000))
    result = exam.run("--fc-concurrency=1")
    assert_errors(result, "openai:exam: too many requests at a time: *Retry-After is 5000 s,*")
    result.assert_outcomes(errors=1, skipped=1)
    assert result.ret == INCONCLUSIVE
    assert len(exam.server.asked) == 1


HUGE = pytest.mark.parametrize("size", [300_000, by_night(5_000_000)])


@HUGE
def test_a_huge_answer_is_read_and_kept(exam: Exam, size: int) -> None:
    exam.shop.cases(SKY, "exam.fc.yaml")
    exam.server.script(huge(size))
    exam.run().assert_outcomes(passed=1)
    exam.run("--fc-replay").assert_outcomes(passed=1)


@HUGE
def test_a_huge_wrong_answer_does_not_flood_the_screen(exam: Exam, size: int) -> None:
    exam.cities("Paris")
    exam.server.script(huge(size))
    assert len(exam.run().stdout.str()) < 5_000
    assert len(exam.run("-vv", "--fc-replay").stdout.str()) < 50_000


MODELS_FAULTS = {
    "401": Staying(
        provider_error(401, "Incorrect API key provided: sk-abcd", code="invalid_api_key"),
        "the API key was not accepted; check the variable OPENAI_API_KEY: HTTP 401",
    ),
    "403": Staying(provider_error(403, "No."), "this key or account is not allowed to use the model: HTTP 403: No."),
    "unknown model": Staying(
        provider_error(404, "The model `exam` does not exist", code="model_not_found"),
        "the provider has no model of this name, or none that this key may use: HTTP 404: *",
    ),
    "no quota": Staying(
        provider_error(429, "You exceeded your current quota.", code="insufficient_quota"),
        "no quota or credit is left; check the account's billing page: HTTP 429: *",
    ),
}


@pytest.mark.parametrize("fault", MODELS_FAULTS.values(), ids=MODELS_FAULTS)
def test_what_hits_every_request_stops_the_model_at_once(exam: Exam, fault: Staying) -> None:
    exam.cities("Paris", "Rome", "Oslo")
    exam.always(fault.answer)
    result = exam.run("--fc-concurrency=1", "-rs")
    result.assert_outcomes(errors=1, skipped=2)
    assert_errors(result, f"openai:exam: {fault.line}")
    result.stdout.fnmatch_lines([f"SKIPPED *: model unavailable: openai:exam: {fault.line}"])
    assert result.ret == INCONCLUSIVE
    assert len(exam.server.asked) == 1


def test_what_was_on_its_way_when_the_model_was_stopped_is_skipped_too(exam: Exam) -> None:
    exam.cities("Paris", "Rome", "Oslo")
    exam.always(provider_error(401, "Incorrect API key"))
    result = exam.run()
    result.assert_outcomes(errors=1, skipped=2)
    assert result.ret == INCONCLUSIVE


def test_other_models_go_on_where_one_cannot_be_asked(exam: Exam) -> None:
    exam.cities("Paris", "Rome")
    refuse = provider_error(401, "Incorrect API key")
    exam.server.default = lambda asked: refuse if asked.json["model"] == "locked" else echo(asked)
    result = exam.shop.run(*(f"--fc-model={exam.named(name)}" for name in ("locked", "open")), "--fc-concurrency=1")
    result.assert_outcomes(passed=2, errors=1, skipped=1)
    assert result.ret == INCONCLUSIVE
    assert [asked.json["model"] for asked in exam.server.asked] == ["locked", "open", "open"]


CASES_FAULTS = {
    "context length": Staying(
        provider_error(400, "This model's maximum context length is 8192 tokens.", code="context_length_exceeded"),
        "the request is longer than the model takes: HTTP 400: *8192 tokens.",
    ),
    "content filter": Staying(
        provider_error(400, "The prompt was filtered.", code="content_filter"),
        "the provider's content filter stopped the prompt: HTTP 400: The prompt was filtered.",
    ),
    "bad request": Staying(provider_error(400, "No."), "the provider rejects this request: HTTP 400: No."),
}


@pytest.mark.parametrize("fault", CASES_FAULTS.values(), ids=CASES_FAULTS)
def test_what_is_wrong_with_one_case_concerns_it_alone(exam: Exam, fault: Staying) -> None:
    exam.cities("Paris", "Rome", "Oslo")
    exam.server.default = lambda asked: fault.answer if prompt_of(asked) == called("Rome") else echo(asked)
    result = exam.run()
    result.assert_outcomes(passed=2, errors=1)
    assert_errors(result, f"openai:exam: {fault.line}")
    assert result.ret == 1
    assert len(exam.server.asked) == 3
    assert exam.kept() == {called("Paris"), called("Oslo")}


def test_what_the_model_itself_did_wrong_is_a_verdict_and_kept(exam: Exam) -> None:
    exam.cities("Paris")
    exam.always(provider_error(400, "Failed to call a function", code="tool_use_failed"))
    result = exam.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["malformed: The model's call could not be read by the provider*"])
    assert result.ret == 1
    exam.run("--fc-replay").assert_outcomes(failed=1)
    assert len(exam.server.asked) == 1


def test_a_wrong_answer_beside_an_outage_is_a_failure(exam: Exam) -> None:
    exam.cities("Paris", "Rome", "Oslo")
    answers = {called("Paris"): PARIS, called("Rome"): PARIS, called("Oslo"): broken()}

    def answer(asked: Asked) -> Answer:
        return answers[prompt_of(asked)]

    exam.server.default = answer
    result = exam.run()
    result.assert_outcomes(passed=1, failed=1, errors=1)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["fcall: openai:exam 1/2 right*1 error*"])


def test_after_an_outage_the_next_run_asks_for_what_is_missing_only(exam: Exam) -> None:
    exam.cities("Paris", "Rome", "Oslo")
    exam.server.default = lambda asked: broken() if prompt_of(asked) == called("Rome") else echo(asked)
    assert exam.run().ret == INCONCLUSIVE
    exam.server.asked.clear()
    exam.server.default = echo
    result = exam.run()
    result.assert_outcomes(passed=3)
    assert exam.asked() == [called("Rome")]


@pytest.mark.nightly  # as that of an app
def test_an_outage_is_inconclusive_under_two_workers_too(exam: Exam) -> None:
    exam.cities("Paris", "Rome")
    exam.always(throttled(5000))
    result = exam.apart("-n2")
    result.assert_outcomes(errors=2)
    assert result.ret == INCONCLUSIVE
    assert len(exam.server.asked) <= 2


def test_a_run_of_plain_tests_is_inconclusive_too_where_no_reply_comes(exam: Exam) -> None:
    exam.always(broken())
    exam.shop.file("tests/test_plain.py", "def test_it(fc_model):\n    assert fc_model('Hello').text\n")
    result = exam.run("tests")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*openai:exam: the server failed: HTTP 500: *"])
    assert result.ret == INCONCLUSIVE


def test_a_plain_test_that_fails_by_itself_fails_the_run(exam: Exam) -> None:
    exam.always(broken())
    exam.shop.file(
        "tests/test_plain.py",
        "def test_it(fc_model):\n    fc_model('Hello')\n\ndef test_other(fc_model):\n    assert False\n",
    )
    assert exam.run("tests").ret == pytest.ExitCode.TESTS_FAILED
