from __future__ import annotations

import pytest
from statsmodels.stats.multitest import multipletests  # type: ignore[import-untyped]  # it has no types

from pytest_fcall.tracking.significance import adjust_by_holm


@pytest.mark.parametrize(
    "chances",
    [
        {"simple": 0.04, "parallel": 0.01, "irrelevance": 0.03, "multiple": 0.005},
        {"a": 0.5, "b": 0.5, "c": 0.0},
        {"a": 1.0, "b": 0.9},
    ],
)
def test_it_adjusts_as_statsmodels_does(chances: dict[str, float]) -> None:
    _, adjusted, _, _ = multipletests(list(chances.values()), method="holm")
    assert list(adjust_by_holm(chances)) == list(chances)
    assert list(adjust_by_holm(chances).values()) == pytest.approx(list(adjusted))


def test_one_test_stays_as_it_is_and_none_is_none() -> None:
    assert adjust_by_holm({"simple": 0.03}) == {"simple": 0.03}
    assert adjust_by_holm({}) == {}
