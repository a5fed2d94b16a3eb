from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import cast

import pytest

from pytest_fcall.plugin.collection_findings import CollectionFindings
from pytest_fcall.session.judge.baselines import Baselines
from pytest_fcall.session.judge.doubt import FALSE_ALARMS, Doubt
from pytest_fcall.session.settings import Confirm, Settings


def doubt(cases: dict[str, int], over_all_shards: dict[str, int] | None = None) -> Doubt:
    settings = SimpleNamespace(confirm=Confirm(), worker=None)
    made = Doubt(cast("Settings", settings), cast("Baselines", None))
    made.expect(cases, over_all_shards or cases, ())
    return made


def level(of: Doubt, model: str) -> float:
    return of.test(model, 13, is_asked=True).level


def test_the_level_of_a_model_depends_on_its_own_cases_alone() -> None:
    both = doubt({"a": 200, "b": 10})
    assert level(both, "a") == pytest.approx(FALSE_ALARMS / 200)
    assert level(both, "b") == pytest.approx(FALSE_ALARMS / 10)
    assert level(doubt({"b": 10}), "b") == level(both, "b")


def test_the_level_is_that_of_the_whole_run_in_each_shard() -> None:
    assert level(doubt({"a": 20}, {"a": 100}), "a") == level(doubt({"a": 100}), "a")


@pytest.mark.parametrize(
    ("selected", "whole"), [({"a": 20, "b": 3}, {"a": 100, "b": 3}), ({"a": 2}, {"a": 10}), ({}, {})]
)
def test_other_shards_are_taken_to_select_as_large_a_part(selected: dict[str, int], whole: dict[str, int]) -> None:
    found = CollectionFindings(built=Counter(a=20, b=3), built_elsewhere=Counter(a=80))
    assert found.over_all_shards(selected) == whole
