from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from pytest_fcall.core import CaseRefused, ModelUnavailable, Reply, Unanswered
from tests.unit.backends.local.asking import backends, launcher, pid_of, request
from tests.unit.backends.local.engines import BREAK, DIE


def test_a_death_at_work_is_told_and_the_next_request_starts_it_anew(tmp_path: Path) -> None:
    async def ask() -> tuple[Reply, Reply]:
        async with backends(tmp_path, 1) as [one]:
            before = await one.complete(request("x"))
            told = r"local:spelling: the model process ended; its log is empty; it may have run out of memory"
            with pytest.raises(Unanswered, match=told):
                await one.complete(request(DIE))
            return before, await one.complete(request("y"))

    before, after = asyncio.run(ask())
    assert pid_of(before) != pid_of(after)


def test_a_death_at_loading_is_told(tmp_path: Path) -> None:
    async def ask() -> None:
        async with backends(tmp_path, 1, "too_large") as [one]:
            await one.complete(request("x"))

    with pytest.raises(ModelUnavailable, match="the model process ended while loading; its log is empty"):
        asyncio.run(ask())


@pytest.mark.parametrize(
    ("maker", "told"),
    [
        ("absent", r"local:absent: no weights in /models$"),
        ("unreadable", r"local:spelling: the model cannot be loaded: KeyError: 'model.layers'; more in .*log$"),
        ("missing", r"local:spelling: the model cannot be loaded: AttributeError: .*'missing'"),
    ],
)
def test_what_cannot_be_loaded_is_told_to_all_who_ask(tmp_path: Path, maker: str, told: str) -> None:
    async def ask() -> list[Reply | BaseException]:
        async with backends(tmp_path, 2, maker, weights="/models") as workers:
            at_once = [each.complete(request("x")) for each in (*workers, *workers)]
            failures = await asyncio.gather(*at_once, return_exceptions=True)
            return [*failures, *await asyncio.gather(workers[0].complete(request("y")), return_exceptions=True)]

    for failure in asyncio.run(ask()):
        with pytest.raises(ModelUnavailable, match=told):
            raise failure if isinstance(failure, BaseException) else AssertionError(failure)


def test_the_log_keeps_the_traceback_of_what_nobody_foresaw(tmp_path: Path) -> None:
    async def ask() -> None:
        async with backends(tmp_path, 1) as [one]:
            told = r"local:spelling: the model failed: ValueError: no such token; more in .*log"
            with pytest.raises(CaseRefused, match=told):
                await one.complete(request(BREAK))
            await one.complete(request("x"))

    asyncio.run(ask())
    log = launcher(tmp_path).log.read_text("utf-8")
    assert "Traceback" in log
    assert "in _obey" in log


def test_a_reply_that_cannot_be_said_is_told_instead_of_kept_back(tmp_path: Path) -> None:
    async def ask() -> None:
        async with backends(tmp_path, 1, "unprintable") as [one]:
            await one.complete(request("x"))

    with pytest.raises(CaseRefused, match="the model failed: TypeError"):
        asyncio.run(ask())


def test_a_request_too_deep_to_be_sent_is_refused(tmp_path: Path) -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]

    async def ask() -> None:
        async with backends(tmp_path, 1) as [one]:
            await one.complete(request("x", deep=deep))  # type: ignore[arg-type]  # a list of lists is JSON

    with pytest.raises(CaseRefused, match="the request is not JSON"):
        asyncio.run(ask())
