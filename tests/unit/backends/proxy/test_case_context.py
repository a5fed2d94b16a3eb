from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import http.client
import importlib
import json
import multiprocessing.pool
import queue
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from functools import partial
from urllib.parse import urlsplit

import aiohttp
import httpx
import httpx2
import pytest

from pytest_fcall.backends.proxy.app_run import AppRun
from pytest_fcall.backends.proxy.case_context import CaseContext, CaseWork
from pytest_fcall.backends.proxy.case_lookup import CASE_HEADER
from tests.servers import Server
from tests.unit.backends.proxy.support import Between

BODY = {"model": "exam-1", "messages": [{"role": "user", "content": "the same"}]}
CHANGED = (
    (threading.Thread, "start"),
    (concurrent.futures.ThreadPoolExecutor, "submit"),
    (multiprocessing.pool.Pool, "apply_async"),
    (multiprocessing.pool.ThreadPool, "__init__"),
    (asyncio.Runner, "run"),
    (subprocess.Popen, "__init__"),
    (http.client.HTTPConnection, "putrequest"),
    (aiohttp.ClientSession, "_request"),
    (httpx.Client, "send"),
    (httpx.AsyncClient, "send"),
    (httpx2.Client, "send"),
    (httpx2.AsyncClient, "send"),
)

Ask = Callable[[str], None]
Hand = Callable[[Callable[[], None]], object]
"""Hands work to a worker, and waits until it is done."""


@pytest.fixture
def between(server: Server) -> Iterator[Between]:
    with Between(server) as proxy:
        context = CaseContext(proxy.runs)
        context.begin()
        try:
            yield proxy
        finally:
            context.end()


class Cases:
    """Two cases that are at work at once, so that no time tells them apart."""

    def __init__(self, between: Between) -> None:
        self.runs = between.runs
        self.of = {name: between.run(name) for name in ("oslo", "rome")}
        self.tokens = {name: self.runs.add(self._get(name), self.runs.in_process) for name in self.of}

    def _get(self, name: str) -> Callable[[], AppRun]:
        return lambda: self.of[name]

    def working_on(self, name: str) -> AbstractContextManager[None]:
        return CaseWork(self.runs.mark(self.tokens[name]))

    def end(self, name: str) -> None:
        self.runs.remove(self.tokens[name])

    @property
    def requests(self) -> dict[str, int]:
        return {name: len(run.inner_requests) for name, run in self.of.items()}


@pytest.fixture
def cases(between: Between) -> Cases:
    return Cases(between)


def with_httpx(url: str) -> None:
    httpx.post(url, json=BODY).raise_for_status()


def with_httpx2(url: str) -> None:
    httpx2.post(url, json=BODY).raise_for_status()


def with_httpx_async(url: str) -> None:
    async def ask() -> None:
        async with httpx.AsyncClient() as client, httpx2.AsyncClient() as other:
            (await client.post(url, json=BODY)).raise_for_status()
            (await other.post(url, json=BODY)).raise_for_status()

    asyncio.run(ask())


def with_aiohttp(url: str) -> None:
    base, path = url.rsplit("/", 1)

    async def ask() -> None:
        async with aiohttp.ClientSession(f"{base}/", raise_for_status=True) as session:
            async with session.post(path, json=BODY, headers={"x-team": "shop"}) as came:
                await came.read()
            async with session.post(url, json=BODY) as came:
                await came.read()

    asyncio.run(ask())


def with_http_client(url: str) -> None:
    parts = urlsplit(url)
    with closing(http.client.HTTPConnection(parts.netloc)) as connection:
        connection.request("POST", parts.path, json.dumps(BODY))
        with connection.getresponse() as came:
            assert came.status == 200
    urllib.request.urlopen(url, json.dumps(BODY).encode()).close()  # noqa: S310  of this test


def with_raw_socket(url: str) -> None:
    async def ask() -> None:
        parts = urlsplit(url)
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        content = json.dumps(BODY)
        head = f"POST {parts.path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(content)}\r\nConnection: close\r\n\r\n"
        writer.write(f"{head}{content}".encode())
        assert b"400" in await reader.readline()
        writer.close()
        await writer.wait_closed()

    asyncio.run(ask())


