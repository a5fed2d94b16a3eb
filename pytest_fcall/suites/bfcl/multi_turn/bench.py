"""Where conversations are checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pytest_fcall.conversation.execution.limits import Limits
from pytest_fcall.core.environment import Executed
from pytest_fcall.core.values import Json
from pytest_fcall.suites.bfcl.lasting import LastingProcess

CHECKER: Final = "pytest_fcall.suites.bfcl.multi_turn.checking:make"


@dataclass(frozen=True, slots=True)
class Question:
    """A conversation, and what would have been right: calls as source, by turns, those of the model by replies, too."""

    classes: Sequence[str]
    config: Mapping[str, Json]
    long_context: bool
    turns: Sequence[Sequence[Sequence[str]]]
    truth: Sequence[Sequence[str]]

    def as_arguments(self) -> dict[str, Json]:
        """As the checker takes it."""
        return {
            "classes": self.classes,
            "config": self.config,
            "long_context": self.long_context,
            "turns": self.turns,
            "truth": self.truth,
        }


class Bench:
    """Has questions answered by the checker, in a process of its own. Every question gets instances of its own."""

    def __init__(self) -> None:
        self._process = LastingProcess(CHECKER, Limits(seconds=30.0, result=16 << 20))

    def ask(self, question: Question) -> Executed:
        """What the checker says, or an error that it, or the process, came to. Raises WorldFailed without classes."""
        return self._process.call("check", question.as_arguments())
