"""Keys that we hold are written down nowhere, whoever says them back, and however."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import partial

import pytest

from tests.attacks.planted import KEYS, LOUD, OWN_SETTINGS, leaks, plant, said_back
from tests.integration.command import fcall
from tests.integration.exam import Exam
from tests.servers import Answer, chat, not_openai, provider_error

SAID = said_back()
CALL = {"name": "get_weather", "arguments": "{}"}
ECHOES: dict[str, Callable[[], Answer]] = {
    **{f"HTTP {each}": partial(provider_error, each, SAID) for each in (400, 401, 403, 404, 413, 422, 429, 500, 503)},
    "the filter": lambda: provider_error(400, SAID, code="content_filter"),
    "too long a context": lambda: provider_error(400, SAID, code="context_length_exceeded"),
    "an unreadable call": lambda: provider_error(400, SAID, code="tool_use_failed", failed_generation=SAID),
    "another code": lambda: provider_error(400, "no", code=SAID, type=SAID, param=SAID),
    "plain text": lambda: Answer(SAID.encode(), 400, "text/plain"),
    "a page": lambda: Answer(f"<html><title>{SAID}</title></html>".encode(), 422, "text/html"),
    "another shape": lambda: not_openai({"detail": SAID}, 400),
    "200 of another shape": lambda: not_openai({"detail": SAID}),
    "200 with an error": lambda: not_openai({"error": {"message": SAID}}),
    "a header": lambda: Answer(b"{}", 400, headers={"X-Echo": KEYS["key of the model"], "Location": KEYS["query"]}),
    "a redirect": lambda: Answer(b"", 302, headers={"Location": f"http://{KEYS['key of the model']}.test/"}),
    "the answer's text": lambda: chat(SAID),
    "a refusal": lambda: chat(None, message={"refusal": SAID}),
    "reasoning": lambda: chat("Hi.", message={"reasoning_content": SAID}),
    "an argument": lambda: chat(None, [("get_weather", {"city": SAID})]),
    "a name of an argument": lambda: chat(None, [("get_weather", {SAID: "Oslo"})]),
    "broken arguments": lambda: chat(None, [("get_weather", '{"city": "' + SAID)]),
    "a tool's name": lambda: chat(None, [(SAID, {"city": "Oslo"})]),
    "the id of a call": lambda: chat(None, message={"tool_calls": [{"id": SAID, "type": "function", "function": CALL}]}),
    "the model's name": lambda: chat("Hi.", model=SAID, system_fingerprint=SAID, provider=SAID),
    "metadata": lambda: chat("Hi.", metadata={"said": SAID}, id=SAID, service_tier=SAID),
    "the reason for the end": lambda: chat("Hi.", finish_reason=SAID),
}  # fmt: skip

CASES = f"""
cases:
  - {{id: plain, prompt: hello, expect: no_call}}
  - {{id: own, prompt: hello, expect: [{{get_weather: {{city: Oslo}}}}], settings: {{{OWN_SETTINGS}}}}}
