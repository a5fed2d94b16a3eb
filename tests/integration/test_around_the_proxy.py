"""Connections of an app to a provider that go around the proxy. Nothing in these tests leaves this machine."""

from __future__ import annotations

import socket
import urllib.request
from asyncio import BaseEventLoop
from collections.abc import Iterator

# Each run inside a test forgets the modules that it imported; these are kept, for speed.
import httpx  # noqa: F401
import openai
import pytest
from openai.resources import chat, responses  # noqa: F401

from pytest_fcall.backends.dispatch import sender
from tests.by_night import by_night
from tests.integration.conftest import Shop
from tests.servers import Proxy, Server

# What a client imports when it is made would be forgotten, too, and errors would be of classes that nobody knows.
openai.OpenAI(api_key="none").close()

OPENAI = """
import openai

def answer(request):
    with openai.OpenAI(base_url="https://api.openai.com/v1", max_retries=0) as client:
        client.models.list()
"""
HTTPX = """
import httpx

def answer(request):
    httpx.get("https://eu.api.openai.com/v1")
"""
HTTPX_ASYNC = """
import httpx

async def answer(request):
    async with httpx.AsyncClient() as client:
        await client.get("https://team.openai.azure.com/openai")
"""
AIOHTTP = """
import aiohttp

async def answer(request):
    async with aiohttp.ClientSession() as session:
        await session.get("https://bedrock-runtime.eu-central-1.amazonaws.com/")
"""
URLLIB = """
import urllib.request

def answer(request):
    urllib.request.urlopen("https://generativelanguage.googleapis.com/")
"""
STREAMS = """
import asyncio

async def answer(request):
    await asyncio.open_connection("API.anthropic.com.", 443)
"""
IN_A_THREAD = """
import asyncio
import socket

def ask():
    socket.create_connection((b"api.mistral.ai".decode(), 443))

async def answer(request):
    await asyncio.to_thread(ask)
"""
APPS = {
    "openai": (OPENAI, "api.openai.com", 6),
    "httpx": (HTTPX, "eu.api.openai.com", 5),
    "httpx_async": (HTTPX_ASYNC, "team.openai.azure.com", 6),
    "aiohttp": (AIOHTTP, "bedrock-runtime.eu-central-1.amazonaws.com", 6),
    "urllib": (URLLIB, "generativelanguage.googleapis.com", 5),
    "streams": (STREAMS, "API.anthropic.com.", 5),
    "in_a_thread": (IN_A_THREAD, "api.mistral.ai", 6),
}
NOTHING_LEAVES = """
import socket

def getaddrinfo(host, *args, real=socket.getaddrinfo, **kwargs):
    if host not in ("127.0.0.1", "localhost"):
        raise socket.gaierror(socket.EAI_NONAME, "no such name")
    return real(host, *args, **kwargs)

def pytest_configure():
    socket.getaddrinfo = getaddrinfo
"""
SENDING = ("send", "sendall", "sendmsg")
INI = "[pytest]\nfc_model = python:bot:answer\n"


