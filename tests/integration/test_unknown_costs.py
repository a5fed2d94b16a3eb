"""Requests that a provider may bill although nobody got the answer: sums and gates do not count them as nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.by_night import by_night
from tests.integration.conftest import Shop
from tests.integration.exam import Exam
from tests.integration.test_inside_apps import Agent
from tests.integration.test_option_fc_max_cost import PRICES
from tests.servers import Answer, Server, cut_off, not_openai, provider_error, silent, truncated_json, web_page

INCONCLUSIVE = 10
IMPATIENT = {"timeout": 0.1}


def ask(exam: Exam, *arguments: str, workers: str = "") -> pytest.RunResult:
    """Ask the model, and wait a tenth of a second for each answer."""
    model = f"--fc-model={exam.named('exam', **IMPATIENT)}"
    if not workers:
        return exam.shop.run(model, *arguments)
    return exam.shop.pytester.runpytest_subprocess("-p", "no:cacheprovider", model, workers, *arguments)


@pytest.fixture
def priced(exam: Exam) -> Exam:
    """Two cases; a reply costs $0.001."""
    exam.shop.pytester.makepyprojecttoml(PRICES)
    exam.cities("Oslo", "Rome")
    return exam


@pytest.mark.parametrize("workers", ["", by_night("-n2")])
def test_an_answer_that_nobody_waited_for_has_an_unknown_cost(priced: Exam, workers: str) -> None:
    priced.server.script(silent())
    result = ask(priced, "--fc-gate=cost<=1", workers=workers)
    result.assert_outcomes(passed=2)
    assert result.ret == INCONCLUSIVE
    result.stdout.fnmatch_lines(
        [
            "fcall: openai:exam 2/2 right *, 60 tokens, at least $0.0020, 1 request of unknown cost, *",
            "gate cost<=1 *inconclusive*1 reply of unknown cost*",
        ]
    )


def test_an_answer_that_broke_off_has_an_unknown_cost(priced: Exam) -> None:
    priced.server.script(cut_off())
    result = ask(priced, "--fc-gate=cost<=1")
    assert result.ret == INCONCLUSIVE
    result.stdout.fnmatch_lines(["fcall: *, at least $0.0020, 1 request of unknown cost, *"])


HALF = replace(truncated_json(), unmeasured=True, ending="close")
"""Half an answer that looks whole to HTTP, since it ends where the connection does."""


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(HALF, id="cut off by the close"),
        pytest.param(Answer(body=b""), id="empty"),
        pytest.param(not_openai({"id": "x", "usage": {"prompt_tokens": 9}}), id="another form"),
        pytest.param(not_openai({"error": {"message": "no"}, "usage": {"prompt_tokens": 9}}), id="an error with usage"),
        pytest.param(Answer(headers={"Content-Encoding": "gzip"}), id="no gzip"),
    ],
)
def test_an_unusable_answer_has_an_unknown_cost(priced: Exam, answer: Answer) -> None:
    priced.server.script(answer)
    result = ask(priced, "--fc-gate=cost<=1")
    result.assert_outcomes(passed=2)
    assert result.ret == INCONCLUSIVE
    result.stdout.fnmatch_lines(["fcall: *, at least $0.0020, 1 request of unknown cost, *"])


def test_each_attempt_of_a_case_without_a_reply_counts(priced: Exam) -> None:
    priced.always(silent())
    result = ask(priced, "-k", "Oslo")
    result.assert_outcomes(errors=1, deselected=1)
    result.stdout.fnmatch_lines(["fcall: openai:exam 0/0 right, 1 error, 6 requests of unknown cost"])


@pytest.mark.parametrize("answer", [silent(), HALF], ids=["silent", "cut off"])
def test_a_limit_counts_the_most_that_such_a_request_can_cost(priced: Exam, answer: Answer) -> None:
    priced.always(answer)
    result = ask(priced, "--fc-max-cost=0.5", "-k", "Oslo")  # with the tools, a request can cost $0.2
    result.stdout.fnmatch_lines(["*--fc-max-cost is $0.5, of which * are left*"])
    assert len(priced.server.asked) == 2


@pytest.mark.parametrize(
    "answer",
    [
        provider_error(500, "broken"),
        provider_error(429, "slower"),
        not_openai({"error": {"message": "broken", "code": 500}}),
        web_page(),
    ],
    ids=["500", "429", "an error with 200", "a web page"],
)
def test_what_a_provider_refused_costs_nothing(priced: Exam, answer: Answer) -> None:
    priced.server.script(answer)
    result = ask(priced, "--fc-gate=cost<=1")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["fcall: *, 60 tokens, $0.0020, *"])


def test_a_free_model_costs_nothing_in_any_case(priced: Exam) -> None:
    priced.shop.pytester.makepyprojecttoml('[tool.fcall.prices."openai:exam"]\ninput = 0\noutput = 0\n')
    priced.server.script(silent())
    result = ask(priced, "--fc-gate=cost<=1")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["fcall: *, 60 tokens, $0.00, *"])


def test_recordings_of_it_cost_what_they_cost(priced: Exam) -> None:
    priced.server.script(silent())
    ask(priced)
    result = ask(priced, "--fc-replay", "--fc-gate=cost<=1")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["fcall: *, $0.0020, all 2 replayed*"])


@pytest.fixture
def app(shop: Shop, server: Server, monkeypatch: pytest.MonkeyPatch) -> Agent:
    """An app that asks twice for each of two cases, and asks again after a tenth of a second."""
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    shop.pytester.makepyprojecttoml(PRICES.replace("exam", "exam-1"))
    agent = Agent(shop, server)
    agent.change("max_retries=0", "max_retries=1, timeout=0.1")
    return agent


def test_what_an_app_did_not_wait_for_has_an_unknown_cost(app: Agent) -> None:
    app.server.script(silent())
    result = app.run("--fc-gate=cost<=1")
    result.assert_outcomes(passed=2)
    assert result.ret == INCONCLUSIVE
    result.stdout.fnmatch_lines(["fcall: *, 120 tokens, at least $0.0040, 1 request of unknown cost, *"])


def test_what_an_app_asked_again_after_a_refusal_cost_nothing(app: Agent) -> None:
    app.server.script(provider_error(500, "broken"))
    result = app.run("--fc-gate=cost<=1")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["fcall: *, 120 tokens, $0.0040, *"])
