"""What an app was answered is kept, however its run ends."""

from __future__ import annotations

import sys
import time
from contextlib import closing
from dataclasses import replace
from random import Random

import pytest

from pytest_fcall.backends.store import ReplyStore, store_path
from tests.by_night import by_night
from tests.integration.conftest import QUIET, Shop
from tests.integration.exam import prompt_of, towns, weather_in
from tests.integration.test_inside_apps import AGENT
from tests.servers import Answer, Asked, Server, echo

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="processes and signals of POSIX")

if sys.platform != "win32":
    from tests.forked import Run

MODEL = "python:agent:answer_async"


def soon(asked: Asked) -> Answer:
    return replace(echo(asked), latency=0.002)


@pytest.mark.parametrize("times", [2, by_night(8)])
def test_kill_9_loses_nothing_and_the_next_run_asks_only_for_the_rest(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    random = Random(20261121)  # noqa: S311  a failure must come again
    path = shop.pytester.path
    shop.file("agent.py", AGENT)
    cities = towns(600)
    shop.cases(weather_in(cities))
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    kept: set[str] = set()
    proven = 0
    for _ in range(times):
        with Server(soon) as server:
            monkeypatch.setenv("OPENAI_BASE_URL", server.url)
            run = Run(path, [*QUIET, f"--fc-model={MODEL}"])
            server.wait_for(random.randint(20, 60))
            killed = time.monotonic()
            run.process.kill()
            run.process.join()
        arrived = {prompt_of(asked) for asked in server.asked if (asked.answered or killed) < killed - 0.05}
        with closing(ReplyStore(store_path(path))) as store:
            found = {str(each.entry.request.messages[-1]["content"]) for each in store.replies(f"wire:{MODEL}")}
            assert not store.faults
        assert kept | arrived <= found
        assert kept.isdisjoint(map(prompt_of, server.asked))
        proven += len(arrived)
        kept = found
    assert proven > 2 * times
