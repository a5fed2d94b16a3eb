from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fcall.cases.case_file import read_case_file
from pytest_fcall.core import Case
from pytest_fcall.core.app_spans import SpansExpectation

TEXT = """
tools:
  - {{name: get_weather, parameters: {{type: object, properties: {{city: {{type: string}}}}}}}}
  - {{name: get_time}}
cases:
  - id: a
    prompt: Weather?
    tools: {{only: [get_time]}}
    {spans}
"""


def read(tmp_path: Path, spans: str) -> tuple[SpansExpectation | None, list[str]]:
    path = tmp_path / "a.fc.yaml"
    path.write_text(TEXT.format(spans=spans), encoding="utf-8")
    found = read_case_file(path, root=tmp_path)
    (entry,) = found.entries
    return entry.spans if isinstance(entry, Case) else None, [f"{each.code} {each.message}" for each in found.faults]


def test_a_case_may_expect_nothing_else_and_any_tool_of_the_file(tmp_path: Path) -> None:
    spans, faults = read(tmp_path, "spans: {calls: [get_weather: {city: Oslo}], models: [m]}")
    assert faults == []
    assert spans is not None
    assert spans.calls is not None
    assert (spans.calls.stages[0][0].tool, spans.models) == ("get_weather", ["m"])


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
    _, faults = read(tmp_path, spans)
    assert any(each.startswith(fault) for each in faults), faults
    assert len(faults) == 1
