"""What an app sends after its answer belongs to its case, and what no case has sent belongs to none."""

from __future__ import annotations

import json

# Each run inside a test forgets the modules that it imported; these are kept, for speed.
import httpx  # noqa: F401
import openai
import pytest
from openai.resources import chat, responses  # noqa: F401

from tests.by_night import by_night
from tests.integration.command import fcall_here
from tests.integration.conftest import Shop
from tests.integration.exam import called
from tests.servers import Server
from tests.servers import chat as said

AGENT = """
import asyncio
import http.client
import json
import os
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import aiohttp
import httpx
import openai

begun = []


def body(said):
    return {"model": "exam-1", "messages": [{"role": "user", "content": said}]}


def url():
    return os.environ["OPENAI_BASE_URL"] + "/chat/completions"


def by_openai(said):
    with openai.OpenAI(max_retries=0) as client:
        return client.chat.completions.create(**body(said))


def by_httpx(said):
    httpx.post(url(), json=body(said))


def by_http_client(said):
    parts = urlsplit(url())
    connection = http.client.HTTPConnection(parts.netloc)
    connection.request("POST", parts.path, json.dumps(body(said)))
    connection.getresponse().read()
    connection.close()


def by_aiohttp(said):
    async def ask():
        async with aiohttp.ClientSession() as session, session.post(url(), json=body(said)) as came:
            await came.read()

    asyncio.run(ask())


def by_socket(said):
    parts, content = urlsplit(url()), json.dumps(body(said)).encode()
    head = [f"POST {parts.path} HTTP/1.1", "Host: x", f"Content-Length: {len(content)}", "Connection: close", "", ""]
    with socket.create_connection((parts.hostname, parts.port)) as connection:
        connection.sendall("\\r\\n".join(head).encode() + content)
        while connection.recv(4096):
            pass


def give_title(said):
    TITLE(f"A title for {said}")


def answer(request):
    \"\"\"Answer, and give the conversation a title when the next case is at work.\"\"\"
    said = request.messages[-1]["content"]
    finish()
    reply = by_openai(said)
    if "Oslo" in said:
        begin(said)
    return reply


def begin(said):
    go = threading.Event()

    def work():
        go.wait()
        give_title(said)

    thread = threading.Thread(target=work)
    thread.start()
    begun.append((go, thread))


def finish():
    for go, thread in begun:
        go.set()
        thread.join()
    begun.clear()


async def answer_async(request):
    said = request.messages[-1]["content"]
    for go, task in begun:
        go.set()
        await task
    begun.clear()
    reply = await ask_async(said)
    if "Oslo" in said:
        go = asyncio.Event()
        begun.append((go, asyncio.create_task(give_title_async(go, said))))
    return reply


async def ask_async(said):
    async with openai.AsyncOpenAI(max_retries=0) as client:
        return await client.chat.completions.create(**body(said))


async def give_title_async(go, said):
    await go.wait()
    await ask_async(f"A title for {said}")
"""
CASES = f"""
cases:
  - {{id: oslo, prompt: '{called("Oslo")}', expect: [{{get_weather: {{city: Oslo}}}}], wire: {{count: 1}}}}
  - {{id: rome, prompt: '{called("Rome")}', expect: [{{get_weather: {{city: Rome}}}}], wire: {{count: 1}}}}
"""
ONE_CASE = CASES[: CASES.index("  - {id: rome")]
FINISHED = "def pytest_sessionfinish():\n    import agent\n    agent.finish()\n"
LATE = "1 request after the end of cases/weather.fc.yaml::oslo: "
KEPT = f"{LATE}kept with the case, but part of no verdict and no cost; let the app wait for what it asks"
NOBODYS = "1 request of no known case: kept without a case; ask within a case, by httpx, aiohttp or http.client"

# What a client imports when it is made would be forgotten, too, and errors would be of classes that nobody knows.
openai.OpenAI(api_key="none").close()


