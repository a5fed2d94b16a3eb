"""What the tests ask, and how."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_fcall.backends.local.answerer import Answerer, GeneratedText, ModelPrompt
from pytest_fcall.backends.local.static_engine import StaticEngine
from pytest_fcall.core import Json, Request, Tool

WEATHER = Tool(
    "get_weather",
    "Weather of a city",
    {"type": "object", "properties": {"city": {"enum": ["Oslo", "Rome", "Paris"]}}, "required": ["city"]},
)
ALARM = Tool(
    "set_alarm",
    "Set an alarm",
    {
        "type": "object",
        "properties": {"at": {"$ref": "#/$defs/hour"}, "loud": {"type": "boolean"}},
        "required": ["at"],
        "$defs": {"hour": {"type": "integer", "enum": [6, 7, 8]}},
    },
)
QUESTIONS = (
    "Will it rain in Oslo?",
    "Hi",
    "What is the weather in Paris, and what in Rome and Berlin, tomorrow and the day after?",
    "Wake me at seven.",
    "rain rain rain",
)


def requests(tools: Sequence[Tool] = (), **settings: Json) -> list[Request]:
    """The questions."""
    return [Request(({"role": "user", "content": text},), tuple(tools), settings) for text in QUESTIONS]


def ask(model: Answerer, asked: Sequence[Request]) -> Sequence[GeneratedText]:
    """Ask all at once."""
    prompts = [model.prompt(request) for request in asked]
    return generate(model, prompts, prompts[0].settings)


def say(model: Answerer, *texts: str, **settings: Json) -> Sequence[GeneratedText]:
    """Go on with these texts."""
    return generate(model, [ModelPrompt(text) for text in texts], settings)


def generate(model: Answerer, prompts: Sequence[ModelPrompt], settings: Mapping[str, Json]) -> Sequence[GeneratedText]:
    """One batch."""
    engine = model.engine
    assert isinstance(engine, StaticEngine)
    return engine.generate(prompts, settings)
