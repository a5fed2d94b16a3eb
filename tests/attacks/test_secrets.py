"""Keys that we hold are written down nowhere, whoever says them back, and however."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import partial

import pytest

from tests.attacks.echoes import ECHOES
from tests.integration.command import fcall
from tests.integration.exam import Exam
from tests.integration.planted import KEYS, LOUD, OWN_SETTINGS, PLANTED_IN, leaks, plant, said_back
from tests.servers import Answer, chat, provider_error

SAID = said_back()
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
    planted.server.default = lambda _: ECHOES[place](SAID)
    result = planted.shop.run("--fc-model=openai:exam", *LOUD)
    assert planted.server.asked
    assert result.ret in (0, 1, 10)
    assert leaks(planted.path, result) == []


@pytest.mark.parametrize("place", ["HTTP 400", "the answer's text", "an argument"])
def test_no_key_is_in_what_workers_send(planted: Exam, place: str) -> None:
    planted.server.default = lambda _: ECHOES[place](SAID)
    result = planted.shop.run("--fc-model=openai:exam", "-n2", *LOUD)
    assert leaks(planted.path, result) == []


@pytest.mark.parametrize("place", ["the answer's text", "an argument", "a tool's name", "a refusal"])
def test_no_key_is_in_baselines_exports_and_what_commands_show(planted: Exam, place: str) -> None:
    planted.server.default = lambda _: ECHOES[place](SAID)
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
    **{f"HTTP {status}": partial(provider_error, status, IN_APPS) for status in (400, 401, 404, 422, 429, 500)},
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
        f"serve = \"{sys.executable} -c 'import os; print(os.environ); os._exit(3)'\"\n"
        f'environment = {{SHOP_TOKEN = "{BAD}"}}',
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


JUDGED = """
cases:
  - {id: leaks, prompt: hello, expect: [{get_weather: {city: {$not: {$regex: 'sk-.*'}}}}]}
  - {id: equals, prompt: hello again, expect: [{get_weather: {city: sk-planted-in-the-environment-0001}}]}
