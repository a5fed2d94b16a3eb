"""A loaded model that answers requests: prompts, what it generates, throughput, and the protocols of its engine."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, field
from importlib import import_module
from typing import Literal, Protocol

from pytest_fcall.backends.local.memory import peak_bytes
from pytest_fcall.backends.local.settings import draws_tokens
from pytest_fcall.core.json_data import as_mapping, optional_field, required_field
from pytest_fcall.core.reply import Reply, Usage
from pytest_fcall.core.request import Request, Tool
from pytest_fcall.core.values import Json


@dataclass(frozen=True, slots=True)
class ModelPrompt:
    """One request as the model reads it."""

    text: str
    tools: tuple[Tool, ...] = ()
    """For a grammar; the text describes them already."""
    settings: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GeneratedText:
    """The text that the model wrote, with the special tokens that a decoder needs."""

    text: str
    input_tokens: int
    output_tokens: int
    finish: Literal["stop", "length"] = "stop"
    seconds: float = 0.0
    engine: Mapping[str, Json] = field(default_factory=dict)
    """Facts about this answer alone, in addition to those of the engine."""


@dataclass(frozen=True, slots=True)
class WorkFigures:
    """The work of one process since its start."""

    loading_seconds: float
    batch_size: int
    """The maximum number of prompts in a batch."""
    busy_seconds: float = 0.0
    occupied: float = 0.0
    """The seconds for which the places of batches were occupied, summed up."""
    prompts: int = 0
    tokens: int = 0
    """Output tokens."""
    peak_bytes: int = 0
    note: str = ""

    def to_data(self) -> dict[str, Json]:
        """The figures as JSON."""
        return asdict(self)

    def text(self) -> str:
        """One line for people."""
        parts = [
            f"{self.tokens / max(self.busy_seconds, 0.001):,.0f} tokens a second",
            f"batches {100 * self.occupied / max(self.busy_seconds * self.batch_size, 0.001):.0f} % full",
            f"{self.peak_bytes / 1e9:.1f} GB at most",
            f"loaded in {self.loading_seconds:.1f} s",
        ]
        return ", ".join([*parts, *filter(None, [self.note])])


def figures_from_data(data: Json) -> WorkFigures:
    """Read what `to_data` wrote. Raises DamagedData."""
    fields = as_mapping(data, "the figures")
    return WorkFigures(
        loading_seconds=required_field(fields, "loading_seconds", float),
        batch_size=required_field(fields, "batch_size", int),
        busy_seconds=required_field(fields, "busy_seconds", float),
        occupied=required_field(fields, "occupied", float),
        prompts=required_field(fields, "prompts", int),
        tokens=required_field(fields, "tokens", int),
        peak_bytes=required_field(fields, "peak_bytes", int),
        note=optional_field(fields, "note", str) or "",
    )


class WorkTally:
    """Counts the work of a feeder."""

    def __init__(self) -> None:
        self._busy_seconds = 0.0
        self._occupied = 0.0
        self._prompts = 0
        self._tokens = 0

    def add(self, generated: Sequence[GeneratedText], busy_seconds: float, occupied: float) -> None:
        """Count generated texts, the additional busy time, and the time for which their places were occupied."""
        self._busy_seconds += busy_seconds
        self._occupied += occupied
        self._prompts += len(generated)
        self._tokens += sum(each.output_tokens for each in generated)

    def figures(self, loading_seconds: float, batch_size: int, note: str) -> WorkFigures:
        """The counts so far."""
        return WorkFigures(
            loading_seconds,
            batch_size,
            self._busy_seconds,
            self._occupied,
            self._prompts,
            self._tokens,
            peak_bytes(sys.modules.get("torch")),
            note,
        )


class Feeder(Protocol):
    """Takes prompts one by one and has the engine work on many at a time. Lives in the event loop."""

    @property
    def tally(self) -> WorkTally:
        """Counts of the work so far."""
        ...

    async def generate(self, prompt: ModelPrompt) -> GeneratedText:
        """Continue a prompt. Raises CaseRefused if that is impossible, ModelUnavailable if all prompts fail."""
        ...


class ModelEngine(Protocol):
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


class PromptWriter(Protocol):
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

    engine: ModelEngine
    prompts: PromptWriter

    def prompt(self, request: Request) -> ModelPrompt:
        """Write the prompt. Where tokens are drawn at random, each sample has a seed of its own."""
        settings = dict(request.settings)
        seed = settings.get("seed")
        if isinstance(seed, int) and draws_tokens(settings):
            settings["seed"] = seed + request.sample
        return ModelPrompt(self.prompts.prompt_text(request), request.tools, settings)

    def reply(self, request: Request, generated: GeneratedText) -> Reply:
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
