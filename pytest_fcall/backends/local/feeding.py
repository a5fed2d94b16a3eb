"""What the answering process needs of a model in memory."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Executor
from typing import Protocol

from pytest_fcall.backends.local.figures import Tally
from pytest_fcall.backends.local.generation import Generated, Prompt
from pytest_fcall.core import Json


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
