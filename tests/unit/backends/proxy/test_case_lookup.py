from __future__ import annotations

import asyncio
import gc
import itertools
import json
from collections.abc import Callable, Iterator, Mapping

import aiohttp
import pytest

from pytest_fcall.backends.proxy.app_run import AppRun
from pytest_fcall.backends.proxy.case_lookup import (
    BASE_URL_HEADER,
    CASE_HEADER,
    AppRuns,
    UnknownCase,
    case_headers,
    case_tokens,
)
from tests.servers import Asked, Server, chat
from tests.servers.answer import Answer
from tests.unit.backends.proxy.support import Between

CASES = [f"case{number}" for number in range(50)]
BODY = json.dumps({"model": "exam-1", "messages": [{"role": "user", "content": "the same"}]}).encode()

Way = Callable[[Between, str], tuple[str, Mapping[str, str]]]
WAYS: Mapping[str, Way] = {
    "header": lambda between, token: (between.url(), {CASE_HEADER: token}),
    "baggage": lambda between, token: (between.url(), {"baggage": f"team=shop, fcall.case={token};ttl=1"}),
    "traceparent": lambda between, token: (between.url(), {"traceparent": f"00-{token}-00000000000000aa-01"}),
    "address": lambda between, token: (between.url(token), {}),
}


@pytest.fixture
def between(server: Server) -> Iterator[Between]:
    numbers = itertools.count()

    def counting(asked: Asked) -> Answer:
        return chat(str(next(numbers)))

    server.default = counting
    with Between(server) as proxy:
        yield proxy


async def twice(between: Between, session: aiohttp.ClientSession, way: Way, case: str, *, live: bool) -> list[str]:
    """Ask the same twice for a case, each time while others do."""
    run = between.run(case, live=live)
    token = between.runs.add(lambda: run, between.runs.in_process)
    said = []
    for _ in range(2):
        url, headers = way(between, token)
        async with session.post(f"{url}/chat/completions", data=BODY, headers=headers) as came:
            said.append((await came.json())["choices"][0]["message"]["content"])
    between.runs.remove(token)
    assert [inner.reply.text for inner in run.inner_requests] == said
    return said


async def all_at_once(between: Between, way: Way, *, live: bool) -> list[list[str]]:
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        return await asyncio.gather(*(twice(between, session, way, case, live=live) for case in CASES))


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_fifty_cases_that_ask_the_same_at_once_get_each_its_own_replies(between: Between, way: Way) -> None:
    first = asyncio.run(all_at_once(between, way, live=True))
    assert len({text for said in first for text in said}) == 100
    for _ in range(2):
        assert asyncio.run(all_at_once(between, way, live=False)) == first
    assert len(between.server.asked) == 100


def test_of_several_cases_none_is_guessed(between: Between) -> None:
    async def untied() -> str:
        url = f"{between.url()}/chat/completions"
        async with aiohttp.ClientSession() as session, session.post(url, data=BODY) as came:
            assert came.status == 400
            return str((await came.json())["error"]["message"])

    with between.running("oslo") as oslo, between.running("rome") as rome:
        told = asyncio.run(untied())
    assert "2 cases are running" in told
    assert CASE_HEADER in told
    assert ([*oslo.inner_requests], [*rome.inner_requests], between.server.asked) == ([], [], [])


def test_a_request_of_a_case_that_is_over_is_still_its_own_while_its_work_may_go_on(between: Between) -> None:
    runs = AppRuns()
    over, going = between.run("over"), between.run("going")
    token = runs.add(lambda: over, runs.in_process)
    work = runs.mark(token)
    runs.remove(token)
    runs.add(lambda: going, runs.in_process)
    assert runs.find(runs.in_process, case_headers(token)) is over
    assert runs.find(token, {}) is over
    del work
    with pytest.raises(UnknownCase, match="a case of another run"):
        runs.find(runs.in_process, case_headers(token))
    with pytest.raises(KeyError):
        runs.find(token, {})


