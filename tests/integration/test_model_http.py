"""Apps behind an address: how they are spoken to, started, and tied to cases."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.by_night import by_night
from tests.integration.command import fcall_here
from tests.integration.conftest import Shop
from tests.integration.exam import Exam, assert_errors, called, most_at_a_time, towns, weather_in
from tests.servers import (
    Answer,
    Server,
    broken,
    chat,
    echo,
    refused_connection,
    reset,
    throttled,
    truncated_json,
)

APP = '''
"""An agent behind an address: asks its model by whatever leads there, and passes on which case it works on."""

import json
import os
import sys
from http.client import HTTPConnection, HTTPException

from small_server import serve

PASSED_ON = sys.argv[1].split(",")
HOST, _, FOLDER = os.environ["OPENAI_BASE_URL"].removeprefix("http://").partition("/")


def ask_model(body, headers):
    connection = HTTPConnection(HOST)
    connection.request("POST", f"/{FOLDER}/chat/completions", json.dumps(body), headers)
    came = connection.getresponse()
    return came.status, came.read()


def answer(asked, given):
    headers = {name: given[name] for name in PASSED_ON if name in given} | {"content-type": "application/json"}
    headers["authorization"] = f"Bearer {os.environ['OPENAI_API_KEY']}"
    body = {"model": "exam-1", "messages": [{"role": "system", "content": "short"}, *asked["messages"]]}
    status, reply = ask_model(body, headers)
    if status != 200:
        return 500, json.loads(reply)
    return 200, {"answer": json.loads(reply)["choices"][0]["message"]}


serve(answer)
'''


class Apps:
    """A project whose app is behind an address, started by the run, and asks its model on a server."""

    def __init__(self, shop: Shop, server: Server) -> None:
        self.shop = shop
        self.server = server
        self.path: Path = shop.pytester.path
        shop.app(APP)
        self.passes_on("x-fcall-case")

    def passes_on(self, names: str, *more: str) -> None:
        serve = f"'{sys.executable}' app.py {names or '-'}"
        lines = [
            "[tool.fcall.models.shop]",
            'model = "http:http://127.0.0.1:{port}/chat"',
            f'serve = "{serve}"',
            'response = "answer"',
            *more,
        ]
        self.shop.file("pyproject.toml", "\n".join([*lines, "[tool.pytest.ini_options]\n"]))

    def run(self, *args: str) -> pytest.RunResult:
        return self.shop.run("--fc-model=http:shop", *args)


@pytest.fixture
def apps(shop: Shop, server: Server, monkeypatch: pytest.MonkeyPatch) -> Apps:
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    return Apps(shop, server)


def test_an_app_in_openais_form_needs_nothing_but_its_address(exam: Exam) -> None:
    exam.cities("Paris", "Rome")
    exam.shop.run(f"--fc-model=http:{exam.server.url}/chat/completions").assert_outcomes(passed=2)
    first = exam.server.asked[0]
    assert first.json["messages"][0]["role"] == "user"
    assert first.json["tools"][0]["function"]["name"] == "get_weather"
    assert (first.headers["x-fcall-case"], first.headers["traceparent"][:3]) != ("", "")


def test_request_and_answer_may_have_any_shape(exam: Exam) -> None:
    exam.cities("Paris")
    answer = {"out": [{"say": "x", "does": [{"fn": "get_weather", "with": {"city": "Paris"}}]}]}
    exam.always(Answer(json.dumps(answer).encode()))
    exam.shop.file(
        "pyproject.toml",
        f"""
        [tool.fcall.models.shop]
        model = "http:{exam.server.url}/ask"
        response = "out[0].does[].{{name: fn, arguments: with}}"
        headers = {{x-team = "shop-secret"}}
        [tool.fcall.models.shop.request]
        question = "prompt"
        names = "tools[].function.name"
        clock = "now"
        about = {{kind = "'weather'"}}
        [tool.pytest.ini_options]
        """,
    )
    exam.shop.run("--fc-model=http:shop").assert_outcomes(passed=1)
    (asked,) = exam.server.asked
    assert asked.json["question"] == called("Paris")
    assert (asked.json["names"], asked.json["about"]) == (["get_weather"], {"kind": "weather"})
    assert asked.headers["x-team"] == "shop-secret"


def test_no_cookie_leads_from_one_case_to_another(exam: Exam) -> None:
    exam.cities("Paris", "Rome", "Oslo")
    exam.server.default = lambda asked: replace(echo(asked), headers={"Set-Cookie": "session=1; Path=/"})
    url = exam.server.url.replace("127.0.0.1", "localhost")  # clients keep no cookies of bare addresses
    exam.shop.run(f"--fc-model=http:{url}/chat/completions", "--fc-concurrency=1").assert_outcomes(passed=3)
    assert [asked.headers.get("cookie") for asked in exam.server.asked] == [None] * 3


def test_as_many_are_on_their_way_to_an_app_as_told(exam: Exam) -> None:
    exam.cities(*towns(104))
    entry = f'[tool.fcall.models.shop]\nmodel = "http:{exam.server.url}/chat/completions"\nforwards = true\n'
    exam.shop.file("pyproject.toml", entry)
    with exam.answered_from(104):
        exam.shop.run("--fc-model=http:shop", "--fc-concurrency=150").assert_outcomes(passed=104)
    assert most_at_a_time(exam.server.asked) == 104


@pytest.mark.parametrize(
    ("request_entry", "told"),
    [
        (
            '{question = "promt"}',
            "`request.question`: a request has no `promt`; available: *; did you mean `prompt`[?]",
        ),
        ('{q = {last = "message[-1].content"}}', "`request.q.last`: a request has no `message`; *"),
        (
            '{q = "[prompt, colour]"}',
            "`request.q`: a request has no `colour`; available: messages, tools, prompt, *now",
        ),
    ],
)
def test_a_request_of_what_no_request_has_is_refused(exam: Exam, request_entry: str, told: str) -> None:
    exam.cities("Paris")
    entry = f'[tool.fcall.models.shop]\nmodel = "http:{exam.server.url}/ask"\nrequest = {request_entry}\n'
    exam.shop.file("pyproject.toml", entry)
    result = exam.shop.run("--fc-model=http:shop")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: --fc-model: http:shop: {told}"])
    assert exam.asked() == []


@pytest.mark.parametrize(
    "expression",
    [
        "messages[?role=='user'].content | [0]",
        "settings.style || 'short'",
        "map(&content, messages)",
        "{last: messages[-1].{said: content}, names: tools[*].function.name, all: @}",
        "join(', ', messages[].role)",
    ],
)
def test_the_parts_of_a_request_have_names_of_their_own(exam: Exam, expression: str) -> None:
    exam.cities("Paris")
    exam.always(Answer(called("Paris").encode()))
    entry = f'[tool.fcall.models.shop]\nmodel = "http:{exam.server.url}/ask"\nrequest.question = "{expression}"\n'
    exam.shop.file("pyproject.toml", entry)
    exam.shop.run("--fc-model=http:shop").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (broken(500), "the app failed: HTTP 500: upstream connect error"),
        (Answer(b"<html>"), "the app's answer is not JSON: <html>"),
        (Answer(b"{}"), "the app returned a dict with no keys; *"),
        (Answer(b"7"), "the app returned a value of type int; allowed: *"),
        (Answer(b"", 404), "HTTP 404: the app takes no POST at this address"),
        (Answer(b"", 401), "HTTP 401: the app requires authentication; set `headers`"),
        (Answer(b"[" * 200_000), "the app's answer is JSON that is nested too deeply: *"),
    ],
)
def test_what_is_wrong_with_an_answer_is_told_in_one_line(exam: Exam, answer: Answer, told: str) -> None:
    exam.cities("Paris")
    exam.always(answer)
    url = f"{exam.server.url}/chat"
    result = exam.shop.run(f"--fc-model=http:{url}")
    assert_errors(result, f"http:{url}: {told}")


def test_an_app_that_nobody_runs_is_an_outage(exam: Exam) -> None:
    exam.cities("Paris")
    result = exam.shop.run(f"--fc-model=http:{refused_connection()}")
    assert result.ret == 10
    result.stdout.fnmatch_lines(["*is the app running? `serve` starts it*"])


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ('response = "a["', "*`response` must be a JMESPath expression*"),
        ('request = {a = "b["}', "*`request` must be names with JMESPath expressions*"),
        ('serve = "node app.js"', "*the address must contain {port}*"),
        ('health = "x"', "*`health` must be a path such as /health*"),
    ],
)
def test_an_entry_that_cannot_be_read_is_told(exam: Exam, entry: str, told: str) -> None:
    exam.cities("Paris")
    exam.shop.file(
        "pyproject.toml",
        f'[tool.fcall.models.shop]\nmodel = "http:http://localhost:1/x"\n{entry}\n[tool.pytest.ini_options]\n',
    )
    result = exam.shop.run("--fc-model=http:shop")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([told])


@pytest.mark.nightly  # as of one that works on many cases at once
def test_an_app_is_started_and_what_it_asks_is_recorded(apps: Apps, monkeypatch: pytest.MonkeyPatch) -> None:
    apps.shop.cases(weather_in(["Paris", "Rome"]))
    apps.run().assert_outcomes(passed=2)
    assert [asked.headers["authorization"] for asked in apps.server.asked] == ["Bearer sk-very-secret"] * 2
    monkeypatch.delenv("OPENAI_BASE_URL")
    monkeypatch.delenv("OPENAI_API_KEY")
    apps.run("--fc-replay").assert_outcomes(passed=2)
    assert len(apps.server.asked) == 2


@pytest.mark.nightly  # as that of an app in the process
def test_a_changed_prompt_of_an_app_elsewhere_is_named(apps: Apps) -> None:
    apps.shop.cases(weather_in(["Paris"]))
    apps.run().assert_outcomes(passed=1)
    path = apps.path / "app.py"
    path.write_text(path.read_text("utf-8").replace('"content": "short"', '"content": "long"'), "utf-8")
    result = apps.run("--fc-replay")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*request 1 to exam-1 is not recorded", "*system message*", "  - short", "  + long"])


@pytest.mark.parametrize("names", ["x-fcall-case", by_night("traceparent"), by_night("baggage")])
def test_an_app_that_passes_on_its_case_works_on_many_at_once(
    apps: Apps, monkeypatch: pytest.MonkeyPatch, names: str
) -> None:
    apps.passes_on(names, "forwards = true")
    apps.server.default = lambda asked: Answer(echo(asked).body, latency=0.02)
    apps.shop.cases(weather_in(towns(6)))
    apps.run().assert_outcomes(passed=6)
    assert most_at_a_time(apps.server.asked) > 1
    assert {asked.headers["authorization"] for asked in apps.server.asked} == {"Bearer sk-very-secret"}
    monkeypatch.delenv("OPENAI_BASE_URL")
    monkeypatch.delenv("OPENAI_API_KEY")
    apps.run("--fc-replay").assert_outcomes(passed=6)
    assert len(apps.server.asked) == 6


@pytest.mark.nightly  # two of them could not be told apart otherwise
def test_an_app_that_does_not_is_asked_for_one_case_at_a_time(apps: Apps) -> None:
    apps.passes_on("")
    apps.server.default = lambda asked: Answer(echo(asked).body, latency=0.01)
    apps.shop.cases(weather_in(towns(4)))
    apps.run().assert_outcomes(passed=4)
    assert most_at_a_time(apps.server.asked) == 1
    apps.run("--fc-replay").assert_outcomes(passed=4)


def test_two_apps_at_once_are_told_apart(apps: Apps) -> None:
    apps.passes_on("")
    path = apps.path / "pyproject.toml"
    own = path.read_text("utf-8").partition("[tool.pytest")[0]
    path.write_text(own.replace("models.shop", "models.other") + path.read_text("utf-8"), "utf-8")
    apps.server.default = lambda asked: Answer(echo(asked).body, latency=0.01)
    apps.shop.cases(weather_in(towns(3)))
    apps.run("--fc-model=other").assert_outcomes(passed=6)


@pytest.mark.nightly  # as that of an app in the process
def test_the_wire_of_an_app_elsewhere_is_judged(apps: Apps) -> None:
    apps.shop.cases(
        weather_in(["Paris"]).replace("\n    expect", "\n    wire: {count: 1, models: [exam-1]}\n    expect")
    )
    apps.run().assert_outcomes(passed=1)
    apps.shop.cases(weather_in(["Paris"]).replace("\n    expect", "\n    wire: {count: 2}\n    expect"))
    apps.run().assert_outcomes(failed=1)


def test_an_app_that_does_not_start_is_told_with_what_it_said(apps: Apps) -> None:
    apps.shop.file("app.py", "raise SystemExit('no database')")
    apps.shop.cases(weather_in(["Paris"]))
    apps.run().stdout.fnmatch_lines(["*before it was ready*no database*"])


def test_an_app_that_fails_at_a_message_is_told_with_what_it_logged_meanwhile(apps: Apps) -> None:
    broken_app = APP.replace('{"answer":', '{"answer" + asked["no such"]:')
    apps.shop.file("app.py", broken_app.replace("def ask", "print('sound so far', flush=True)\n\n\ndef ask"))
    apps.passes_on("", 'environment = {LOG_TOKEN = "no such"}')
    apps.shop.cases(weather_in(["Paris"]))
    result = apps.run()
    assert_errors(result, "http:shop: the app failed: HTTP 500: *; end of its log: *KeyError: '…' (more in *log)")
    result.stdout.no_fnmatch_line("*sound so far*")


def test_an_app_that_does_not_answer_in_time_is_told_with_what_it_logged_meanwhile(
    apps: Apps, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_fcall.backends.dispatch.sender.FIRST_WAIT", 0.01)
    slow_app = APP.replace("def ask", "import time\n\nprint('sound so far', flush=True)\n\n\ndef ask")
    waits = "    print('waiting for the database', flush=True)\n    time.sleep(99)\n"
    apps.shop.file("app.py", slow_app.replace("    headers = ", f"{waits}    headers = ", 1))
    apps.passes_on("", "timeout = 0.5")
    apps.shop.cases(weather_in(["Paris"]))
    result = apps.run()
    assert_errors(result, "http:shop: *did not answer within 0.5 s*; end of its log: *waiting for the database*")
    result.stdout.no_fnmatch_line("*sound so far*")


def test_an_app_that_is_never_well_is_given_up_and_what_it_says_is_told(apps: Apps) -> None:
    apps.passes_on("", 'health = "/up"', "serve_timeout = 1")
    apps.shop.cases(weather_in(["Paris"]))
    apps.run().stdout.fnmatch_lines(["*not ready within 1 s (`serve_timeout`): */up*"])


def test_workers_have_an_app_and_a_proxy_each(apps: Apps) -> None:
    apps.shop.cases(weather_in(towns(6)))
    for how in ("-n2", "--fc-replay"):
        apps.run(how).assert_outcomes(passed=6)
        assert len(apps.server.asked) == 6


@pytest.mark.nightly  # one proxy gives fifty their own in a test of its own
def test_cases_that_ask_the_same_have_each_its_own_replies(apps: Apps) -> None:
    numbers = iter(range(100))
    apps.passes_on("x-fcall-case", "forwards = true")
    apps.server.default = lambda _: chat(f"number {next(numbers)}")
    lines = [f"  - {{id: c{n}, prompt: same, answer: {{$contains: number}}, wire: {{count: 1}}}}" for n in range(5)]
    apps.shop.cases("\n".join(["cases:", *lines, ""]))
    apps.run().assert_outcomes(passed=5)
    assert len(apps.server.asked) == 5
    apps.run("--fc-replay").assert_outcomes(passed=5)
    assert len(apps.server.asked) == 5


CARELESS = """
    try:
        ask_model(body, headers)
    except (HTTPException, OSError):
        pass
    return 200, {"answer": "It is blue."}