"""


@pytest.fixture
def planted(exam: Exam, monkeypatch: pytest.MonkeyPatch) -> Exam:
    plant(exam, monkeypatch)
    exam.shop.cases(CASES, "exam.fc.yaml")
    return exam


@pytest.mark.parametrize("place", ECHOES)
def test_no_key_that_a_model_or_its_server_says_back_is_written_or_shown(planted: Exam, place: str) -> None:
    planted.server.default = lambda _: ECHOES[place]()
    result = planted.shop.run("--fc-model=openai:exam", *LOUD)
    assert planted.server.asked
    assert result.ret in (0, 1, 10)
    assert leaks(planted.path, result) == []


@pytest.mark.parametrize("place", ["HTTP 400", "the answer's text", "an argument"])
def test_no_key_is_in_what_workers_send(planted: Exam, place: str) -> None:
    planted.server.default = lambda _: ECHOES[place]()
    result = planted.shop.run("--fc-model=openai:exam", "-n2", *LOUD)
    assert leaks(planted.path, result) == []


@pytest.mark.parametrize("place", ["the answer's text", "an argument", "a tool's name", "a refusal"])
def test_no_key_is_in_baselines_exports_and_what_commands_show(planted: Exam, place: str) -> None:
    planted.server.default = lambda _: ECHOES[place]()
    results: list[object] = [planted.shop.run("--fc-model=openai:exam", "--fc-accept=all", *LOUD)]
    results += [
        fcall(planted.path, *arguments.split())
        for arguments in (
            "record --export",
            "show cases/exam.fc.yaml::plain",
            "show cases/exam.fc.yaml::own",
            "history",
            "accept",
            "prompt cases/exam.fc.yaml::own --fc-model=openai:exam",
        )
    ]
    results.append(planted.shop.run("--fc-model=openai:exam", "--fc-replay", *LOUD))
    results.append(planted.shop.run("--fc-model=openai:exam", "--fc-dry-run", *LOUD))
    results.append(fcall(planted.path, "import", ".fcall/replies.db", "--out", "drafts"))
    results.append(fcall(planted.path, "compare", "last", "last"))
    assert leaks(planted.path, *results) == []


APP_KEY = "sk-planted-in-the-code-of-an-app-0020"
APP = f"""
import json
import os
import urllib.error
import urllib.request


def answer(request):
    body = {{"model": "exam-1", "messages": list(request.messages), "stream": "stream" in os.environ.get("FORM", "")}}
    asked = urllib.request.Request(
        os.environ["OPENAI_BASE_URL"] + "/chat/completions?api_key={KEYS["query"]}",
        json.dumps(body).encode(),
        {{"Authorization": "Bearer {APP_KEY}", "Content-Type": "application/json", "X-Api-Key": "{KEYS["header"]}"}},
    )
    try:
        with urllib.request.urlopen(asked) as came:
            came.read()
    except urllib.error.HTTPError as error:
        error.read()
    return []
