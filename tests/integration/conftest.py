from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

import tests.integration.kept  # noqa: F401
from tests.integration import small_server
from tests.servers import Server
from tests.suite_tools import WITHOUT_TOOLS, NoRecorder

if TYPE_CHECKING:
    from tests.integration.exam import Exam
    from tests.integration.mind import Mind

QUIET = ["-p", "no:cacheprovider"]
ASYNCIO = ["-p", "asyncio", "-o", "asyncio_default_fixture_loop_scope=function"]

ECHO = '''
import json


def answer(request):
    """Make the calls that the user spells out in JSON; say anything else back."""
    said = request.messages[-1]["content"]
    try:
        return json.loads(said)
    except ValueError:
        return f"You said: {said}"


async def answer_async(request):
    return answer(request)


def down(request):
    raise ConnectionError("the shop is closed")
'''

WEATHER = """
tools:
  - name: get_weather
    description: Current weather of a city.
    parameters:
      type: object
      properties:
        city: {type: string}
        unit: {type: string, enum: [celsius, fahrenheit], default: celsius}
        days: {type: integer}
      required: [city]
"""


class Shop:
    """A project under test: an app that echoes, and case files about the weather."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester
        pytester.makepyfile(echo=ECHO)

    def cases(self, text: str, name: str = "weather.fc.yaml") -> str:
        """Write a case file whose tools are those of the weather; returns its path from the root."""
        return self.file(f"cases/{name}", WEATHER + dedent(text))

    def file(self, name: str, text: str) -> str:
        path = self.pytester.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text), encoding="utf-8")
        return name

    def app(self, text: str) -> None:
        """Write a program that says `serve(answer)`, and the module from which it has `serve`."""
        self.file("app.py", text)
        self.file("small_server.py", Path(small_server.__file__).read_text("utf-8"))

    def run(self, *args: str) -> pytest.RunResult:
        return self.pytester.runpytest(*QUIET, *args)

    def ask(self, *args: str) -> pytest.RunResult:
        """Run with the echo as the model."""
        return self.run("--fc-model=python:echo:answer", *args)


@pytest.fixture(autouse=True)
def quick_runs(stood_in: None) -> None:
    """Commands run pytest inside tests, too."""


@pytest.fixture
def shop(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    # What was compiled counts as new for a file of the same length that was changed within the same second.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(pytester, "make_hook_recorder", NoRecorder)
    before = set(sys.modules)
    yield Shop(pytester)
    for name in {"echo", "mind", "conftest"} & (sys.modules.keys() - before):
        del sys.modules[name]


@pytest.fixture
def asyncio_plugin(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """Has the runs of the test load pytest-asyncio, too."""
    monkeypatch.setenv("PYTEST_ADDOPTS", " ".join([WITHOUT_TOOLS, *ASYNCIO]))


@pytest.fixture
def weather(shop: Shop) -> Shop:
    """One case that passes, and one that fails."""
    shop.cases(
        """
        cases:
          - id: celsius
            tags: [smoke]
            prompt: '[{"name": "get_weather", "arguments": {"city": "Paris", "unit": "celsius"}}]'
            expect: [{get_weather: {city: Paris, unit: celsius}}]
          - id: fahrenheit
            prompt: '[{"name": "get_weather", "arguments": {"city": "Paris", "unit": "celsius"}}]'
            expect: [{get_weather: {city: Paris, unit: fahrenheit}}]
        """
    )
    return shop


@pytest.fixture
def exam(shop: Shop, server: Server, monkeypatch: pytest.MonkeyPatch) -> Exam:
    """A project whose model is served, by a server that echoes unless it is told otherwise.

    What failed is asked for again after milliseconds, where people wait for seconds.
    """
    from pytest_fcall.backends.dispatch import sender
    from tests.integration.exam import Exam

    monkeypatch.setattr(sender, "FIRST_WAIT", 0.001)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    return Exam(shop, server)


@pytest.fixture
def mind(shop: Shop) -> Mind:
    """A project whose model says what a test has it say."""
    from tests.integration.mind import Mind

    return Mind(shop)
