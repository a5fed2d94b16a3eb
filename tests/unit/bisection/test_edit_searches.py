"""The error rate of whole searches, on models that answer by chance."""

from __future__ import annotations

import pytest

from benchmarks.edit_searches import WORLDS, outcome_of
from pytest_fcall.bisection.search import ERROR


@pytest.mark.parametrize("world", WORLDS)
def test_few_searches_name_a_wrong_set(world: str) -> None:
    found = outcome_of(world, "bisect", 60)
    assert found.wrong <= 60 * ERROR


def test_with_the_same_error_fewer_requests_are_needed_than_for_each_edit_alone() -> None:
    world = "40 edits, 1 guilty, 95 % → 20 %"
    ours, alone = outcome_of(world, "bisect", 40), outcome_of(world, "alone 5", 40)
    assert ours.asked < alone.asked
    assert ours.found > alone.found
