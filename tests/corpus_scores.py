"""Scores over many cases, computed at once: what sums of the cases' numbers must come to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Literal, TypeAlias

from pytest_fcall.conversation.score_formulas import (
    ComparedCalls,
    GradedParts,
    Overlap,
    Score,
    api_overlap,
    order_overlap,
    parameter_overlap,
    score_of,
)

Average: TypeAlias = Literal["corpus", "sample"]


def accuracy(graded: Iterable[GradedParts]) -> float:
    """What is right of all that is to be, over many answers; 0 where there is nothing."""
    counted = [(each.right, each.total) for each in graded]
    total = sum(total for _, total in counted)
    return sum(right for right, _ in counted) / total if total else 0.0


def api_f1(samples: Sequence[ComparedCalls], average: Average = "corpus") -> Score:
    """Compare which functions are called.

    Over the corpus all samples are counted together; over samples, each has its score and the mean is taken.
    """
    return _averaged([api_overlap(sample) for sample in samples], average)


def parameter_f1(samples: Sequence[ComparedCalls], average: Average = "corpus") -> Score:
    """Compare the arguments. Counted as in `api_f1`."""
    return _averaged([parameter_overlap(sample) for sample in samples], average)


def lcs_f1(samples: Sequence[ComparedCalls]) -> Score:
    """Compare the order of functions. Precision and recall are means over samples, and F1 is made of the means."""
    scores = [order_overlap(sample).score for sample in samples]
    if not scores:
        return score_of(0.0, 0.0)
    return score_of(fmean(score.precision for score in scores), fmean(score.recall for score in scores))


def _averaged(overlaps: Sequence[Overlap], average: Average) -> Score:
    if not overlaps:
        return score_of(0.0, 0.0)
    if average == "corpus":
        counts = ((each.common, each.made, each.right) for each in overlaps)
        return Overlap(*map(sum, zip(*counts, strict=True))).score
    scores = [each.score for each in overlaps]
    return Score(
        fmean(score.precision for score in scores),
        fmean(score.recall for score in scores),
        fmean(score.f1 for score in scores),
    )