class Project:
    """A project whose app sends something late."""

    def __init__(self, shop: Shop, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
        self.shop = shop
        self.server = server
        self.with_agent("by_openai")

    def with_agent(self, title: str) -> None:
        self.shop.file("agent.py", f"{AGENT}\n\nTITLE = {title}\n")

    def run(self, *args: str, app: str = "answer") -> pytest.RunResult:
        return self.shop.run(f"--fc-model=python:agent:{app}", "-p", "no:randomly", *args)

    def titled(self) -> list[tuple[str, str]]:
        """The models and the cases that the titles are recorded for."""
        fcall_here(self.shop.pytester.path, "record", "--export")
        found = []
        for path in self.shop.pytester.path.glob("**/__fcall__/wire-*/*.replies.jsonl"):
            model, *lines = map(json.loads, path.read_text("utf-8").splitlines())
            found += [(model["model"], line["case"]) for line in lines if "A title for" in json.dumps(line)]
        return sorted(found)


@pytest.fixture
def project(shop: Shop, server: Server, monkeypatch: pytest.MonkeyPatch) -> Project:
    return Project(shop, server, monkeypatch)


@pytest.mark.parametrize(
    ("app", "title"),
    [
        by_night("answer", "by_openai"),
        by_night("answer", "by_httpx"),
        by_night("answer", "by_http_client"),
        ("answer", "by_aiohttp"),
        ("answer_async", "by_openai"),
    ],
)
def test_a_late_request_is_recorded_and_replayed_with_its_case_and_told(project: Project, app: str, title: str) -> None:
    project.with_agent(title)
    project.shop.cases(CASES)
    live = project.run(app=app)
    live.assert_outcomes(passed=2)
    live.stdout.fnmatch_lines([KEPT])
    assert project.titled() == [(f"wire:python:agent:{app}", "oslo")]
    replay = project.run("--fc-replay", app=app)
    replay.assert_outcomes(passed=2)
    replay.stdout.fnmatch_lines([KEPT])
    assert len(project.server.asked) == 3


def test_a_late_request_that_is_not_recorded_is_refused_and_told_and_changes_no_verdict(project: Project) -> None:
    project.with_agent("lambda said: None")
    project.shop.cases(CASES)
    project.run().assert_outcomes(passed=2)
    project.with_agent("by_httpx")
    replay = project.run("--fc-replay", "-q")
    replay.assert_outcomes(passed=2)
    replay.stdout.fnmatch_lines([f"{LATE}refused, since not recorded and not allowed; *"])
    assert len(project.server.asked) == 2


@pytest.mark.nightly  # as it is not of the next sample
def test_a_late_request_is_not_of_the_next_model(project: Project) -> None:
    project.shop.cases(ONE_CASE)
    project.shop.file("agent.py", f"{AGENT}\n\nTITLE = by_openai\nother = answer\n")
    both = ("--fc-model=python:agent:answer", "--fc-model=python:agent:other")
    project.shop.file("conftest.py", FINISHED)
    project.shop.run(*both, "-p", "no:randomly").assert_outcomes(passed=2)
    assert project.titled() == [("wire:python:agent:answer", "oslo"), ("wire:python:agent:other", "oslo")]
    project.shop.run(*both, "-p", "no:randomly", "--fc-replay").assert_outcomes(passed=2)
    assert len(project.server.asked) == 4


def test_a_late_request_is_not_of_the_next_sample(project: Project) -> None:
    project.shop.cases(ONE_CASE)
    project.shop.file("conftest.py", FINISHED)
    for args in ((), ("--fc-replay",)):
        came = project.run("--fc-samples=2", *args)
        came.assert_outcomes(passed=1)
        came.stdout.fnmatch_lines([KEPT.replace("1 request", "2 requests")])
    assert len(project.server.asked) == 4


@pytest.mark.nightly  # as it is not of the next sample
def test_a_late_request_is_not_of_the_answer_that_is_asked_for_in_doubt(project: Project) -> None:
    project.shop.cases(ONE_CASE)
    project.shop.file("conftest.py", FINISHED)
    project.run("--fc-accept").assert_outcomes(passed=1)
    project.server.script(said("No idea."))
    again = project.run("--fc-record=all", "--fc-confirm=2")
    again.stdout.fnmatch_lines(["[23] requests after the end of cases/weather.fc.yaml::oslo: kept with *"])
    again.stdout.no_fnmatch_line("*wire.count*")


def test_late_requests_are_told_by_workers_too(project: Project) -> None:
    project.shop.cases(CASES)
    project.shop.cases(CASES, "other.fc.yaml")
    told = "2 requests after the end of cases/other.fc.yaml::oslo, cases/weather.fc.yaml::oslo: kept with *"
    project.shop.file("conftest.py", FINISHED)
    for args in (("-n2", "--dist=loadfile"), ("-n2", "--dist=loadfile", "--fc-replay"), ("--fc-replay",)):
        came = project.run(*args)
        came.assert_outcomes(passed=4)
        came.stdout.fnmatch_lines([told])
    assert len(project.server.asked) == 6


def test_a_late_request_is_not_of_the_next_plain_test(project: Project) -> None:
    project.shop.file(
        "test_agent.py",
        f"""
        import agent
        from types import SimpleNamespace


        def ask(city):
            said = '{called("CITY")}'.replace("CITY", city)
            agent.answer(SimpleNamespace(messages=[{{"content": said}}]))


        def test_oslo(fc_wire):
            ask("Oslo")
            assert fc_wire.calls == [{{"get_weather": {{"city": "Oslo"}}}}]


        def test_rome(fc_wire):
            ask("Rome")
            assert fc_wire.calls == [{{"get_weather": {{"city": "Rome"}}}}]
            assert len(fc_wire.replies) == 1
        """,
    )
    for option in ("--fc-live", "--fc-replay"):
        came = project.shop.run(option, "-p", "no:randomly")
        came.assert_outcomes(passed=2)
    assert project.titled() == [("wire:app:tests", "test_oslo")]
    assert len(project.server.asked) == 3


BETWEEN = f"""
import agent

def pytest_runtest_logreport(report):
    if report.when == "teardown" and "oslo" in report.nodeid:
        agent.TITLE("nobody asks: " + {called("Oslo")!r})
"""


@pytest.mark.parametrize("title", ["by_httpx", "by_socket"])
def test_what_no_case_has_sent_is_kept_as_nobodys_and_told(project: Project, title: str) -> None:
    project.with_agent(title)
    project.shop.file("conftest.py", BETWEEN)
    project.shop.cases(CASES.replace("Oslo", "Bern"))
    for args in ((), ("--fc-replay",)):
        came = project.run(*args)
        came.assert_outcomes(passed=2)
        came.stdout.fnmatch_lines([NOBODYS])
    assert len(project.server.asked) == 3
    fcall_here(project.shop.pytester.path, "record", "--export")
    (kept,) = project.shop.pytester.path.glob("__fcall__/wire-app-nobody-*/conftest.py.replies.jsonl")
    assert '"case": "nobody"' in kept.read_text("utf-8")


def test_what_no_case_has_sent_is_refused_where_no_model_may_be_asked(project: Project) -> None:
    project.with_agent("lambda said: None")
    project.shop.cases(CASES.replace("Oslo", "Bern"))
    project.run().assert_outcomes(passed=2)
    project.shop.file(
        "conftest.py",
        """
        import agent
        import openai

        def pytest_runtest_logreport(report):
            if report.when == "teardown" and "oslo" in report.nodeid:
                try:
                    agent.by_openai("Hello?")
                except openai.BadRequestError as error:
                    print(error.message)
        """,
    )
    refused = project.run("--fc-replay", "-s")
    refused.assert_outcomes(passed=2)
    refused.stdout.fnmatch_lines(
        [
            "*pytest-fcall: this request belongs to no case: none is running*",
            "1 request of no known case: refused; *",
        ]
    )
    assert len(project.server.asked) == 2


def test_a_request_that_names_no_case_is_of_none_while_an_earlier_case_may_be_at_work(project: Project) -> None:
    project.with_agent("by_socket")
    project.shop.cases(CASES)
    for args in ((), ("--fc-replay",)):
        came = project.run(*args)
        came.assert_outcomes(passed=2)
        came.stdout.fnmatch_lines([NOBODYS])
    assert [model for model, _ in project.titled()] == []
    assert len(project.server.asked) == 3
