"""A project whose model changes its mind: it says what a test has it say."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.integration.conftest import QUIET, Shop

AGENT = '''
import json
from pathlib import Path


def answer(request):
    """Say what is written down for this prompt, or one after the other of several things."""
    prompt = request.messages[-1]["content"]
    said = json.loads(Path(__file__).with_name("said.json").read_text("utf-8")).get(prompt, "nothing")
    log = Path(__file__).with_name("asked.txt")
    with log.open("a+", encoding="utf-8") as asked:
        asked.seek(0)
        before = asked.read().splitlines().count(prompt)
        print(prompt, file=asked)
    return said["in_turn"][before % len(said["in_turn"])] if isinstance(said, dict) else said


other = answer
'''

Said = str | list[dict[str, object]]

RIGHT: Said = [{"name": "get_weather", "arguments": {"city": "Oslo"}}]
OTHERWISE: Said = [{"name": "get_weather", "arguments": {"city": "Oslo", "unit": "celsius"}}]
WRONG: Said = [{"name": "get_weather", "arguments": {"city": "Rome"}}]
WORSE: Said = [{"name": "get_weather", "arguments": {"town": "Oslo"}}]


class Mind:
    """Cases that are right where the model calls for the weather in Oslo; each prompt is the id of its case."""

    model = "python:mind:answer"

    def __init__(self, shop: Shop) -> None:
        self.shop = shop
        self.path = shop.pytester.path
        shop.file("mind.py", AGENT)
        shop.file("pytest.ini", "[pytest]\n")

    def cases(self, *ids: str, name: str = "a.fc.yaml", expect: str = "[{get_weather: {city: Oslo}}]") -> None:
        """Write a case file, and have the model be right."""
        lines = [f"  - {{id: {id_}, prompt: {id_}, expect: {expect}}}\n" for id_ in ids]
        self.shop.cases("cases:\n" + "".join(lines), name)
        self.says(dict.fromkeys(ids, RIGHT))

    def says(self, said: Mapping[str, Said]) -> None:
        """Change the model's mind for these prompts."""
        self._write(said)

    def says_in_turn(self, case: str, *said: Said) -> None:
        """Have the model say one after the other, and count anew how often it is asked."""
        self.count_anew()
        self._write({case: {"in_turn": said}})

    def asked(self) -> Counter[str]:
        """How often the model was asked for each case."""
        return Counter((self.path / "asked.txt").read_text("utf-8").splitlines())

    def count_anew(self) -> None:
        """Forget how often the model was asked."""
        (self.path / "asked.txt").unlink(missing_ok=True)

    def _write(self, said: Mapping[str, object]) -> None:
        path = self.path / "said.json"
        before: dict[str, object] = json.loads(path.read_text("utf-8")) if path.exists() else {}
        path.write_text(json.dumps({**before, **said}), "utf-8")

    def run(self, *args: str) -> pytest.RunResult:
        return self.shop.run(f"--fc-model={self.model}", *args)

    def apart(self, *args: str) -> pytest.RunResult:
        """Run in a process of its own."""
        return self.shop.pytester.runpytest_subprocess(*QUIET, f"--fc-model={self.model}", *args)

    def baseline(self, name: str = "a.fc.yaml", model: str | None = None) -> Path:
        folder = (model or self.model).replace(":", "-")
        (found,) = (self.path / "cases" / "__fcall__").glob(f"{folder}*")
        return found / f"{name}.accepted"

    def measured(self, name: str = "a.fc.yaml") -> dict[str, tuple[int, int]]:
        """The numbers of right answers, and of all, that the measurement beside a baseline has of each case."""
        lines = self.measurement(name).read_text("utf-8").splitlines()
        return {each["case"]: (each["right"], each["asked"]) for each in map(json.loads, lines) if "asked" in each}

    def measurement(self, name: str = "a.fc.yaml") -> Path:
        return self.baseline(name).with_suffix(".measured.jsonl")

    def files(self) -> dict[str, bytes]:
        """All files of baselines, with what is in them."""
        return {str(path.relative_to(self.path)): path.read_bytes() for path in self.path.rglob("*.accepted")}


def lines_with(result: pytest.RunResult, text: str) -> list[str]:
    return [line for line in result.outlines if text in line]
