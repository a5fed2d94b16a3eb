"""Apps that ask models by other interfaces than OpenAI's and Anthropic's: live, replayed, and judged by `wire`."""

from __future__ import annotations

import json
from typing import Any

# Each run inside a test forgets the modules that it imported; these are kept, for speed.
import openai  # noqa: F401
import pytest

from tests.integration.command import fcall_here
from tests.integration.conftest import Shop
from tests.integration.exam import assert_errors
from tests.servers import Answer, Server, chat
from tests.unit.backends.proxy.support import CHAT_STREAM

APP = """
import json
import os
import urllib.error
import urllib.request


def post(variable, path, **body):
    request = urllib.request.Request(os.environ[variable] + path, json.dumps(body).encode())
    request.add_header("Content-Type", "application/json")
    try:
        answer = urllib.request.urlopen(request)
    except urllib.error.HTTPError as refused:
        refused.close()
        raise
    with answer:
        return json.loads(answer.read())


def gemini(request):
    question = {"role": "user", "parts": [{"text": request.messages[-1]["content"]}]}
    schema = {"type": "object", "properties": {"city": {"type": "string"}}}
    tools = [{"functionDeclarations": [{"name": "get_weather", "parametersJsonSchema": schema}]}]
    path = "/v1beta/models/gemini-2.5-flash:generateContent"
    answer = post("GOOGLE_GEMINI_BASE_URL", path, contents=[question], tools=tools)
    calls = [part["functionCall"] for part in answer["candidates"][0]["content"]["parts"] if "functionCall" in part]
    return [{"name": call["name"], "arguments": call["args"]} for call in calls]


def azure(request):
    import openai

    with openai.AzureOpenAI(max_retries=0) as client:
        reply = client.chat.completions.create(model="exam-1", messages=list(request.messages))
        *_, last = client.chat.completions.create(model="exam-1", messages=list(request.messages), stream=True)
    assert last.choices[0].finish_reason == "tool_calls"
    return reply


def unread(request):
    post("OPENAI_BASE_URL", "/threads/t1/runs", question=request.messages[-1]["content"])
    return []


def careless(request):
    try:
        post("OPENAI_BASE_URL", "/chat/completions", model="exam-1", messages=list(request.messages))
    except (ValueError, KeyError):
        pass
    return []
"""
GEMINI = {
    "candidates": [
        {
            "content": {
                "role": "model",
                "parts": [{"functionCall": {"name": "get_weather", "args": {"city": "Oslo"}}}],
            },
            "finishReason": "STOP",
        }
    ],
    "usageMetadata": {"promptTokenCount": 20, "candidatesTokenCount": 10},
}
CASE = """
cases:
  - id: oslo
    prompt: Weather in Oslo?
    expect: {expect}
"""


def answer_of(data: object) -> Answer:
    return Answer(json.dumps(data).encode())


class Wires:
    def __init__(self, shop: Shop, server: Server) -> None:
        self.shop = shop
        self.server = server
        shop.file("agent.py", APP)

    def case(self, expect: str, wire: str = "") -> None:
        self.shop.cases(CASE.format(expect=expect) + (f"    wire: {wire}\n" if wire else ""))

    def run(self, app: str, *args: str) -> pytest.RunResult:
        return self.shop.run(f"--fc-model=python:agent:{app}", *args)


@pytest.fixture
def wires(shop: Shop, server: Server, monkeypatch: pytest.MonkeyPatch) -> Wires:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.url.removesuffix("/v1"))
    return Wires(shop, server)


def test_gemini_is_recorded_judged_and_replayed(wires: Wires, monkeypatch: pytest.MonkeyPatch) -> None:
    wires.case(
        "[{get_weather: {city: Oslo}}]",
        "{calls: [get_weather: {city: Oslo}], count: 1, models: [gemini-2.5-flash], tools: [get_weather], tokens: 30}",
    )
    wires.server.script(answer_of(GEMINI))
    result = wires.run("gemini")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["python:agent:gemini sent 1 request to any:gemini/gemini-2.5-flash, 30 tokens*"])
    monkeypatch.delenv("GOOGLE_GEMINI_BASE_URL")
    wires.run("gemini", "--fc-replay").assert_outcomes(passed=1)
    assert len(wires.server.asked) == 1