@pytest.mark.parametrize(
    ("ask", "number"),
    [
        (with_httpx, 1),
        (with_httpx2, 1),
        (with_httpx_async, 2),
        (with_aiohttp, 2),
        (with_http_client, 2),
        (with_raw_socket, 0),
    ],
)
def test_a_request_names_the_case_that_is_worked_on_and_its_provider_does_not_see_that(
    between: Between, cases: Cases, ask: Ask, number: int
) -> None:
    with cases.working_on("oslo"):
        ask(f"{between.url()}/chat/completions")
    with cases.working_on("rome"):
        ask(f"{between.url()}/chat/completions")
    assert cases.requests == {"oslo": number, "rome": number}
    assert all(CASE_HEADER not in asked.headers for asked in between.server.asked)


@pytest.mark.parametrize("ask", [with_httpx, with_httpx2, with_httpx_async, with_aiohttp, with_http_client])
def test_a_request_to_anybody_else_and_one_outside_all_cases_names_none(
    between: Between, cases: Cases, ask: Ask
) -> None:
    with cases.working_on("oslo"):
        ask(f"{between.server.url}/chat/completions")
    assert all(CASE_HEADER not in asked.headers for asked in between.server.asked)
    with pytest.raises(Exception, match=r"400|Bad Request"):
        ask(f"{between.url()}/chat/completions")
    assert cases.requests == {"oslo": 0, "rome": 0}


@contextmanager
def executor() -> Iterator[Hand]:
    with concurrent.futures.ThreadPoolExecutor(1) as threads:
        yield lambda work: threads.submit(work).result()


@contextmanager
def thread_pool() -> Iterator[Hand]:
    with multiprocessing.pool.ThreadPool(1) as pool:
        yield pool.apply


@contextmanager
def mapping_thread_pool() -> Iterator[Hand]:
    with multiprocessing.pool.ThreadPool(1) as pool:
        yield lambda work: (pool.map(lambda _: work(), [1]), [*pool.imap(lambda _: work(), [1])])


@contextmanager
def runner() -> Iterator[Hand]:
    async def call(work: Callable[[], None]) -> None:
        work()

    with asyncio.Runner() as same:
        yield lambda work: same.run(call(work))


@contextmanager
def loop_in_a_thread() -> Iterator[Hand]:
    async def call(work: Callable[[], None]) -> None:
        await asyncio.get_running_loop().run_in_executor(None, work)

    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    yield lambda work: asyncio.run_coroutine_threadsafe(call(work), loop).result()
    asyncio.run_coroutine_threadsafe(loop.shutdown_default_executor(), loop).result()
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


@contextmanager
def threads_of_their_own() -> Iterator[Hand]:
    class Worker(threading.Thread):
        def __init__(self, work: Callable[[], None]) -> None:
            super().__init__()
            self.work = work

        def run(self) -> None:
            self.work()

    def hand(work: Callable[[], None]) -> None:
        for thread in (threading.Thread(target=work), Worker(work), threading.Timer(0, work)):
            thread.start()
            thread.join()

    yield hand


@pytest.mark.parametrize(
    ("worker", "number"),
    [
        (executor, 1),
        (thread_pool, 1),
        (mapping_thread_pool, 2),
        (runner, 1),
        (loop_in_a_thread, 1),
        (threads_of_their_own, 3),
    ],
)
def test_work_belongs_to_the_case_that_hands_it_over_whoever_made_the_worker(
    between: Between, cases: Cases, worker: Callable[[], AbstractContextManager[Hand]], number: int
) -> None:
    with ExitStack() as workers:
        with cases.working_on("oslo"):
            hand = workers.enter_context(worker())
            hand(lambda: with_httpx(f"{between.url()}/chat/completions"))
        with cases.working_on("rome"):
            hand(lambda: with_httpx(f"{between.url()}/chat/completions"))
        assert cases.requests == {"oslo": number, "rome": number}
        refused: list[int] = []
        hand(lambda: refused.append(httpx.post(f"{between.url()}/chat/completions", json=BODY).status_code))
        assert refused == [400] * number


