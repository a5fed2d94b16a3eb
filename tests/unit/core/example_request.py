"""A request, for processes that import little else."""

from __future__ import annotations

from pytest_fcall.core import Request, Tool

REQUEST = Request(
    messages=({"role": "user", "content": "Wetter in München? 🌦"},),
    tools=(Tool("get_weather", "Weather", {"type": "object", "properties": {"city": {"type": "string"}}}),),
    settings={"temperature": 0.1, "seed": 7},
)
