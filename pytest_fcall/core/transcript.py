"""A conversation as it went."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pytest_fcall.core.call import Call, Calls
from pytest_fcall.core.environment import Executed
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.request import Request


@dataclass(frozen=True, slots=True)
class Step:
    """One request to the model, its reply, and what came of the calls in it, call by call."""

    request: Request
    reply: Reply
    calls: Calls
    results: tuple[Executed, ...] = ()
    """As many as there are calls, or fewer where the conversation was ended before they were answered."""


@dataclass(frozen=True, slots=True)
class Held:
    """One turn as it went."""

    steps: tuple[Step, ...]
    end: Literal["answered", "step_limit", "stopped"]
    """`stopped` where the test ended it: a call that may not be answered, or a reply that cannot be read."""
    state: Executed | None = None
    """The state of the environment when the turn was over, as far as the case expects anything of it."""

    @property
    def calls(self) -> tuple[Call, ...]:
        """All calls of the turn, in order."""
        return tuple(call for step in self.steps for call in step.calls.calls)

    @property
    def results(self) -> tuple[Executed, ...]:
        """What came of them, as far as they were answered."""
        return tuple(result for step in self.steps for result in step.results)


@dataclass(frozen=True, slots=True)
class Transcript:
    """All turns that were begun."""

    turns: tuple[Held, ...]
    earlier: tuple[Transcript, ...] = ()
    """The conversations that were held before it, as the case says."""

    @property
    def steps(self) -> tuple[Step, ...]:
        """All steps, in order."""
        return tuple(step for turn in self.turns for step in turn.steps)