def test_azure_is_recorded_where_its_address_is_set_and_replayed_where_it_is_named(
    wires: Wires, monkeypatch: pytest.MonkeyPatch
) -> None:
    origin = wires.server.url.removesuffix("/v1")
    wires.case("[{get_weather: {city: Oslo}}]", "{count: 2, models: [exam-1]}")
    wires.server.script(chat(calls=[("get_weather", {"city": "Oslo"})]), CHAT_STREAM)
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", origin)
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "sk-very-secret")
    monkeypatch.setenv("OPENAI_API_VERSION", "2025-04-01-preview")
    wires.run("azure").assert_outcomes(passed=1)
    assert {asked.path for asked in wires.server.asked} == {
        "/openai/deployments/exam-1/chat/completions?api-version=2025-04-01-preview"
    }
    monkeypatch.delenv("AZURE_OPENAI_ENDPOINT")
    monkeypatch.delenv("AZURE_OPENAI_API_KEY")
    wires.shop.file("pytest.ini", f"[pytest]\nfc_proxy_variables = AZURE_OPENAI_ENDPOINT={origin}\n")
    wires.run("azure", "--fc-replay").assert_outcomes(passed=1)
    assert len(wires.server.asked) == 2


def test_a_path_that_nobody_reads_is_recorded_replayed_and_said(wires: Wires) -> None:
    wires.case("no_call")
    wires.server.script(answer_of({"status": "queued"}))
    for more in ((), ("--fc-replay",)):
        result = wires.run("unread", *more)
        result.assert_outcomes(passed=1)
        told = "1 request to /threads/t1/runs is recorded, and not read: `wire:` does not see them"
        result.stdout.fnmatch_lines([f"python:agent:unread: {told}"])
    assert len(wires.server.asked) == 1


@pytest.mark.parametrize("wire", ["{calls: no_call}", "{count: 0}"])
def test_what_a_case_expects_of_unread_requests_is_an_error(wires: Wires, wire: str) -> None:
    wires.case("no_call", wire)
    wires.server.script(answer_of({"status": "queued"}))
    for more in ((), ("--fc-replay",)):
        result = wires.run("unread", *more)
        result.assert_outcomes(errors=1)
        assert_errors(
            result,
            "oslo: `wire` cannot be judged: the app also sent requests to /threads/t1/runs, which are recorded and not "
            "read; leave `wire` out, or judge what the app returns",
        )


def test_a_plain_test_is_not_told_that_there_were_no_calls_by_requests_that_nobody_read(wires: Wires) -> None:
    wires.shop.file(
        "test_plain.py",
        """
        from types import SimpleNamespace

        from agent import unread

        def test_no_calls(fc_wire):
            unread(SimpleNamespace(messages=[{"content": "Oslo?"}]))
            assert fc_wire.calls == []
        """,
    )
    wires.server.script(answer_of({"status": "queued"}))
    result = wires.run("unread", "test_plain.py")
    result.assert_outcomes(failed=1)
    told = "fc_wire does not have all replies: the app also sent requests to /threads/t1/runs*"
    result.stdout.fnmatch_lines([f"*{told}"])


BROKEN: list[tuple[Answer, str]] = [
    (Answer(b""), "is empty"),
    (Answer(b"<html>Log in</html>"), "is a web page"),
    (answer_of({"error": {"message": "overloaded"}}), "reports an error: overloaded"),
    (chat("Blue.", finish_reason=None), "has no finish_reason, so that it may be cut short"),
]


@pytest.mark.parametrize(("answer", "fault"), BROKEN)
def test_a_broken_answer_is_told_and_asked_for_again(wires: Wires, answer: Answer, fault: str) -> None:
    wires.case("no_call")
    wires.server.script(answer)
    first = wires.run("careless")
    first.assert_outcomes(passed=1)
    told = f"an answer was passed on to the app and not recorded: /chat/completions {fault}"
    first.stdout.fnmatch_lines([f"python:agent:careless: {told}"])
    shown = fcall_here(wires.shop.pytester.path, "show", "oslo").stdout
    assert f"malformed: The answer {fault}; it is not recorded." in shown
    assert "request 1:" in shown
    assert f"its reply is not recorded, as it rests on this: /chat/completions {fault}" in shown
    wires.run("careless", "--fc-replay").assert_outcomes(errors=1)
    second = wires.run("careless")
    second.assert_outcomes(passed=1)
    second.stdout.no_fnmatch_line("*not recorded*")
    assert len(wires.server.asked) == 2
    wires.run("careless", "--fc-replay").assert_outcomes(passed=1)


def test_a_model_whose_answer_names_no_end_has_not_abstained(
    shop: Shop, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    shop.cases(CASE.format(expect="no_call"))
    cut: dict[str, Any] = {"finish_reason": None}
    server.script(chat("Blu", **cut))
    result = shop.run("--fc-model=openai:exam-1")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*The answer has no finish_reason, so that it may be cut short.*"])