"""


def test_an_answer_is_judged_as_it_was_given_and_never_by_what_is_left_of_it(planted: Exam) -> None:
    """Green on replay would be wrong for `leaks`, and red for `equals`: neither is judged."""
    planted.shop.cases(JUDGED, "exam.fc.yaml")
    planted.always(chat(None, [("get_weather", {"city": KEYS["key of the model"]})]))
    live = planted.shop.run("--fc-model=openai:exam", "-rA")
    live.assert_outcomes(passed=1, failed=1)
    live.stdout.fnmatch_lines_random(["PASSED *::equals", "FAILED *::leaks *'[[]secret left out]'*"])
    replayed = planted.shop.run("--fc-model=openai:exam", "--fc-replay")
    replayed.assert_outcomes(errors=2)
    assert replayed.ret == 10
    replayed.stdout.fnmatch_lines(["*the recorded reply held a secret, which is not kept*"])
    assert leaks(planted.path, live, replayed) == []


def test_where_the_model_may_be_asked_an_answer_that_lacks_a_secret_is_asked_for_again(planted: Exam) -> None:
    planted.shop.cases(JUDGED, "exam.fc.yaml")
    planted.always(chat(None, [("get_weather", {"city": KEYS["key of the model"]})]))
    for _ in range(2):
        planted.shop.run("--fc-model=openai:exam").assert_outcomes(passed=1, failed=1)
    assert len(planted.server.asked) == 4


def test_a_key_beside_the_answer_does_not_keep_it_from_being_replayed(planted: Exam) -> None:
    planted.shop.cases("cases:\n  - {id: fine, prompt: hello, expect: no_call}\n", "exam.fc.yaml")
    said = said_back(key for name, key in KEYS.items() if not name.startswith("case"))
    planted.always(chat("Hi.", system_fingerprint=said, model=said))
    planted.shop.run("--fc-model=openai:exam").assert_outcomes(passed=1)
    replayed = planted.shop.run("--fc-model=openai:exam", "--fc-replay")
    replayed.assert_outcomes(passed=1)
    assert leaks(planted.path, replayed) == []


def test_an_answer_that_lacks_a_secret_is_accepted_by_nobody(planted: Exam) -> None:
    planted.shop.cases(JUDGED, "exam.fc.yaml")
    planted.always(chat(None, [("get_weather", {"city": KEYS["key of the model"]})]))
    result = planted.shop.run("--fc-model=openai:exam", "--fc-accept=all")
    result.stdout.fnmatch_lines(["not accepted, since a secret had to be left out of the answer: leaks, equals"])
    by_command = fcall(planted.path, "accept", "equals")
    assert by_command.returncode == 1
    assert "a secret had to be left out of the answer" in by_command.stderr
    assert not list(planted.path.glob("cases/__fcall__/**/*equals*"))


def test_no_key_is_filled_into_a_case(planted: Exam) -> None:
    planted.shop.cases("cases:\n  - {id: open, prompt: hello}\n", "open.fc.yaml")
    planted.always(chat(None, [("get_weather", {"city": KEYS["another provider's key"]})]))
    filled = fcall(planted.path, "fill", "cases/open.fc.yaml", "--fc-model=openai:exam")
    assert "its answer holds a secret" in filled.stderr
    assert leaks(planted.path, filled) == []


@pytest.mark.parametrize("options", [(), ("--no-mask",)])
def test_no_key_is_imported_from_a_log(planted: Exam, options: tuple[str, ...]) -> None:
    names = ("token of CI", "password of a database", "another provider's key", "key of the model")
    said = " and ".join(KEYS[name] for name in names)
    exchange = {
        "request": {"messages": [{"role": "user", "content": f"use {said}"}], "model": "m"},
        "response": {"choices": [{"message": {"role": "assistant", "content": said}, "finish_reason": "stop"}]},
    }
    planted.shop.file("log.jsonl", json.dumps(exchange))
    imported = fcall(planted.path, "import", "log.jsonl", "--out", "drafts", *options)
    assert imported.returncode == 0
    assert "masked-key-" in next(planted.path.glob("drafts/*.fc.yaml")).read_text("utf-8")
    assert leaks(planted.path, imported, planted_in=[*PLANTED_IN, "log.jsonl"]) == []


def test_no_key_is_locked_with_the_tools_of_a_server_that_says_it_back(
    exam: Exam, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server describes its tools with what it was sent."""
    monkeypatch.setenv("SHOP_SESAME", APP_KEY)
    document = {
        "openapi": "3.1.0",
        "paths": {"/a": {"get": {"operationId": "a", "description": f"with {APP_KEY}", "responses": {}}}},
    }
    exam.always(Answer(json.dumps(document).encode()))
    exam.shop.file("cases/exam.fc.yaml", f"""
        tools:
          - openapi: "{exam.server.url}/shop.json?key=${{SHOP_SESAME}}"
        cases:
          - {{id: a, prompt: a, expect: [{{a: {{}}}}]}}
        """)  # fmt: skip
    locked = fcall(exam.path, "tools", "lock")
    assert locked.returncode == 0, locked.stderr
    assert list(exam.path.rglob("*lock*"))
    assert leaks(exam.path, locked, fcall(exam.path, "tools", "diff"), keys={"key": APP_KEY}, planted_in=()) == []


ORDINARY = {
    "OPENAI_API_KEY": "none",
    "LOCAL_API_KEY": "sk-placeholder",
    "OTHER_API_KEY": "EMPTY",
    "SHOP_TOKEN": "true",
    "TEST_API_KEY": "test-key",
    "PRIMARY_KEY": "gpt-5.2-mini",
    "AUTH_DAY": "2026-11-23",
    "PASS_COUNT": "12345678",
    "DB_PASSWORD": "postgres",
    "KEY_FILE": "/usr/lib",
}


def test_ordinary_values_under_the_names_of_secrets_are_no_secrets(exam: Exam, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ORDINARY.items():
        monkeypatch.setenv(name, value)
    said = " ".join(ORDINARY.values())
    exam.shop.cases(f"cases:\n  - {{id: fine, prompt: hello, expect: no_call, answer: '{said}'}}\n", "exam.fc.yaml")
    exam.always(chat(said))
    exam.run().assert_outcomes(passed=1)
    exam.run("--fc-replay").assert_outcomes(passed=1)
    assert said in fcall(exam.path, "show", "fine").stdout


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