def test_a_worker_with_a_queue_works_for_the_case_whose_context_comes_with_the_work(
    between: Between, cases: Cases
) -> None:
    work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()

    def run_all() -> None:
        while job := work.get():
            job()

    def ask() -> None:
        with_httpx(f"{between.url()}/chat/completions")

    with cases.working_on("oslo"):
        thread = threading.Thread(target=run_all)
        thread.start()
    with cases.working_on("rome"):
        work.put(partial(contextvars.copy_context().run, ask))
    work.put(None)
    thread.join()
    assert cases.requests == {"oslo": 0, "rome": 1}


@pytest.mark.parametrize("ask", [with_httpx, with_httpx2, with_httpx_async, with_aiohttp, with_http_client])
def test_a_thread_that_outlives_its_case_names_it_and_no_other(between: Between, cases: Cases, ask: Ask) -> None:
    go = threading.Event()

    def late() -> None:
        go.wait()
        ask(f"{between.url()}/chat/completions")

    with cases.working_on("oslo"):
        thread = threading.Thread(target=late)
        thread.start()
    cases.end("oslo")
    with cases.working_on("rome"):
        go.set()
        thread.join()
    assert cases.requests["oslo"] > 0
    assert cases.requests["rome"] == 0
    del thread
    assert between.runs.find(between.runs.in_process, {}) is cases.of["rome"]


def test_a_process_that_outlives_its_case_has_the_address_of_its_case_alone(
    between: Between, cases: Cases, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", between.url())
    code = f"""
import os, sys, urllib.request
sys.stdin.read()
urllib.request.urlopen(os.environ["OPENAI_BASE_URL"] + "/chat/completions", {json.dumps(BODY).encode()!r}).close()
"""
    with cases.working_on("oslo"):
        process = subprocess.Popen([sys.executable, "-S", "-c", code], stdin=subprocess.PIPE)
    cases.end("oslo")
    with cases.working_on("rome"):
        process.communicate(b"go")
    assert process.returncode == 0
    assert cases.requests == {"oslo": 1, "rome": 0}
    assert between.runs.find(between.runs.in_process, {}) is cases.of["rome"]


def test_a_thread_that_cannot_start_is_as_it_was(between: Between, cases: Cases) -> None:
    thread = threading.Thread(target=int)
    with cases.working_on("oslo"):
        thread.start()
        thread.join()
        with pytest.raises(RuntimeError, match="only be started once"):
            thread.start()
    assert "run" not in vars(thread)


def test_a_library_that_is_imported_later_names_the_case_too(
    between: Between, cases: Cases, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "httpx2._client")
    later = importlib.import_module("httpx2._client")
    assert later.Client is not httpx2.Client
    with cases.working_on("oslo"), later.Client() as client:
        assert client.post(f"{between.url()}/chat/completions", json=BODY).status_code == 200
    assert cases.requests == {"oslo": 1, "rome": 0}


def test_at_the_end_libraries_are_as_they_were_but_for_what_others_have_changed(
    monkeypatch: pytest.MonkeyPatch, server: Server
) -> None:
    before = [vars(owner)[name] for owner, name in CHANGED]
    finders = [*sys.meta_path]
    with Between(server) as proxy:
        context = CaseContext(proxy.runs)
        context.begin()
        assert not any(vars(owner)[name] is old for (owner, name), old in zip(CHANGED, before, strict=True))
        ours = httpx.Client.send

        def traced(*args: object, **kwargs: object) -> object:
            return ours(*args, **kwargs)  # type: ignore[arg-type]

        monkeypatch.setattr(httpx.Client, "send", traced)
        context.end()
        assert httpx.Client.send is traced
        with httpx.Client() as client:
            assert client.post(f"{server.url}/chat/completions", json=BODY).status_code == 200
        monkeypatch.setattr(httpx.Client, "send", before[8])
    assert [vars(owner)[name] for owner, name in CHANGED] == before
    assert sys.meta_path == finders