"""
APP_KEYS = {"app": APP_KEY, "query": KEYS["query"], "header": KEYS["header"], "other": KEYS["another provider's key"]}
IN_APPS = said_back(APP_KEYS.values())


def event(**delta: object) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": None}
    return f"data: {json.dumps({'id': 'c', 'object': 'chat.completion.chunk', 'model': 'm', 'choices': [choice]})}\n\n"


def stream(*parts: str) -> Answer:
    last = event().replace('"finish_reason": null', '"finish_reason": "stop"')
    body = event(role="assistant") + "".join(event(content=part) for part in parts) + last + "data: [DONE]\n\n"
    return Answer(body.encode(), content_type="text/event-stream")


def escaped(answer: Answer) -> Answer:
    """The same JSON, with each letter of the keys as an escape."""
    body = answer.body.decode()
    for key in APP_KEYS.values():
        body = body.replace(key, "".join(f"\\u{ord(letter):04x}" for letter in key))
    return Answer(body.encode())


THROUGH_THE_PROXY: dict[str, Callable[[], Answer]] = {
    **{
        f"HTTP {status}": lambda status=status: provider_error(status, IN_APPS)
        for status in (400, 401, 404, 422, 429, 500)
    },
    "plain text": lambda: Answer(IN_APPS.encode(), 404, "text/plain"),
    "the answer's text": lambda: chat(IN_APPS),
    "an argument": lambda: chat(None, [("get_weather", {"city": IN_APPS})]),
    "metadata": lambda: chat("Hi.", metadata={"said": IN_APPS}, system_fingerprint=APP_KEY),
    "escapes": lambda: escaped(chat(APP_KEY)),
    "escaped metadata": lambda: escaped(chat("Hi.", metadata={"said": APP_KEY})),
    "a stream": lambda: stream(IN_APPS),
    "a stream in pieces": lambda: stream(*(APP_KEY[at : at + 5] for at in range(0, len(APP_KEY), 5))),
}


@pytest.fixture
def app(exam: Exam, monkeypatch: pytest.MonkeyPatch) -> Exam:
    monkeypatch.setenv("GROQ_API_KEY", KEYS["another provider's key"])
    monkeypatch.setenv("OPENAI_BASE_URL", exam.server.url)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    exam.shop.file("talker.py", APP)
    exam.shop.cases("cases:\n  - {id: only, prompt: hello, expect: no_call}\n", "exam.fc.yaml")
    return exam


@pytest.mark.parametrize("place", THROUGH_THE_PROXY)
def test_no_key_of_an_app_that_a_provider_says_back_is_written_or_shown(
    app: Exam, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORM", place)
    app.server.default = lambda _: THROUGH_THE_PROXY[place]()
    result = app.shop.run("--fc-model=python:talker:answer", *LOUD)
    assert len(app.server.asked) == 1
    assert APP_KEY in str(app.server.asked[0].headers)
    replayed = app.shop.run("--fc-model=python:talker:answer", "--fc-replay", *LOUD)
    results = [result, replayed, fcall(app.path, "record", "--export"), fcall(app.path, "show", "only")]
    assert leaks(app.path, *results, keys=APP_KEYS, planted_in=["talker.py"]) == []


def test_an_answer_that_hides_a_key_is_not_kept_and_that_is_told(app: Exam, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORM", "stream")
    app.server.default = lambda _: stream(*(APP_KEY[at : at + 5] for at in range(0, len(APP_KEY), 5)))
    result = app.shop.run("--fc-model=python:talker:answer", "-v")
    result.stdout.fnmatch_lines(["*request of 'only' is not kept: it holds a secret in pieces*"])


# What comes of addresses, commands and words that are wrong. Each is a model, its entry, and what is typed.
BAD = "planted-0030-in-what-is-wrong"
WRONG: dict[str, tuple[str, str]] = {
    "a name and password": ("openai:x", f'base_url = "http://ana:{BAD}@127.0.0.1:1/v1"'),
    "no such host": ("openai:x", f'base_url = "http://nowhere.invalid/v1?api_key={BAD}"'),
    "a bad port": ("openai:x", f'base_url = "http://127.0.0.1:99999/v1?api_key={BAD}"'),
    "a port without a server": ("openai:x", f'base_url = "http://127.0.0.1:1/v1?api_key={BAD}"'),
    "TLS without a server": ("openai:x", f'base_url = "https://127.0.0.1:1/{BAD}/v1"'),
    "a setting with an l too many": ("openai:x", f'api_keyl = "{BAD}"'),
    "a key as a setting": ("openai:x", f'api_key = "{BAD}"'),
    "a key as the name of a variable": ("openai:x", f'api_key_env = "{BAD}"'),
    "headers that are no table": ("openai:x", f'headers = "Authorization: Bearer {BAD}"'),
    "a header with a line break": ("openai:x", f'headers = {{Authorization = "Bearer {BAD}\\n"}}'),
    "a command that is none": ("openai:x", f'serve = "no-such-program --api-key {BAD} --port {{port}}"'),
    "a command that fails": (
        "openai:x",
        f"serve = \"{sys.executable} -c 'import sys; print(sys.argv); sys.exit(3)' --api-key {BAD} {{port}}\"",
    ),
    "an app's command that fails": (
        "http:http://127.0.0.1:{port}/chat",
        f'serve = "{sys.executable} -c \'import os; print(os.environ); os._exit(3)\'"\nenvironment = {{SHOP_TOKEN = "{BAD}"}}',
    ),
    "an app's address": ("http:http://127.0.0.1:1/chat", f'headers = {{X-Key = "{BAD}"}}'),
    "an app's name and password": (f"http:http://ana:{BAD}@127.0.0.1:1/chat", "timeout = 1"),
    "an app's query": (f"http:http://127.0.0.1:1/chat?api_key={BAD}", "timeout = 1"),
}


@pytest.mark.parametrize("arguments", ["", "-n2"])
@pytest.mark.parametrize("place", WRONG)
def test_no_key_is_in_what_is_said_of_a_wrong_entry(exam: Exam, place: str, arguments: str) -> None:
    model, entry = WRONG[place]
    exam.shop.file("pyproject.toml", f"[tool.pytest]\n[tool.fcall.models.shop]\nmodel = '{model}'\n{entry}\n")
    exam.cities("Oslo")
    results: list[object] = [exam.shop.run(f"--fc-model={model.partition(':')[0]}:shop", *LOUD, *arguments.split())]
    if not arguments:
        results += [
            exam.shop.run("--fc-model=shop", "--fc-dry-run", *LOUD),
            fcall(exam.path, "prompt", "cases/exam.fc.yaml::Oslo", "--fc-model=shop"),
            fcall(exam.path, "lint", "cases"),
        ]
    assert leaks(exam.path, *results, keys={"key": BAD}, planted_in=["pyproject.toml"]) == []


TYPED = (
    f"--fc-model=openai:x?api_key={BAD}",
    f"--fc-model=openai:x?api-key={BAD}",
    f"--fc-model=openai:x?base_url=http://ana:{BAD}@127.0.0.1:1",
    f"--fc-model=openai:x?base_url=http://127.0.0.1:1?sig={BAD}",
    f"--fc-model=openai:x?headers={{'Authorization': 'Bearer {BAD}'}}",
    f'--fc-model=openai:x?headers={{"Authorization": "Bearer {BAD}", 3}}',
    f"--fc-model=opnai:x?api_key={BAD}",
    f"--fc-model=http:http://127.0.0.1:1/chat?api_key={BAD}",
    f"--fc-model=http:http://ana:{BAD}@127.0.0.1:1/chat",
    f"--fc-judge=openai:x?api_key={BAD}",
    f"--fc-max-age=token={BAD}",
    f"--fc-score=token={BAD}",
    f"--fc-gate=token={BAD}",
    f"--fc-baseline=token={BAD}",
    f"--fc-report=token={BAD}",
    f"--fc-allow-host=http://ana:{BAD}@127.0.0.1:1",
    f"-ofc_http_headers=api.test Authorization: Bearer {BAD}",
    f"-ofc_http_headers=Authorization: Bearer {BAD}",
    f"-ofc_model=openai:x?api_key={BAD}",
)


@pytest.mark.parametrize("typed", TYPED)
def test_no_key_is_in_what_is_said_of_a_wrong_argument(exam: Exam, typed: str) -> None:
    exam.cities("Oslo")
    result = exam.shop.run(typed, *LOUD)
    assert leaks(exam.path, result, keys={"key": BAD}, planted_in=()) == []


def test_the_search_would_find_a_key(planted: Exam) -> None:
    """What no run writes is written here: each form, and packed."""
    import gzip
    import sqlite3
    import zlib
    from contextlib import closing

    key = KEYS["key of the model"]
    (planted.path / "plain.txt").write_text(key)
    (planted.path / "coded.txt").write_text(SAID.split(" | ")[0].split(" ")[1])
    (planted.path / "packed.gz").write_bytes(gzip.compress(json.dumps([key]).encode()))
    with closing(sqlite3.connect(planted.path / "rows.db")) as connection:
        connection.execute("CREATE TABLE kept (entry BLOB)")
        connection.execute("INSERT INTO kept VALUES (?)", [zlib.compress(key.encode())])
        connection.commit()
    assert [leak.rpartition(" in ")[2] for leak in leaks(planted.path)] == [
        "coded.txt",
        "packed.gz",
        "plain.txt",
        "rows.db",
    ]