@pytest.fixture(autouse=True)
def nothing_leaves(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Resolve no name but those of this machine; gives those that were to be resolved."""
    wanted: list[str] = []
    real = socket.getaddrinfo

    def getaddrinfo(host: str, *args: object, **kwargs: object) -> object:
        if host in ("127.0.0.1", "localhost"):
            return real(host, *args, **kwargs)  # type: ignore[arg-type]
        wanted.append(host)
        raise socket.gaierror(socket.EAI_NONAME, "no such name")

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    for name in ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "https_proxy", "http_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    return wanted


@pytest.fixture
def project(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> Shop:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    shop.cases("cases: [{id: oslo, prompt: 'Weather in Oslo?', expect: no_call}]")
    shop.file("pytest.ini", INI)
    return shop


@pytest.mark.parametrize("app", APPS)
def test_where_no_model_may_be_asked_it_is_refused_before_its_name_is_resolved(
    project: Shop, nothing_leaves: list[str], app: str
) -> None:
    code, host, line = APPS[app]
    project.file("bot.py", code)
    before = socket.getaddrinfo, BaseEventLoop.getaddrinfo
    result = project.run()
    result.assert_outcomes(errors=1)
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [f"python:bot:answer: the app goes around the proxy to {host}, at bot.py:{line}, and no model may be asked *"]
    )
    assert nothing_leaves == []
    assert (socket.getaddrinfo, BaseEventLoop.getaddrinfo) == before


@pytest.fixture
def environment_proxy(monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    """A proxy that the environment names, and that connects to nobody."""
    with Proxy(refuses=502) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"http://{proxy.host}")
        monkeypatch.setattr(urllib.request, "_opener", None)  # it keeps what the environment said at its first use
        yield proxy


THROUGH_A_PROXY = ("openai", "httpx", "httpx_async", "aiohttp", "urllib")


@pytest.mark.parametrize("app", THROUGH_A_PROXY)
def test_a_proxy_of_the_environment_is_not_told_where_an_app_wants_to_go(
    project: Shop, environment_proxy: Proxy, app: str
) -> None:
    code, host, line = APPS[app]
    project.file("bot.py", code.replace("ClientSession()", "ClientSession(trust_env=True)"))
    before = [vars(socket.socket).get(name) for name in SENDING]
    result = project.run()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([f"python:bot:answer: the app goes around the proxy to {host}, at bot.py:{line}, *"])
    assert environment_proxy.passed == []
    assert [vars(socket.socket).get(name) for name in SENDING] == before


def test_what_goes_through_a_proxy_of_the_environment_is_told_where_models_may_be_asked(
    project: Shop, environment_proxy: Proxy
) -> None:
    project.file("bot.py", CARELESS)
    result = project.run("--fc-live", "-rP")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["  it went around the proxy to generativelanguage.googleapis.com, at bot.py:6"])
    assert [passed.target for passed in environment_proxy.passed] == ["generativelanguage.googleapis.com:443"]


def test_others_are_asked_through_a_proxy_of_the_environment_as_ever(project: Shop, environment_proxy: Proxy) -> None:
    project.file("bot.py", CARELESS.replace("generativelanguage.googleapis", "weather.example"))
    project.run().assert_outcomes(passed=1)
    assert [passed.target for passed in environment_proxy.passed] == ["weather.example.com:443"]


def test_several_pieces_are_sent_whole_from_an_iterator_too(project: Shop, environment_proxy: Proxy) -> None:
    project.file(
        "bot.py",
        """
        import socket

        def answer(request):
            one, other = socket.socketpair()
            with one, other:
                one.sendmsg(iter([b"CONNECT ", b"it is"]))
                return other.recv(100).decode()
        """,
    )
    project.run("-rP").stdout.fnmatch_lines(["  text: CONNECT it is"])


def test_an_app_that_swallows_the_refusal_is_found_out(project: Shop, nothing_leaves: list[str]) -> None:
    project.file(
        "bot.py", OPENAI.replace("client.models.list()", "try: client.models.list()\n        except Exception: 0")
    )
    result = project.run()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*goes around the proxy to api.openai.com, at bot.py:6*"])
    assert nothing_leaves == []


def test_of_a_library_that_connects_by_itself_the_library_is_named(project: Shop) -> None:
    project.file(
        "bot.py",
        """
        from concurrent.futures import ThreadPoolExecutor

        import openai

        def answer(request):
            with openai.OpenAI(base_url="https://api.openai.com/v1", max_retries=0) as client:
                with ThreadPoolExecutor() as pool:
                    pool.submit(client.models.list)
        """,
    )
    result = project.run()
    result.stdout.fnmatch_lines(["*goes around the proxy to api.openai.com, at openai.resources.models:*"])


def test_other_hosts_are_nobodys_business(project: Shop, nothing_leaves: list[str]) -> None:
    project.file("bot.py", URLLIB.replace("generativelanguage.googleapis.com", "weather.example"))
    project.run().stdout.fnmatch_lines(["*URLError*"])
    assert nothing_leaves == ["weather.example"]


def test_an_address_of_the_project_counts_like_a_known_one(project: Shop, nothing_leaves: list[str]) -> None:
    project.file("pytest.ini", f"{INI}fc_proxy_variables = SHOP_LLM=https://llm.shop.example/v1\n")
    project.file("bot.py", URLLIB.replace("generativelanguage.googleapis.com", "llm.shop.example"))
    project.run().stdout.fnmatch_lines(["*goes around the proxy to llm.shop.example, at bot.py:5*"])
    assert nothing_leaves == []


@pytest.mark.parametrize("ini", ["fc_around = allow", by_night("fc_proxy = off")])
def test_it_can_be_allowed(project: Shop, nothing_leaves: list[str], ini: str) -> None:
    project.file("pytest.ini", f"{INI}{ini}\n")
    project.file("bot.py", URLLIB)
    project.run("--fc-live").assert_outcomes(errors=1)
    assert nothing_leaves == ["generativelanguage.googleapis.com"]


def test_a_test_with_the_fixture_is_watched_too(project: Shop, nothing_leaves: list[str]) -> None:
    project.file("bot.py", URLLIB)
    project.file("test_bot.py", "import bot\n\ndef test_bot(fc_wire):\n    bot.answer(None)\n")
    project.file("pytest.ini", "[pytest]\n")
    result = project.run("test_bot.py")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*app:tests: the app goes around the proxy to generative*, at bot.py:5*"])
    assert nothing_leaves == []


def test_a_judge_that_is_asked_ahead_is_not_taken_for_the_app(
    project: Shop, nothing_leaves: list[str], server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The judge is at a provider, and is asked in a thread of ours while apps are at work."""
    monkeypatch.setattr(sender, "FIRST_WAIT", 0.001)
    monkeypatch.setenv("OPENAI_BASE_URL", "https://api.openai.com/v1")
    cases = "".join(f"  - {{id: c{n}, prompt: 'x{n}', expect: no_call, answer: {{$judge: good}}}}\n" for n in range(3))
    project.cases(f"cases:\n{cases}")
    project.file("bot.py", "def answer(request):\n    return 'x'\n")
    result = project.run("--fc-judge=openai:exam-1")
    assert "goes around" not in result.stdout.str()
    assert set(nothing_leaves) == {"api.openai.com"}
    assert not server.asked


CARELESS = """
import urllib.request

def answer(request):
    try:
        urllib.request.urlopen("https://generativelanguage.googleapis.com/")
    except OSError:
        return "I do not know."
"""


@pytest.mark.parametrize("workers", ["-n0", "-n1"])
def test_where_models_may_be_asked_it_passes_and_is_told(
    project: Shop, nothing_leaves: list[str], workers: str
) -> None:
    project.file("bot.py", CARELESS)
    project.file("conftest.py", NOTHING_LEAVES)
    result = project.run("--fc-live", "-rP", workers)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        [
            "  it went around the proxy to generativelanguage.googleapis.com, at bot.py:6",
            "1 case in which python:bot:answer went around the proxy, which can neither record nor replay that:",
            "  generativelanguage.googleapis.com, at bot.py:6",
        ]
    )
    assert nothing_leaves in ([], ["generativelanguage.googleapis.com"])


def test_of_a_test_with_the_fixture_it_is_told_too(project: Shop) -> None:
    project.file("bot.py", CARELESS)
    project.file("test_bot.py", "import bot\n\ndef test_bot(fc_wire):\n    bot.answer(None)\n")
    result = project.run("--fc-live", "test_bot.py")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        ["test_bot.py::test_bot: its app went around the proxy to generativelanguage.googleapis.com, at bot.py:6"]
    )


def test_what_reports_on_an_app_is_refused_and_is_no_error(project: Shop, nothing_leaves: list[str]) -> None:
    """As openai-agents does, whose traces go where its models are."""
    project.file("agents/__init__.py", "")
    project.file("agents/tracing.py", CARELESS.replace("generativelanguage.googleapis", "api.openai"))
    project.file("bot.py", "from agents.tracing import answer\n")
    project.run().assert_outcomes(passed=1)
    assert nothing_leaves == []


@pytest.mark.parametrize("word", ["fc_around = maybe", "fc_inside = maybe"])
def test_an_unknown_word_is_an_error_of_usage(project: Shop, word: str) -> None:
    project.file("pytest.ini", f"{INI}{word}\n")
    result = project.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{word.partition(' ')[0]}: 'maybe' is none of *"])
