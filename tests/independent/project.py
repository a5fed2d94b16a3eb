"""A user's project, run as users run it."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import pytest

from tests.independent.server import MODEL

HEAD = """\
tools:
  - name: get_weather
    description: Current weather of a city
    parameters: {type: object, properties: {city: {type: string}}, required: [city]}
cases:
"""
CASES = """\
  - id: called
    prompt: Call get_weather for Oslo.
    expect: [{get_weather: {city: Oslo}}]
  - id: elsewhere
    prompt: Call get_weather for Rome.
    expect: [{get_weather: {city: Atlantis}}]
  - id: said
    prompt: What is the capital of Norway?
    tools: {only: []}
    expect: no_call
"""
CITY = """\
  - id: {city}
    prompt: Call get_weather for {city}.
    expect: [{{get_weather: {{city: {city}}}}}]
"""
CITIES = (
    *("Oslo", "Rome", "Paris", "London", "Berlin", "Madrid", "Lisbon", "Dublin", "Vienna", "Prague"),
    *("Athens", "Warsaw", "Cairo", "Delhi", "Tokyo", "Lima", "Quito", "Boston", "Denver", "Sydney"),
)


class Project:
    """Runs of pytest in a folder of their own, each in a process of its own."""

    def __init__(self, pytester: pytest.Pytester, url: str) -> None:
        self._pytester = pytester
        self._url = url
        self.write(CASES)

    def write(self, cases: str) -> None:
        """Have these cases, and no others."""
        folder = self._pytester.path / "cases"
        folder.mkdir(exist_ok=True)
        (folder / "weather.fc.yaml").write_text(HEAD + cases, encoding="utf-8")

    def write_cities(self) -> None:
        """Have a case for each city."""
        self.write("".join(CITY.format(city=city) for city in CITIES))

    def model(self, name: str = MODEL, **settings: str) -> str:
        """The option that names the model."""
        query = {"base_url": self._url, "temperature": "0", "max_tokens": "40", **settings}
        return f"--fc-model=openai:{name}?" + "&".join(f"{key}={quote(value)}" for key, value in query.items())

    def run(self, *arguments: str) -> pytest.RunResult:
        quiet = ["-p", "no:cacheprovider", "-p", "no:randomly"]
        return self._pytester.runpytest_subprocess(*quiet, *arguments, timeout=500)

    def replies(self) -> dict[str, Any]:
        """The replies that are kept, by case, as they are exported."""
        exported = self._pytester.run(sys.executable, "-m", "pytest_fcall.cli", "record", "--export", timeout=60)
        assert exported.ret == 0
        (file,) = self._pytester.path.glob("cases/__fcall__/*/weather.fc.yaml.recorded.jsonl")
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        return {row["case"]: row["reply"] for row in rows if "case" in row}


def verdicts(result: pytest.RunResult) -> Mapping[str, str]:
    """What has become of each case, from the lines of `-v`."""
    lines = (line.partition("::")[2].split() for line in result.outlines if line.startswith("cases/"))
    return {words[0]: words[1] for words in lines}
