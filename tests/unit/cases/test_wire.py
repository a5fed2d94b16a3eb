from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fcall.core import Operator, WireExpectation
from tests.unit.cases.weather_case import read_with


def test_a_case_may_expect_nothing_else(tmp_path: Path) -> None:
    case, faults = read_with(tmp_path, "wire: {count: {$le: 3}, tools: [get_weather], tokens: 5, cost: 1, models: [m]}")
    assert faults == []
    assert case is not None
    assert case.wire == WireExpectation(count=Operator("le", 3), tools=["get_weather"], tokens=5, cost=1, models=["m"])


def test_calls_may_be_of_tools_that_the_case_does_not_offer(tmp_path: Path) -> None:
    case, faults = read_with(tmp_path, "wire: {calls: [get_weather: {city: Oslo}]}")
    assert faults == []
    assert case is not None
    assert case.wire is not None
    assert case.wire.calls is not None
    assert case.wire.calls.stages[0][0].tool == "get_weather"


@pytest.mark.parametrize(
    ("wire", "fault"),
    [
        ("wire: 7", "wrong-type `wire`"),
        ("wire: {}", "missing-key `wire` is empty"),
        ("wire: {calss: no_call}", "unknown-key"),
        ("wire: {calls: [get_wether: {}]}", "unknown-tool"),
        ("wire: {calls: [get_weather: {town: Oslo}]}", "unknown-argument"),
        ("wire: {count: {$lee: 1}}", "unknown-operator"),
        ("wire: {count: -1}", "wrong-type `wire.count`"),
        ("wire: {count: 1.5}", "wrong-type `wire.count`"),
        ("wire: {tokens: many}", "wrong-type `wire.tokens`"),
        ("wire: {cost: yes}", "wrong-type `wire.cost`"),
        ("wire: {tools: get_weather}", "wrong-type `wire.tools`"),
        ("wire: {models: [1]}", "wrong-type `wire.models`"),
        ("wire: {models: {m: 1}}", "wrong-type `wire.models`"),
        ("wire: {calls: [{get_weather: {city: Oslo}, returns: 7}]}", "contradiction the app carries out its calls"),
        ("wire: {calls: [{get_weather: {city: Oslo}, result: 7}]}", "contradiction the app carries out its calls"),
        ("wire: {calls: {calls: [get_time: {}], order: strict}}\n    profile: bfcl", "beyond-bfcl `order: strict`"),
        ("wire: {calls: [get_time: {}]}\n    language: java", "contradiction `language: java`"),
    ],
)
def test_a_slip_is_a_fault(tmp_path: Path, wire: str, fault: str) -> None:
    _, faults = read_with(tmp_path, wire)
    assert any(each.startswith(fault) for each in faults), faults
    assert len(faults) == 1


@pytest.mark.parametrize(
    "wire", ["count: 0", "cost: 0.5", "tools: []", "tools: {$contains: a}", "models: [{$regex: gpt}]"]
)
def test_what_can_hold_is_none(tmp_path: Path, wire: str) -> None:
    assert read_with(tmp_path, f"wire: {{{wire}}}")[1] == []
