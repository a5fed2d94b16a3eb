"""A loaded model that answers requests, and the protocols of its engine, its feeder and its prompts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from importlib import import_module
from typing import Protocol

from pytest_fcall.backends.local.generation import Generated, Prompt, Tally
from pytest_fcall.backends.local.settings import draws_tokens
from pytest_fcall.core import Json, Reply, Request, Usage


class Feeder(Protocol):
    """Takes prompts one by one and has the engine work on many at a time. Lives in the event loop."""

    @property
    def tally(self) -> Tally:
        """Counts of the work so far."""
        ...

    async def generate(self, prompt: Prompt) -> Generated:
        """Continue a prompt. Raises CaseRefused if that is impossible, ModelUnavailable if all prompts fail."""
        ...


class Engine(Protocol):
    """A model in memory."""

    @property
    def about(self) -> Mapping[str, Json]:
        """Library versions, dtype, device and memory."""
        ...

    def feeder(self, size: int, thread: Executor, /) -> Feeder:
        """Make a feeder for `size` prompts at once. Called in `thread`, which is there for heavy work.

        Raises ModelUnavailable.
        """
        ...


class Prompts(Protocol):
    """Writes requests in the form that a model was trained on."""

    @property
    def decoder(self) -> str | None:
        """The decoder for the answers to requests with tools."""
        ...

    @property
    def notes(self) -> Sequence[str]:
        """Remarks for people, a line each."""
        ...

    def prompt_text(self, request: Request) -> str:
        """Write the whole prompt. Raises CaseRefused for a request that the model cannot be given."""
        ...


@dataclass(frozen=True, slots=True)
class Answerer:
    """The engine and the prompts of a model, in the process that holds it."""

    engine: Engine
    prompts: Prompts

    def prompt(self, request: Request) -> Prompt:
        """Write the prompt. Where tokens are drawn at random, each sample has a seed of its own."""
        settings = dict(request.settings)
        seed = settings.get("seed")
        if isinstance(seed, int) and draws_tokens(settings):
            settings["seed"] = seed + request.sample
        return Prompt(self.prompts.prompt_text(request), request.tools, settings)

    def reply(self, request: Request, generated: Generated) -> Reply:
        """Make a reply of what the model wrote. A request without tools has no decoder."""
        notes: Mapping[str, Json] = {"notes": list(self.prompts.notes)} if self.prompts.notes else {}
        return Reply(
            text=generated.text,
            finish=generated.finish,
            decoder=self.prompts.decoder if request.tools else None,
            usage=Usage(generated.input_tokens, generated.output_tokens),
            seconds=generated.seconds,
            engine={**self.engine.about, **generated.engine, **notes},
        )


def load_answerer(maker: str, options: Mapping[str, Json]) -> Answerer:
    """Call `maker`, which is written as module:function."""
    module, _, function = maker.partition(":")
    make: Callable[[Mapping[str, Json]], Answerer] = getattr(import_module(module), function)
    return make(options)
