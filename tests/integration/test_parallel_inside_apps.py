"""Baselines of apps that ask models at the same time: files change only where the app does."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

# Each run inside a test forgets the modules that it imported; these are kept, for speed.
import openai
import pytest
from openai.resources import chat  # noqa: F401

from tests.integration.conftest import Shop
from tests.integration.exam import called, prompt_of
from tests.servers import Server, echo

AGENT = '''
import json
import uuid
from concurrent.futures import ThreadPoolExecutor

import openai

CITIES = ["Oslo", "Rome", "Bern"]


def answer(request):
    """Ask for all cities at the same time, in a run that has a name of its own."""
    run = uuid.uuid4().hex

    def ask(city):
        said = json.dumps([{"name": "get_weather", "arguments": {"city": city}}])
        messages = [{"role": "user", "content": said}]
        return client.chat.completions.create(
            model="exam-1", messages=messages, tools=request.tools, metadata={"run": run}, user=run
        )

    with openai.OpenAI(max_retries=0) as client, ThreadPoolExecutor(3) as pool:
        replies = list(pool.map(ask, CITIES))
    return [vars(call.function) for reply in replies for call in reply.choices[0].message.tool_calls]
'''

# What a client imports when it is made would be forgotten, too.
openai.OpenAI(api_key="none").close()


class ParallelAgent:
    """A project whose app sends three requests at the same time."""

    def __init__(self, shop: Shop, server: Server) -> None:
        self.shop = shop
        self.server = server
        shop.file("agent.py", AGENT)
        shop.cases(
            """
            cases:
              - id: all
                prompt: Where is it warm?
                expect:
                  - get_weather: {city: Oslo}
                  - get_weather: {city: Rome}
                  - get_weather: {city: {$any: [Bern, Lisbon]}}
            """
        )

    def run(self, *args: str, answered: str = "Oslo Rome Bern Lisbon") -> pytest.RunResult:
        """Ask the models, which answer in this order, and not before all requests are there."""
        places = {called(city): place for place, city in enumerate(answered.split(), start=1)}
        self.server.default = lambda asked: replace(echo(asked), latency=places[prompt_of(asked)] / 50)
        with self._all_on_their_way(len(self.server.asked) + 3):
            return self.shop.run("--fc-model=python:agent:answer", "--fc-record=all", *args)

    def change(self, old: str, new: str) -> None:
        path = self.shop.pytester.path / "agent.py"
        path.write_text(path.read_text("utf-8").replace(old, new), "utf-8")

    @property
    def baseline(self) -> Path:
        (path,) = self.shop.pytester.path.glob("cases/__fcall__/*/*.accepted")
        return path

    @contextmanager
    def _all_on_their_way(self, count: int) -> Iterator[None]:
        def hold() -> None:
            with self.server.holding():
                holding.set()
                self.server.wait_for(count)

        holding = threading.Event()
        waiting = threading.Thread(target=hold)
        waiting.start()
        holding.wait()
        yield
        waiting.join()


@pytest.fixture
def agent(shop: Shop, server: Server, monkeypatch: pytest.MonkeyPatch) -> ParallelAgent:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    return ParallelAgent(shop, server)


def test_the_same_requests_leave_the_baseline_as_it_is_whatever_the_app_names_its_runs(agent: ParallelAgent) -> None:
    agent.run("--fc-accept").assert_outcomes(passed=1)
    before = agent.baseline.read_bytes(), agent.baseline.stat().st_mtime_ns
    result = agent.run("--fc-accept", answered="Bern Rome Oslo")
    result.stdout.fnmatch_lines(["accepted: 0 cases, 1 unchanged"])
    result.stdout.no_fnmatch_line("*other requests*")
    assert (agent.baseline.read_bytes(), agent.baseline.stat().st_mtime_ns) == before


@pytest.mark.nightly  # or a second would change it
def test_a_first_baseline_is_the_same_in_whatever_order_models_answer(agent: ParallelAgent) -> None:
    agent.run("--fc-accept").assert_outcomes(passed=1)
    before = agent.baseline.read_bytes()
    agent.baseline.unlink()
    agent.run("--fc-accept", answered="Bern Rome Oslo").assert_outcomes(passed=1)
    assert agent.baseline.read_bytes() == before


@pytest.mark.nightly  # as answers in another order do
def test_a_replay_writes_the_baseline_that_the_models_gave(agent: ParallelAgent) -> None:
    agent.run("--fc-accept", answered="Rome Bern Oslo").assert_outcomes(passed=1)
    before = agent.baseline.read_bytes()
    agent.baseline.unlink()
    agent.shop.run("--fc-model=python:agent:answer", "--fc-replay", "--fc-accept").assert_outcomes(passed=1)
    assert agent.baseline.read_bytes() == before


def test_one_changed_request_among_parallel_ones_changes_no_other_line(agent: ParallelAgent) -> None:
    agent.run("--fc-accept").assert_outcomes(passed=1)
    before = agent.baseline.read_text("utf-8").splitlines()
    agent.change("Bern", "Lisbon")
    agent.run("--fc-accept", answered="Lisbon Rome Oslo").assert_outcomes(passed=1)
    after = agent.baseline.read_text("utf-8").splitlines()
    gone, new = ([line for line in one if line not in other] for one, other in ((before, after), (after, before)))
    # The digest of all, the call, and the request.
    assert [line.count("Bern") for line in gone] == [line.count("Lisbon") for line in new] == [0, 1, 1]
