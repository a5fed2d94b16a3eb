"""Grades of answers (correct, wrong, hallucination, unparsable), and what each adds to the scores."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Grade: TypeAlias = Literal["correct", "wrong", "hallucination", "unparsable"]
"""An API of the right domain, one of another domain, one that the data base has not, or nothing that is a call."""

ORIGINAL_SCORES: Final = ("domain_accuracy", "hallucination", "wrong")
"""The scores of the original rule."""
STRICT_SCORES: Final = ("domain_accuracy", "exact_accuracy", "hallucination", "wrong", "unparsable")


@dataclass(frozen=True, slots=True)
class GradedAnswer:
    """What an answer is worth."""

    word: Grade
    exact: bool = False
    """Whether the API is the very one that is right, and not just one of its domain."""
    call: str = ""
    """The call that was judged, as far as there was one."""

    def adds_to(self, scores: Iterable[str]) -> dict[str, tuple[float, ...]]:
        """What the answer adds to these scores: no answer falls out of the count."""
        true = {self.word, "domain_accuracy" if self.word == "correct" else "", "exact_accuracy" if self.exact else ""}
        return {name: (float(name in true), 1.0) for name in scores}
