"""What several answers to a case say about asking it some other number of times."""

from __future__ import annotations

from math import comb

from pytest_fcall.tracking.pairs import Rate


def pass_at(rate: Rate, times: int) -> float:
    """pass@k: the chance that at least one of so many answers is right, without bias."""
    _check(rate, times)
    return 1 - comb(rate.asked - rate.right, times) / comb(rate.asked, times)


def pass_all(rate: Rate, times: int) -> float:
    """pass^k: the chance that all of so many answers are right, without bias."""
    _check(rate, times)
    return comb(rate.right, times) / comb(rate.asked, times)


def _check(rate: Rate, times: int) -> None:
    if not 1 <= times <= rate.asked:
        raise ValueError(f"of {rate.asked} answers 1 to {rate.asked} can be taken, not {times}")
