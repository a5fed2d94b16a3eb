"""What may be set for a model behind OpenAI's interface, and what becomes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import cast

from pytest_fcall.backends.options import Option, choice, either, flag, integer, number, table, text
from pytest_fcall.backends.serving.command import is_command
from pytest_fcall.core import Json

OPTIONS: Mapping[str, Option] = MappingProxyType(
    {
        "base_url": text("a URL such as http://127.0.0.1:8000/v1", shapes=False),
        "api_key_env": text("the name of an environment variable", shapes=False),
        "headers": table("names and texts in one line of ASCII each", of_texts=True, shapes=False),
        "serve": Option("a command such as `vllm serve {model} --port {port}`", is_command, shapes=False),
        "serve_timeout": number("a number of seconds above zero", 0, above=True, shapes=False),
        "timeout": number("a number of seconds above zero", 0, above=True, shapes=False),
        "api": choice("chat", "responses"),
        "mode": choice("native", "prompt"),
        "decoder": text("the name of a decoder"),
        "strict": flag(),
        "temperature": number("a number from zero on", 0),
        "top_p": number(),
        "seed": integer(),
        "max_tokens": integer("an integer above zero", 1),
        "frequency_penalty": number(),
        "presence_penalty": number(),
        "tool_choice": either(text("auto, none, required, a tool's name"), table("a mapping")),
        "parallel_tool_calls": flag(),
        "reasoning_effort": text("a word such as low"),
        "extra_body": table("a mapping of JSON values"),
    }
)
_OURS = ("api", "mode", "decoder", "strict", "headers", "timeout", "extra_body")
_ENTRY_ONLY = (
    "base_url",
    "api_key_env",
    "serve",
    "serve_timeout",
    "api_key",
    "authorization",
    "extra_headers",
    "extra_query",
    "stream",
)
TIMEOUT = 300.0


@dataclass(frozen=True, slots=True)
class Asking:
    """How one request is sent, whoever said so."""

    responses: bool = False
    prompt: bool = False
    """Whether tools are told in the prompt."""
    decoder: str | None = None
    strict: bool = False
    timeout: float = TIMEOUT
    headers: Mapping[str, str] = field(default_factory=dict)
    extra_body: Mapping[str, Json] = field(default_factory=dict)
    sampling: Mapping[str, Json] = field(default_factory=dict)
    """Everything else, which is sent under its own name or that which the wire has for it."""


def shaping(settings: Mapping[str, Json]) -> dict[str, Json]:
    """The settings that the answer depends on."""
    return {name: value for name, value in settings.items() if OPTIONS[name].shapes}


def asking(model: Mapping[str, Json], case: Mapping[str, Json]) -> Asking:
    """Join what is set for the model with what the request itself says, which counts before it.

    A request may say more than is known here: it is sent as it is. Raises ValueError, in words, for what only a
    model's entry may say, and for a value that cannot be.
    """
    for name, value in case.items():
        if name in _ENTRY_ONLY:
            raise ValueError(f"`{name}` cannot be set by a case")
        if name in OPTIONS:
            _check(name, value)
    every = {**model, **case}
    return Asking(
        responses=every.get("api") == "responses",
        prompt=every.get("mode") == "prompt",
        decoder=cast("str | None", every.get("decoder")),
        strict=every.get("strict") is True,
        timeout=cast("float", every.get("timeout", TIMEOUT)),
        headers=cast("Mapping[str, str]", every.get("headers", {})),
        extra_body=cast("Mapping[str, Json]", every.get("extra_body", {})),
        sampling={name: value for name, value in every.items() if name not in (*_OURS, *_ENTRY_ONLY)},
    )


def _check(name: str, value: Json) -> None:
    try:
        OPTIONS[name].checked(value)
    except ValueError as error:
        raise ValueError(f"`{name}` {error}") from None
