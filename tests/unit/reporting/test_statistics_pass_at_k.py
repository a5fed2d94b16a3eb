from __future__ import annotations

from itertools import combinations

import pytest

from pytest_fcall.reporting.statistics import pass_all_k, pass_at_k


@pytest.mark.parametrize("right", range(6))
@pytest.mark.parametrize("times", range(1, 6))
def test_it_is_the_share_among_all_choices_of_answers(right: int, times: int) -> None:
    answers = [True] * right + [False] * (5 - right)
    chosen = list(combinations(answers, times))
    assert pass_at_k(right, 5, times) == pytest.approx(sum(map(any, chosen)) / len(chosen))
    assert pass_all_k(right, 5, times) == pytest.approx(sum(map(all, chosen)) / len(chosen))


@pytest.mark.parametrize("times", [0, 6])
def test_more_answers_than_there_are_cannot_be_taken(times: int) -> None:
    with pytest.raises(ValueError, match=f"cannot take {times} of 5 answers"):
        pass_at_k(3, 5, times)
    with pytest.raises(ValueError, match="not"):
        pass_all_k(3, 5, times)
