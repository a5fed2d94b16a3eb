"""How far apart the accuracies are with which the same questions are answered in different formats."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import stdev, variance

from pytest_fcall.core.values import Json
from pytest_fcall.suites.bfcl.prompt_format import format_of


def max_delta(shares: Sequence[float]) -> float:
    """The best less the worst."""
    return max(shares) - min(shares) if len(shares) > 1 else 0.0


def deviation(shares: Sequence[float]) -> float:
    """Their standard deviation, as that of a sample."""
    return stdev(shares) if len(shares) > 1 else 0.0


def header_of(judged: Iterable[tuple[str, bool]]) -> dict[str, Json]:
    """What the head of a file of scores says of cases, given by id and whether they are right."""
    by_format: dict[str, list[bool]] = {}
    for id_, valid in judged:
        by_format.setdefault(format_of(id_).config, []).append(valid)
    shares = [sum(own) / len(own) for own in by_format.values()]
    return {
        "accuracy_max_delta": round(max_delta(shares) * 100, 2),
        "accuracy_variance": round(variance(shares) * 100**2, 2) if len(shares) > 1 else 0.0,
        "accuracy_std": round(deviation(shares) * 100, 2),
        **{
            config: {"accuracy": sum(own) / len(own), "correct_count": sum(own), "total_count": len(own)}
            for config, own in by_format.items()
        },
    }