def test_of_thousands_of_cases_that_are_over_those_still_at_work_are_known_and_the_others_are_not_kept(
    between: Between,
) -> None:
    runs = AppRuns()
    over = between.run("over")
    token = runs.add(lambda: over, runs.in_process)
    work = runs.mark(token)
    runs.remove(token)
    held = number_held(runs)
    for _ in range(1_000):
        runs.remove(runs.add(lambda: over, runs.in_process))
    assert number_held(runs) - held < 200
    assert runs.find(work.token, {}) is over


def test_what_fails_in_making_a_late_run_is_not_taken_for_an_unknown_case() -> None:
    def broken() -> AppRun:
        raise KeyError("its origin")

    runs = AppRuns()
    token = runs.add(broken, runs.in_process)
    work = runs.mark(token)
    runs.remove(token)
    for named, headers in ((work.token, {}), (runs.in_process, case_headers(token))):
        with pytest.raises(KeyError, match="its origin"):
            runs.find(named, headers)


def number_held(runs: AppRuns) -> int:
    """The number of objects that are held by name."""
    return sum(len(each) for each in gc.get_referents(runs) if isinstance(each, dict))


def test_a_case_that_is_over_in_another_process_is_known_until_the_end(between: Between) -> None:
    runs = AppRuns()
    over = between.run("over")
    token = runs.add(lambda: over, "node")
    runs.remove(token)
    runs.add(lambda: between.run("going"), "node")
    assert runs.find("node", case_headers(token)) is over


def test_the_only_run_gets_what_names_none_unless_a_case_before_may_still_be_at_work(between: Between) -> None:
    runs = AppRuns()
    before = runs.add(lambda: between.run("before"), runs.in_process)
    elsewhere = runs.add(lambda: between.run("elsewhere"), "node")
    work = [runs.mark(before)]
    work.append(work)  # type: ignore[arg-type]  # garbage that only the collector finds
    for token in (before, elsewhere):
        runs.remove(token)
    going = between.run("going")
    runs.add(lambda: going, runs.in_process)
    with pytest.raises(UnknownCase, match="1 case is running, and what a case before has begun may still be at work"):
        runs.find(runs.in_process, {})
    del work
    runs.remove(runs.add(lambda: between.run("between"), runs.in_process))
    assert runs.find(runs.in_process, {}) is going


def test_providers_do_not_see_which_case_it_is(between: Between) -> None:
    async def tied(token: str) -> None:
        headers = {CASE_HEADER: token, BASE_URL_HEADER: "http://x", "x-team": "shop"}
        url = f"{between.url()}/chat/completions"
        async with aiohttp.ClientSession() as session, session.post(url, data=BODY, headers=headers) as came:
            await came.read()

    asyncio.run(tied(between.runs.add(between.run, between.runs.in_process)))
    sent = between.server.asked[0].headers
    assert (CASE_HEADER in sent, BASE_URL_HEADER in sent, sent["x-team"]) == (False, False, "shop")


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {CASE_HEADER: " "},
        {"baggage": ",,;=,fcall.case"},
        {"traceparent": "00-xyz"},
        {"traceparent": "00-" + "a" * 32},
    ],
)
def test_headers_that_name_no_case_are_passed_over(headers: dict[str, str]) -> None:
    assert case_tokens(headers) == []


def test_two_apps_that_say_nothing_are_told_by_their_addresses(between: Between) -> None:
    runs = AppRuns()
    node, django = between.run("node"), between.run("django")
    runs.add(lambda: node, "a")
    runs.add(lambda: django, "b")
    assert (runs.find("a", {}), runs.find("b", {})) == (node, django)


def test_an_app_that_was_started_by_hand_is_not_taken_for_another_that_is_at_work(between: Between) -> None:
    runs = AppRuns()
    runs.add(lambda: between.run("oslo"), runs.by_hand)
    of_another_worker = case_headers("f" * 32)
    for name in (CASE_HEADER, "baggage"):
        with pytest.raises(UnknownCase, match="of another run"):
            runs.find(runs.by_hand, {name: of_another_worker[name]})
    forwarding = AppRuns()
    forwarding.add(lambda: between.run("oslo"), "own")
    with pytest.raises(UnknownCase, match="1 case is running"):
        forwarding.find(forwarding.by_hand, {})
