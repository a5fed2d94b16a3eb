"""What several answers to a case say about asking it some other number of times."""

from __future__ import annotations

from math import comb


def pass_at(right: int, asked: int, times: int) -> float:
    """pass@k: the chance that at least one of so many answers is right, without bias."""
    _check(asked, times)
    return 1 - comb(asked - right, times) / comb(asked, times)


def pass_all(right: int, asked: int, times: int) -> float:
    """pass^k: the chance that all of so many answers are right, without bias."""
    _check(asked, times)
    return comb(right, times) / comb(asked, times)


def _check(asked: int, times: int) -> None:
    if not 1 <= times <= asked:
        raise ValueError(f"of {asked} answers 1 to {asked} can be taken, not {times}")
