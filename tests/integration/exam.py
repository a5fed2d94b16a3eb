"""A project whose model is served on loopback, and what becomes of the requests of its cases."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from pytest_fcall.backends.store import ReplyStore, store_path
from pytest_fcall.reporting.result_json import results_from_json
from pytest_fcall.reporting.results import Result
from pytest_fcall.tracking.run_file import read_run, run_paths
from tests.integration.conftest import QUIET, Shop
from tests.servers import Answer, Asked, Server

CASES = "cases/exam.fc.yaml"


def called(city: str) -> str:
    """What has the server call for the weather there, and a case expect it."""
    return json.dumps([{"name": "get_weather", "arguments": {"city": city}}])


def weather_in(cities: Iterable[str]) -> str:
    """The YAML of cases, one a city, that a server answers as they expect."""
    return "cases:\n" + "".join(
        f"  - id: {city}\n    prompt: '{called(city)}'\n    expect: [{{get_weather: {{city: {city}}}}}]\n"
        for city in cities
    )


def towns(count: int) -> list[str]:
    """As many names of cities as are wanted."""
    return [f"Town{number:03}" for number in range(count)]


class Exam:
    """Cases about the weather, put to the model `openai:exam`."""

    def __init__(self, shop: Shop, server: Server) -> None:
        self.shop = shop
        self.server = server
        self.path = shop.pytester.path

    @property
    def model(self) -> str:
        return f"--fc-model={self.named('exam')}"

    def named(self, name: str, **query: object) -> str:
        """A model of this name on the server, with more in its query."""
        more = "".join(f"&{key}={value}" for key, value in query.items())
        return f"openai:{name}?base_url={self.server.url}{more}"

    def cities(self, *cities: str) -> None:
        """Write one case a city. Each passes if the server echoes."""
        self.shop.cases(weather_in(cities), "exam.fc.yaml")

    def always(self, answer: Answer) -> None:
        """Have the server answer everything so."""
        self.server.default = lambda _: answer

    def run(self, *args: str) -> pytest.RunResult:
        """Run in this process, with the model."""
        return self.shop.run(self.model, *args)

    def apart(self, *args: str) -> pytest.RunResult:
        """Run in a process of its own, with the model."""
        return self.shop.pytester.runpytest_subprocess(*QUIET, self.model, *args)

    @contextmanager
    def answered_from(self, count: int) -> Iterator[None]:
        """Have the server answer nothing before so many requests have arrived."""
        held = ExitStack()
        held.enter_context(self.server.holding())

        def release() -> None:
            with held:
                self.server.wait_for(count)

        waiting = threading.Thread(target=release)
        waiting.start()
        yield
        waiting.join()

    def asked(self) -> list[str]:
        """What the server was asked, in the order in which it arrived."""
        return [prompt_of(asked) for asked in self.server.asked]

    def times(self, asked: Asked) -> int:
        """How often the server was asked the same so far."""
        return self.asked().count(prompt_of(asked))

    def age(self, **days: float) -> None:
        """Have the kept replies to these cases recorded so many days ago, and forget what was asked so far."""
        age_replies(self.path, **days)
        self.server.asked.clear()

    def results(self) -> dict[str, Result]:
        """The results of the last run by their cases, as its file has them."""
        run = read_run(run_paths(self.path)[-1])
        return {result.case: result for result in results_from_json(run.results).results}

    def used(self) -> set[str]:
        """The digests of the replies that the last run of the cases used."""
        with closing(ReplyStore(store_path(self.path))) as store:
            return set().union(*store.last_uses("openai:exam", CASES).values())

    def kept(self) -> set[str]:
        """The prompts to which replies are kept."""
        with closing(ReplyStore(store_path(self.path))) as store:
            found = {str(kept.entry.request.messages[-1]["content"]) for kept in store.replies()}
            assert not store.faults
        return found


def age_replies(folder: Path, **days: float) -> None:
    """Have the replies to these cases that are kept in a project recorded so many days ago."""
    now = datetime.now(UTC)
    with closing(ReplyStore(store_path(folder))) as store:
        for kept in list(store.replies()):
            recorded = (now - timedelta(days=days[kept.entry.case])).isoformat()
            store.put(kept.model, kept.file, kept.entry._replace(recorded=recorded))


def prompt_of(asked: Asked) -> str:
    return str(asked.json["messages"][-1]["content"])


def most_at_a_time(asked: Iterable[Asked]) -> int:
    """How many of these requests were on their way together, at most."""
    changes = [(each.arrived, 1) for each in asked]
    changes += [(each.answered, -1) for each in asked if each.answered is not None]
    running = most = 0
    for _, change in sorted(changes):
        running += change
        most = max(most, running)
    return most


def files_of(folder: Path) -> list[Path]:
    """All files that lie in a folder, however deep."""
    return [path for path in folder.rglob("*") if path.is_file()]


def assert_errors(result: pytest.RunResult, *lines: str) -> None:
    """Each error says one line, in this order. The lines are patterns."""
    said = [
        line
        for line in result.stdout.str().partition(" ERRORS =")[2].partition("\n---")[0].splitlines()[1:]
        if not line.startswith("____")
    ]
    assert len(said) == len(lines)
    for line, pattern in zip(said, lines, strict=True):
        assert fnmatchcase(line, pattern)
