"""`--fc-model=openai:NAME`: what people see of a model that is served, and of a server that is not well."""

from __future__ import annotations

import pytest

from tests.integration.exam import CASES, Exam, called
from tests.servers import chat, echo, provider_error, responses

INCONCLUSIVE = 10
SKY = "cases: [{id: sky, prompt: What is the sky like?, expect: no_call}]"
PARIS = chat(calls=[("get_weather", {"city": "Paris"})])


def test_right_and_wrong_answers_are_judged(exam: Exam) -> None:
    exam.cities("Paris", "Rome")
    exam.always(PARIS)
    result = exam.run("-v")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "fcall: openai:exam (command line)*",
            "*asked live; *",
            f"{CASES}::Paris PASSED*",
            f"{CASES}::Rome FAILED*",
            "wrong_value*Paris*Rome*",
            "fcall: openai:exam 1/2 right*",
        ]
    )
    assert result.ret == 1
    assert sorted(exam.asked()) == sorted(map(called, ["Paris", "Rome"]))


def test_all_right_is_exit_status_0(exam: Exam) -> None:
    exam.cities("Paris", "Rome")
    assert exam.run().ret == 0


def test_the_responses_interface_is_asked_on_demand(exam: Exam) -> None:
    exam.cities("Paris")
    exam.server.script(responses(calls=[("get_weather", {"city": "Paris"})]))
    exam.shop.run(f"--fc-model={exam.named('exam', api='responses')}").assert_outcomes(passed=1)
    assert exam.server.asked[0].path == "/v1/responses"


def test_several_models_are_asked_one_after_the_other_and_compared(exam: Exam) -> None:
    exam.cities("Paris", "Rome")
    exam.server.default = lambda asked: PARIS if asked.json["model"] == "small" else echo(asked)
    result = exam.shop.run(*(f"--fc-model={exam.named(name)}" for name in ("large", "small")), "-v")
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(
        [
            f"{CASES}::Paris?openai:large? PASSED*",
            f"{CASES}::Rome?openai:large? PASSED*",
            f"{CASES}::Paris?openai:small? PASSED*",
            f"{CASES}::Rome?openai:small? FAILED*",
            "fcall: openai:large 2/2 right*openai:small 1/2 right*",
        ]
    )
    assert sorted(asked.json["model"] for asked in exam.server.asked) == ["large", "large", "small", "small"]


def test_two_workers_ask_for_everything_once(exam: Exam) -> None:
    exam.cities("Paris", "Rome", "Oslo", "Bern")
    result = exam.apart("-n2")
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(["fcall: openai:exam 4/4 right*"])
    assert sorted(exam.asked()) == sorted(map(called, ["Paris", "Rome", "Oslo", "Bern"]))
    assert exam.kept() == set(exam.asked())


PLAIN = """
import pytest

def test_waits(fc_model):
    assert fc_model("hello").text == "You said: hello"

@pytest.mark.asyncio
async def test_awaits(fc_model):
    assert (await fc_model.ask("hello there", temperature=0)).text == "You said: hello there"
"""


@pytest.mark.usefixtures("asyncio_plugin")
def test_plain_tests_ask_by_the_fixture_and_their_replies_are_kept(exam: Exam) -> None:
    exam.shop.file("test_plain.py", PLAIN)
    exam.run().assert_outcomes(passed=2)
    assert exam.asked() == ["hello", "hello there"]
    assert exam.server.asked[1].json["temperature"] == 0
    assert exam.kept() == {"hello", "hello there"}
    exam.run().assert_outcomes(passed=2)
    assert len(exam.server.asked) == 2


@pytest.mark.usefixtures("asyncio_plugin")
def test_plain_tests_ask_each_of_several_models(exam: Exam) -> None:
    exam.shop.file("test_plain.py", PLAIN)
    exam.shop.run(*(f"--fc-model={exam.named(name)}" for name in ("large", "small"))).assert_outcomes(passed=4)


@pytest.mark.usefixtures("asyncio_plugin")
def test_a_plain_test_without_a_reply_fails_in_one_line(exam: Exam) -> None:
    exam.shop.file("test_plain.py", PLAIN)
    exam.always(provider_error(401, "Incorrect API key"))
    result = exam.run()
    result.assert_outcomes(failed=1, skipped=1)
    result.stdout.fnmatch_lines(["openai:exam: the API key was not accepted; check the variable OPENAI_API_KEY*"])
    result.stdout.no_fnmatch_line("*During handling*")
    assert len(exam.server.asked) == 1
