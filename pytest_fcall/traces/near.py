"""Cases that ask nearly the same and expect the same."""

from __future__ import annotations

import re
from collections import deque
from typing import Final

from pytest_fcall.core import Json, digest
from pytest_fcall.traces.questions import Question

_COMPARED: Final = 50
"""With so many of those that expect the same calls is a case compared, the newest first."""
_ALIKE: Final = 0.8
"""Of all words of two questions that many must be in both."""
_WORD: Final = re.compile(r"\w+")


class Near:
    """Finds, for each case, an earlier one that it is nearly the same as."""

    def __init__(self) -> None:
        self._seen: dict[str, deque[tuple[frozenset[str], str]]] = {}

    def twin(self, question: Question, name: str) -> str | None:
        """The name of such a case; where there is none, the case is remembered by its own."""
        words = frozenset(_WORD.findall(f"{question.system} {question.asked}".lower()))
        seen = self._seen.setdefault(_expected(question), deque(maxlen=_COMPARED))
        for others, other in reversed(seen):
            both = len(words & others)
            if both >= _ALIKE * (len(words) + len(others) - both):
                return other
        seen.append((words, name))
        return None


def _expected(question: Question) -> str:
    steps = [step for turn in question.turns for step in turn.steps]
    calls: Json = [[[made.call.name, made.call.arguments] for made in step] for step in steps]
    return digest([len(question.turns), calls, question.before[:-1]])
