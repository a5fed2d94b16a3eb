from __future__ import annotations

import pytest

from pytest_fcall.suites.bfcl.figures import leaderboard_figures

WHOLE = {
    **dict.fromkeys(("simple_python", "simple_java", "simple_javascript"), (1, 2)),
    "multiple": (9, 10),
    "parallel": (7, 10),
    "parallel_multiple": (5, 10),
    "irrelevance": (3, 4),
    "live_simple": (1, 1),
    "live_multiple": (1, 7),
    "live_parallel": (1, 1),
    "live_parallel_multiple": (1, 1),
    "live_irrelevance": (1, 4),
    "live_relevance": (0, 9),
}


def shares(tallies: dict[str, tuple[int, int]]) -> dict[str, float | None]:
    return {figure.name.partition(" (")[0]: figure.share for figure in leaderboard_figures(tallies)}


def test_categories_count_alike_but_live_ones_by_their_number() -> None:
    found = shares(WHOLE)
    assert found["non_live_ast"] == pytest.approx((0.5 + 0.9 + 0.7 + 0.5) / 4)
    assert found["live"] == pytest.approx(0.4)
    assert found["irrelevance"] == pytest.approx(0.5)


def test_overall_counts_what_was_not_asked_as_wrong() -> None:
    assert shares(WHOLE)["overall"] == pytest.approx(0.1 * (0.65 + 0.4 + 0.5))


def test_a_score_that_lacks_a_category_is_not_told() -> None:
    found = shares({"simple_python": (1, 1), "live_simple": (258, 258)})
    assert found["non_live_ast"] is None
    assert found["live"] is None
    assert found["overall"] == pytest.approx(0.1 * (1 / 3 / 4) + 0.1 * 258 / 1351)


def test_categories_of_others_have_no_score() -> None:
    assert leaderboard_figures({"weather": (1, 2)}) == []
