"""Grades of answers (correct, wrong, hallucination and others), and their parts in the scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from pytest_fcall.core.values import Json

Grade: TypeAlias = Literal["correct", "wrong", "outdated", "hallucination", "unparsable"]
"""An API of the right domain, an API of another domain, the right API by its old document, an unknown API, or no
readable call."""

ORIGINAL_SCORES: Final = ("domain_accuracy", "hallucination", "wrong")
"""The scores of the original rule."""
OTHER_PARSER: Final = "other_parser"
"""The share of answers that the original rule judged without its parser: a score beside those that depend on it."""
STRICT_SCORES: Final = ("domain_accuracy", "exact_accuracy", "hallucination", "wrong", "unparsable")
CHANGE_SCORES: Final = ("exact_accuracy", "outdated", "hallucination", "wrong", "unparsable")
"""The scores of answers by a changed document."""
CONSTRAINT_SCORES: Final = ("constraints_met", "constraints_unmet", "constraints_unjudged")
"""The scores of answers to questions with constraints, beside those of the strict rule."""


@dataclass(frozen=True, slots=True)
class GradedAnswer:
    """The grade of an answer."""

    grade: Grade
    exact: bool = False
    """Whether the API is the expected one, and not just one of its domain."""
    call: str = ""
    """The judged call; empty without one."""
    documents: tuple[Mapping[str, Json], ...] = field(default=(), compare=False, repr=False)
    """The documents of the API that is called, of which a data base may have several."""

    def score_parts(self, scores: Iterable[str]) -> dict[str, tuple[float, ...]]:
        """Return the numerator and denominator that the answer adds to each score; every answer counts."""
        accuracy = "domain_accuracy" if self.grade == "correct" else ""
        true = {self.grade, accuracy, "exact_accuracy" if self.exact else ""}
        return {name: (float(name in true), 1.0) for name in scores}
