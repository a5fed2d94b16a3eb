"""A loaded model that answers requests, and the protocols of its engine, its feeder and its prompt writer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from importlib import import_module
from typing import Protocol

from pytest_fcall.backends.local.generation import Generated, Prompt, Tally
from pytest_fcall.core import Json, Reply, Request, Usage


class Feeder(Protocol):
    """Takes prompts one by one, and has many gone on with at a time. Lives in the event loop."""

    @property
    def tally(self) -> Tally:
        """What it has done."""
        ...

    async def generate(self, prompt: Prompt) -> Generated:
        """Go on with a prompt. Raises CaseRefused where it can never be, ModelUnavailable where none can."""
        ...


class Engine(Protocol):
    """A model in memory."""

    @property
    def about(self) -> Mapping[str, Json]:
        """What answers: library versions, dtype, device, grammar."""
        ...

    def feeder(self, size: int, thread: Executor, /) -> Feeder:
        """Make what feeds it, `size` prompts at once. Called in `thread`, which is there for heavy work.

        Raises ModelUnavailable.
        """
        ...


class PromptWriter(Protocol):
    """Puts requests into the words that a model was trained on."""

    @property
    def decoder(self) -> str | None:
        """Which decoder reads the answers, where there were tools."""
        ...

    @property
    def notes(self) -> Sequence[str]:
        """What people should know of it, a line each."""
        ...

    def text(self, request: Request) -> str:
        """Write the whole prompt. Raises CaseRefused for what this model cannot be told."""
        ...


@dataclass(frozen=True, slots=True)
class Answerer:
    """Everything of a model that lives in the answering process."""

    engine: Engine
    wording: PromptWriter

    def prompt(self, request: Request) -> Prompt:
        """Write the prompt. Where the lot decides, each sample has a seed of its own."""
        settings = dict(request.settings)
        seed = settings.get("seed")
        if isinstance(seed, int) and draws_tokens(settings):
            settings["seed"] = seed + request.sample
        return Prompt(self.wording.text(request), request.tools, settings)

    def reply(self, request: Request, generated: Generated) -> Reply:
        """Make a reply of what the model wrote. Where it was told of no tools, no form of calls is looked for."""
        notes: Mapping[str, Json] = {"notes": list(self.wording.notes)} if self.wording.notes else {}
        return Reply(
            text=generated.text,
            finish=generated.finish,
            decoder=self.wording.decoder if request.tools else None,
            usage=Usage(generated.input_tokens, generated.output_tokens),
            seconds=generated.seconds,
            engine={**self.engine.about, **generated.engine, **notes},
        )


def draws_tokens(settings: Mapping[str, Json]) -> bool:
    """Whether tokens are drawn, instead of the most likely one taken each time."""
    temperature = settings.get("temperature")
    return isinstance(temperature, int | float) and temperature > 0


def load_answerer(maker: str, options: Mapping[str, Json]) -> Answerer:
    """Call `maker`, which is written as module:function."""
    module, _, function = maker.partition(":")
    make: Callable[[Mapping[str, Json]], Answerer] = getattr(import_module(module), function)
    return make(options)
