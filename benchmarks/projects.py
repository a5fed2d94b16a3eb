"""The projects that are measured, written to disk."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

FLOOR = """
import pytest, yaml

class Item(pytest.Item):
    def __init__(self, *, case, **kwargs):
        super().__init__(**kwargs)
        self.case = case
    def runtest(self):
        assert answer(self.case["prompt"]) == self.case["expect"]

class File(pytest.File):
    def collect(self):
        for case in yaml.load(self.path.read_bytes(), Loader=yaml.CSafeLoader)["cases"]:
            yield Item.from_parent(self, name=case["id"], case=case)

def pytest_collect_file(file_path, parent):
    if file_path.name.endswith(".floor.yaml"):
        return File.from_parent(parent, path=file_path)

def answer(prompt):
    number = int(prompt.split()[-1])
    return [{f"tool_{number % 3}": {"city": f"City {number}", "days": number % 9, "unit": "celsius"}}]
"""

APP = """
def answer(request):
    number = int(request.messages[-1]["content"].split()[-1])
    arguments = {"city": f"City {number}", "days": number % 9, "unit": "celsius"}
    return [{"name": f"tool_{number % 3}", "arguments": arguments}]
"""

PARAMETRISED = """
import pytest

@pytest.mark.parametrize("number", range({count}))
def test_nothing(number):
    pass
"""


def write_cases(folder: Path, count: int) -> None:
    """Write cases for pytest-fcall, and the app that answers them."""
    (folder / "app.py").write_text(APP)
    (folder / "many.fc.yaml").write_text(f"tools: {_tools()}\n{_cases(range(count))}")


def write_case_files(folder: Path, count: int, of: int) -> None:
    """Write the same cases in files of `of` cases."""
    (folder / "app.py").write_text(APP)
    for start in range(0, count, of):
        cases = _cases(range(start, start + of))
        (folder / f"cases_{start // of}.fc.yaml").write_text(f"tools: {_tools()}\n{cases}")


def write_collector(folder: Path, count: int) -> None:
    """Write the same cases for a collector of fifteen lines."""
    (folder / "conftest.py").write_text(FLOOR)
    (folder / "many.floor.yaml").write_text(_cases(range(count)))


def _tools() -> str:
    return json.dumps([tool(n) for n in range(3)])


def _cases(numbers: Iterable[int]) -> str:
    return "cases:\n" + "".join(
        f"  - id: case_{n}\n"
        f"    prompt: What is the weather going to be in number {n}\n"
        f"    expect:\n"
        f"      - tool_{n % 3}: {{city: City {n}, days: {n % 9}, unit: celsius}}\n"
        for n in numbers
    )


def write_spelt_out(folder: Path, count: int) -> None:
    """Write cases whose prompts spell the calls out in JSON, and an app that makes them as the tests' server does."""
    (folder / "spelt.py").write_text(
        "import json\n\ndef answer(request):\n    return json.loads(request.messages[-1]['content'])\n"
    )
    cases = "".join(
        f"  - id: case_{n}\n"
        f"    prompt: '{json.dumps([{'name': f'tool_{n % 3}', 'arguments': {'city': f'City {n}', 'days': n % 9}}])}'\n"
        f"    expect:\n"
        f"      - tool_{n % 3}: {{city: City {n}, days: {n % 9}}}\n"
        for n in range(count)
    )
    (folder / "spelt.fc.yaml").write_text(f"tools: {_tools()}\ncases:\n{cases}")


def write_conversations(folder: Path, count: int, steps: int) -> None:
    """Write conversations, each result of which spells out the next call in JSON, until the last is plain text.

    The app does as the tests' server does, instantly.
    """
    (folder / "spelt.py").write_text(
        "import json\n\ndef answer(request):\n"
        "    said = request.messages[-1]['content']\n"
        "    return json.loads(said) if said.startswith('[') else f'You said: {said}'\n"
    )
    cases = "".join(_conversation(number, steps) for number in range(count))
    (folder / "spelt.fc.yaml").write_text(f"tools: {_tools()}\ncases:\n{cases}")


def _conversation(number: int, steps: int) -> str:
    calls = [{"name": f"tool_{n % 3}", "arguments": {"city": f"City {number}", "days": n}} for n in range(steps - 1)]
    results = [json.dumps([call]) for call in calls[1:]] + ["done"]
    stages = "".join(
        f"      - then: [{{{call['name']}: {json.dumps(call['arguments'])}, returns: {result}}}]\n"
        for call, result in zip(calls, results, strict=True)
    )
    return (
        f"  - id: case_{number}\n"
        f"    prompt: '{json.dumps(calls[:1])}'\n"
        f"    expect:\n{stages}"
        f"    answer: {{$contains: done}}\n"
    )


def write_parametrised(folder: Path, count: int) -> None:
    """Write a test function with `count` parameter sets."""
    (folder / "test_many.py").write_text(PARAMETRISED.format(count=count))


def tool(number: int) -> dict[str, object]:
    """A tool of the weather."""
    return {
        "name": f"tool_{number}",
        "description": "What the weather is going to be.",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "Name of the city."},
                "days": {"type": "integer", "minimum": 0},
                "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]},
            },
            "required": ["city", "days"],
        },
    }