"""
FAULTS = [
    (broken(500), "/chat/completions was answered with HTTP 500"),
    (chat("Blue.", finish_reason=None), "/chat/completions has no finish_reason, so that it may be cut short"),
    (throttled(), "/chat/completions was answered with HTTP 429"),
    (reset(), "/chat/completions was not answered: the connection failed"),
    (truncated_json(), "/chat/completions is JSON that is cut off after character "),
]


@pytest.mark.parametrize(("answer", "fault"), [FAULTS[0], *(by_night(*each) for each in FAULTS[1:])])
def test_a_reply_that_rests_on_an_answer_that_was_none_is_not_recorded(apps: Apps, answer: Answer, fault: str) -> None:
    """The app makes do with whatever its model says, so that it answers all the same."""
    apps.shop.file("app.py", APP[: APP.index("    status, reply")] + CARELESS + APP[APP.index("\n\nserve(") :])
    apps.shop.cases("cases: [{id: oslo, prompt: Weather in Oslo?, expect: no_call}]")
    apps.server.script(answer)
    first = apps.run()
    first.assert_outcomes(passed=1)
    first.stdout.fnmatch_lines([f"http:shop: an answer was passed on to the app and not recorded: {fault}*"])
    shown = fcall_here(apps.path, "show", "oslo").stdout
    assert f"its reply is not recorded, as it rests on this: {fault}" in shown
    apps.run("--fc-replay").assert_outcomes(errors=1)
    apps.server.script(chat("Blue."))
    apps.run().assert_outcomes(passed=1)
    assert len(apps.server.asked) == 2
    apps.run("--fc-replay").assert_outcomes(passed=1)
