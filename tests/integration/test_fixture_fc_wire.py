"""Plain tests that call their app, and see what it asks of models."""

from __future__ import annotations

# Each run inside a test forgets the modules that it imported; these are kept, for speed.
import openai
import pytest
from openai.resources import chat, responses  # noqa: F401

from tests.integration.command import fcall_here
from tests.integration.conftest import Shop
from tests.integration.exam import called
from tests.servers import Server

APP = """
import json

import openai

PROMPT = "You know the weather."
TOOLS = [{"type": "function", "function": {"name": "get_weather", "parameters": {
    "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}]


def messages(said):
    return [{"role": "system", "content": PROMPT}, {"role": "user", "content": said}]


def tell(said):
    with openai.OpenAI(max_retries=0) as client:
        reply = client.chat.completions.create(model="exam-1", messages=messages(said), tools=TOOLS)
    calls = reply.choices[0].message.tool_calls or ()
    return [json.loads(call.function.arguments)["city"] for call in calls]


async def tell_async(said):
    async with openai.AsyncOpenAI(max_retries=0) as client:
        reply = await client.chat.completions.create(model="exam-1", messages=messages(said), tools=TOOLS)
    return reply.choices[0].message
"""
SYNC = f"""
import app
from pytest_fcall import assert_calls


def test_weather(fc_wire):
    assert fc_wire.calls == []
    assert_calls(fc_wire, "no_call")
    assert app.tell('{called("Oslo")}') == ["Oslo"]
    app.tell('{called("Rome")}')
    assert fc_wire.calls == [{{"get_weather": {{"city": "Oslo"}}}}, {{"get_weather": {{"city": "Rome"}}}}]
    assert_calls(fc_wire, [{{"get_weather": {{"city": "Rome"}}}}, {{"get_weather": {{"city": "Oslo"}}}}])
    first, second = fc_wire.replies
    assert first.request.settings["model"] == "exam-1"
    assert [tool.name for tool in first.request.tools] == ["get_weather"]
    assert first.request.messages[0]["content"] == app.PROMPT
    assert fc_wire.usage.output_tokens == first.usage.output_tokens + second.usage.output_tokens
"""
ASYNC = f"""
import asyncio

import app
import pytest


@pytest.mark.asyncio
@pytest.mark.parametrize("city", ["Oslo", "Rome"])
async def test_weather(fc_wire, city):
    said = '{called("Oslo")}'.replace("Oslo", city)
    await asyncio.gather(app.tell_async(said), app.tell_async(said))
    assert fc_wire.calls == [{{"get_weather": {{"city": city}}}}] * 2
"""


# What a client imports when it is made would be forgotten, too, and errors would be of classes that nobody knows.
openai.OpenAI(api_key="none").close()


@pytest.fixture
def project(shop: Shop, server: Server, monkeypatch: pytest.MonkeyPatch) -> Shop:
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    shop.file("app.py", APP)
    return shop


@pytest.mark.usefixtures("asyncio_plugin")
@pytest.mark.parametrize(("text", "asked", "tests"), [(SYNC, 2, 1), (ASYNC, 4, 2)], ids=["sync", "async"])
def test_what_the_app_asks_is_recorded_and_replayed(
    project: Shop, server: Server, monkeypatch: pytest.MonkeyPatch, text: str, asked: int, tests: int
) -> None:
    project.file("test_app.py", text)
    project.run("--fc-live").assert_outcomes(passed=tests)
    monkeypatch.delenv("OPENAI_BASE_URL")
    monkeypatch.delenv("OPENAI_API_KEY")
    project.run("--fc-replay").assert_outcomes(passed=tests)
    project.run().assert_outcomes(passed=tests)
    assert len(server.asked) == asked


def test_without_a_recording_the_test_is_skipped_and_under_replay_it_fails_and_says_what_is_new(
    project: Shop, server: Server
) -> None:
    project.file("test_app.py", SYNC)
    skipped = project.run("-rs")
    skipped.assert_outcomes(skipped=1)
    skipped.stdout.fnmatch_lines(["SKIPPED * test_app.py:6: request 1 to exam-1 is not recorded"])
    assert not server.asked
    project.run("--fc-live").assert_outcomes(passed=1)
    project.file("app.py", APP.replace("You know the weather.", "You are a poet."))
    failed = project.run("--fc-replay")
    failed.assert_outcomes(failed=1)
    failed.stdout.fnmatch_lines(
        [
            "request 1 to exam-1 is not recorded",
            "the prompt changed (system message):",
            "  - You know the weather.",
            "  + You are a poet.",
            'record it: pytest --fc-live "test_app.py::test_weather"',
        ]
    )


def test_what_is_recorded_travels_in_files_beside_the_test(project: Shop) -> None:
    project.file("test_app.py", SYNC)
    project.run("--fc-live").assert_outcomes(passed=1)
    assert "2 replies, 2 new" in fcall_here(project.pytester.path, "record", "--export").stdout
    (project.pytester.path / ".fcall" / "replies.db").unlink()
    (kept,) = project.pytester.path.glob("__fcall__/*/test_app.py.replies.jsonl")
    assert "very-secret" not in kept.read_text("utf-8")
    project.run("--fc-replay").assert_outcomes(passed=1)


def test_a_failed_comparison_shows_both_sides(project: Shop) -> None:
    project.file("test_app.py", SYNC.replace('"Oslo"}}, {"get', '"Bern"}}, {"get'))
    project.run("--fc-live").stdout.fnmatch_lines(["E *✗*city*Oslo*Bern*"])


@pytest.mark.parametrize(
    ("ini", "model", "told"),
    [
        ("[pytest]\nfc_proxy = off\n", "", "*fc_wire needs the proxy, and fc_proxy is off"),
        (
            "",
            "python:echo:answer",
            "*fc_wire records the requests of the app that the test calls, and fc_model is an app, too*",
        ),
    ],
)
def test_where_nobody_could_say_who_asks_it_is_an_error(project: Shop, ini: str, model: str, told: str) -> None:
    project.file("pytest.ini", ini)
    project.file("test_app.py", "def test_both(fc_model, fc_wire): pass")
    result = project.run(*([f"--fc-model={model}"] if model else []))
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([told])
