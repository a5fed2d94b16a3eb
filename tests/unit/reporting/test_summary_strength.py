from __future__ import annotations

import pytest

from pytest_fcall.reporting.result_json import result_from_json, result_to_json
from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.summary import strength_lines


def result(case: str, strength: tuple[float, float, float] | None) -> Result:
    return Result(f"a.fc.yaml::{case}", case, "openai:m", "passed", file="a.fc.yaml", strength=strength)


def test_the_weakest_cases_are_named_the_weakest_first_as_far_as_there_is_room() -> None:
    results = [
        result("whole", (1.0, 0.0, 0.0)),
        result("weak", (0.5, 0.5, 0.0)),
        result("fair", (0.9, 0.1, 0.0)),
        result("open", (0.2, 0.0, 0.8)),
        result("unknown", None),
    ]
    assert strength_lines(results, 80) == ["weakest cases: weak 50 %, fair 90 %; `fcall strength` says why"]
    assert strength_lines(results, 60) == ["weakest cases: weak 50 %; `fcall strength` says why"]
    assert strength_lines(results[:1], 80) == strength_lines(results[-1:], 80) == []


def test_strength_survives_the_way_through_json() -> None:
    for strength in ((0.25, 0.5, 0.25), None):
        before = result("a", strength)
        assert result_from_json(result_to_json(before)) == before


@pytest.mark.parametrize("wrong", [[1.0], [1.0, 0.0, "x"], [2.0, 0.0, 0.0], [-0.1, 0.5, 0.5], [None, 0, 0], 1.0, "x"])
def test_anything_else_is_no_strength(wrong: object) -> None:
    data = result_to_json(result("a", None)) | {"strength": wrong}
    with pytest.raises(ValueError, match="strength"):
        result_from_json(data)  # type: ignore[arg-type]  # that is what is tested
