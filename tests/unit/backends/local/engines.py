"""A model that needs no weights: it spells its prompt back, and does as it is told."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path

from pytest_fcall.backends.local.answerer import Answerer, GeneratedText, ModelPrompt
from pytest_fcall.backends.local.static_engine import Batcher
from pytest_fcall.core import CaseRefused, Json, ModelUnavailable, Request

HANG = "hang"
TELL = "tell and hang: "
HELD = "held until "
DIE = "die"
BREAK = "break"
REFUSED = "refused"


class Spelling:
    """Keeps its batches; tells its process."""

    def __init__(self, about: Mapping[str, Json] | None = None) -> None:
        self.about: Mapping[str, Json] = {"pid": os.getpid(), **(about or {})}
        self.batches: list[list[str]] = []
        self.settings: list[Mapping[str, Json]] = []

    def feeder(self, size: int, thread: Executor) -> Batcher:
        return Batcher(self, size, thread)

    def generate(self, prompts: Sequence[ModelPrompt], settings: Mapping[str, Json]) -> Sequence[GeneratedText]:
        texts = [prompt.text for prompt in prompts]
        self.batches.append(texts)
        self.settings.append(settings)
        for text in texts:
            _obey(text)
        return [GeneratedText(f"{text} of {'+'.join(texts)}", len(text), 1, seconds=0.5) for text in texts]


def _obey(text: str) -> None:
    if text == HANG:
        threading.Event().wait()
    elif text.startswith(HELD):
        Path(text.removeprefix(HELD)).read_bytes()
    elif text == DIE:
        os.kill(os.getpid(), signal.SIGKILL)
    elif text == BREAK:
        raise ValueError("no such\ntoken")


class Parrot(Spelling):
    """Says its prompt, or tells its process and hangs."""

    def generate(self, prompts: Sequence[ModelPrompt], settings: Mapping[str, Json]) -> Sequence[GeneratedText]:
        for prompt in prompts:
            if prompt.text.startswith(TELL):
                Path(prompt.text.removeprefix(TELL)).write_text(str(os.getpid()))
                threading.Event().wait()
        return [GeneratedText(prompt.text, 1, 1) for prompt in prompts]


class Verbatim:
    """The last message is the prompt."""

    decoder = "json"
    notes: Sequence[str] = ("said as it is",)

    def prompt_text(self, request: Request) -> str:
        text = str(request.messages[-1]["content"])
        if text == REFUSED:
            raise CaseRefused("this model reads no such thing")
        return text


def spelling(options: Mapping[str, Json]) -> Answerer:
    return Answerer(Spelling(options), Verbatim())


def parrot(options: Mapping[str, Json]) -> Answerer:
    with Path(str(options["loaded"])).open("a", encoding="ascii") as loaded:
        loaded.write(f"{os.getpid()}\n")
    return Answerer(Parrot(), Verbatim())


def absent(options: Mapping[str, Json]) -> Answerer:
    raise ModelUnavailable(f"local:absent: no weights in {options['weights']}")


def unreadable(options: Mapping[str, Json]) -> Answerer:
    raise KeyError("model.layers")


def too_large(options: Mapping[str, Json]) -> Answerer:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


class Unprintable(Spelling):
    """Tells what JSON cannot say."""

    def generate(self, prompts: Sequence[ModelPrompt], settings: Mapping[str, Json]) -> Sequence[GeneratedText]:
        return [GeneratedText(frozenset(prompts), 1, 1) for _ in prompts]  # type: ignore[arg-type]  # what must not be


def unprintable(options: Mapping[str, Json]) -> Answerer:
    return Answerer(Unprintable(options), Verbatim())
