"""`wire.calls` is judged by the rules of its file and of its case, like every other expectation."""

from __future__ import annotations

import json

# Each run inside a test forgets the modules that it imported; these are kept, for speed.
import httpx  # noqa: F401
import pytest

from tests.by_night import by_night
from tests.integration.conftest import Shop
from tests.integration.test_option_fc_judge import no, yes
from tests.servers import Answer, Asked, Server, chat, echo

AGENT = """
import os

import httpx


def ask(said, **fields):
    body = {"model": "exam-1", "messages": [{"role": "user", "content": said}], **fields}
    httpx.post(os.environ["OPENAI_BASE_URL"] + "/chat/completions", json=body).raise_for_status()
    return "Done."


def answer(request):
    tool = {"name": "get_weather", "parameters": {"type": "object", "additionalProperties": True}}
    return ask(request.messages[-1]["content"], tools=[{"type": "function", "function": tool}])


def without_tools(request):
    return ask(request.messages[-1]["content"])
"""


@pytest.fixture
def project(shop: Shop, server: Server, monkeypatch: pytest.MonkeyPatch) -> Shop:
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    shop.file("agent.py", AGENT)
    return shop


def calls(**arguments: object) -> str:
    return json.dumps([{"name": "get_weather", "arguments": arguments}])


def run(project: Shop, wire: str, said: str, rules: str = "", *args: str, app: str = "answer") -> pytest.RunResult:
    project.cases(f"{rules}\ncases:\n  - {{id: oslo, prompt: {json.dumps(said)}, wire: {wire}}}\n")
    return project.run(f"--fc-model=python:agent:{app}", *args)


OSLO = "{calls: [get_weather: {city: Oslo}]}"


@pytest.mark.parametrize(
    ("rules", "right", "wrong"),
    [
        ("", calls(city="Oslo"), calls(city="oslo")),
        by_night("", calls(city="Oslo", unit="celsius"), calls(city="Oslo", unit="fahrenheit")),
        ("match: {'*.city': {strings: relaxed}}", calls(city="OSLO"), calls(city="Bergen")),
        by_night("match: {get_weather.city: {$ignore: true}}", calls(city="Bergen"), calls(city=7)),
        ("defaults: {strings: relaxed}", calls(city="OSLO"), calls(city="Bergen")),
        by_night("defaults: {profile: bfcl}", calls(city="os-lo"), calls(city="Bergen")),
        ("defaults: {never: [get_weather: {days: 3}]}", calls(city="Oslo"), calls(city="Oslo", days=3)),
    ],
)
def test_the_rules_of_a_file_hold_inside_the_app(project: Shop, rules: str, right: str, wrong: str) -> None:
    run(project, OSLO, right, rules).assert_outcomes(passed=1)
    failed = run(project, OSLO, wrong, rules)
    failed.assert_outcomes(failed=1)
    failed.stdout.fnmatch_lines(["*inside the app*"])


def test_a_call_that_no_case_may_make_fails_where_no_calls_are_expected(project: Shop) -> None:
    never = "defaults: {never: [get_weather]}"
    failed = run(project, "{count: 1}", calls(city="Oslo"), never)
    failed.assert_outcomes(failed=1)
    failed.stdout.fnmatch_lines(["forbidden_call: inside the app: `get_weather(city='Oslo')` is forbidden"])
    run(project, "{count: 1}", "Hello", never).assert_outcomes(passed=1)


def test_the_decoder_of_a_file_reads_what_models_without_tools_say(project: Shop, server: Server) -> None:
    decoder, said = "defaults: {decoder: python}", "[get_weather(city='Oslo')]"
    server.script(chat(said))
    run(project, OSLO, said, decoder, app="without_tools").assert_outcomes(passed=1)
    run(project, "{calls: no_call}", said, decoder, app="without_tools").assert_outcomes(failed=1)
    run(project, OSLO, calls(city="Oslo"), decoder).assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("opinion", "first", "then"), [(yes("it is"), "passed", "passed"), (no("it is not"), "failed", "xfailed")]
)
def test_a_judge_is_asked_about_arguments_inside_the_app(
    project: Shop, server: Server, opinion: str, first: str, then: str
) -> None:
    def judging(asked: Asked) -> Answer:
        return chat(opinion) if asked.json["messages"][0]["role"] == "system" else echo(asked)

    server.default = judging
    wire = "{calls: [get_weather: {city: {$judge: is in Norway}}]}"
    judge = f"--fc-judge=openai:judge?base_url={server.url}"
    run(project, wire, calls(city="Oslo"), "", judge, "--fc-accept=all").assert_outcomes(**{first: 1})
    run(project, wire, calls(city="Oslo"), "", judge, "--fc-replay").assert_outcomes(**{then: 1})
    assert len(server.asked) == 2
