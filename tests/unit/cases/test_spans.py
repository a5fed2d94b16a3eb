from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.cases.weather_case import read_with


def test_a_case_may_expect_nothing_else_and_any_tool_of_the_file(tmp_path: Path) -> None:
    case, faults = read_with(tmp_path, "spans: {calls: [get_weather: {city: Oslo}], models: [m]}")
    assert faults == []
    assert case is not None
    assert case.spans is not None
    assert case.spans.calls is not None
    assert (case.spans.calls.stages[0][0].tool, case.spans.models) == ("get_weather", ["m"])


@pytest.mark.parametrize(
    ("spans", "fault"),
    [
        ("spans: 7", "wrong-type `spans`"),
        ("spans: {}", "missing-key `spans` is empty"),
        ("spans: {count: 1}", "unknown-key"),
        ("spans: {calls: [get_wether: {}]}", "unknown-tool"),
        ("spans: {calls: [get_weather: {town: Oslo}]}", "unknown-argument"),
        ("spans: {models: m}", "wrong-type `spans.models`"),
        ("spans: {calls: [{get_weather: {city: Oslo}, returns: 7}]}", "contradiction the app carries out its calls"),
        ("spans: {calls: {calls: [get_time: {}], order: strict}}\n    profile: bfcl", "beyond-bfcl `order: strict`"),
    ],
)
def test_a_slip_is_a_fault(tmp_path: Path, spans: str, fault: str) -> None:
    _, faults = read_with(tmp_path, spans)
    assert any(each.startswith(fault) for each in faults), faults
    assert len(faults) == 1
