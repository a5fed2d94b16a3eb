from __future__ import annotations

from typing import Any

import pytest

from pytest_fcall.core import Json
from pytest_fcall.core.message_text import describe_changes


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        ({"a": 1}, {"a": 1}, []),
        (1, True, ["x: 1 → true (type int → bool)"]),
        ({"a": [1]}, {"a": [1, 2]}, ["x.a[1]: 2 is new"]),
        ({"a b": 1}, {}, ["x['a b']: 1 was removed"]),
        ("a" * 30_000, "b", ["x: differ, and are too long to be compared"]),
    ],
)
def test_each_difference_is_a_line_with_its_path(old: Json, new: Json, lines: list[str]) -> None:
    assert describe_changes(old, new, ("x",)) == lines


def test_values_that_nest_too_deeply_are_no_crash() -> None:
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    assert describe_changes(deep, 1, ("x",)) == ["x: differ, and are too long to be compared"]
