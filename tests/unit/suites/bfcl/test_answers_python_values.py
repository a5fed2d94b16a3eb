from __future__ import annotations

import pytest

from pytest_fcall.core import Json
from pytest_fcall.suites.bfcl.answers import restore_python_values


@pytest.mark.parametrize(
    ("marked", "value"),
    [
        ({"__tuple__": [1, {"__tuple__": []}]}, (1, ())),
        ({"__dict__": [[None, 1], [{"__tuple__": [1]}, 2]]}, {None: 1, (1,): 2}),
        ({"__bytes__": "\xff"}, b"\xff"),
        ({"__complex__": [1, 2.5]}, 1 + 2.5j),
        ({"a": [{"__tuple__": [1]}]}, {"a": [(1,)]}),
        ({"__tuple__": 5}, {"__tuple__": 5}),
        ({"__tuple__": [1], "b": 2}, {"__tuple__": [1], "b": 2}),
        ({"__dict__": [[[], 1]]}, {"__dict__": [[[], 1]]}),
        ({"__dict__": [1]}, {"__dict__": [1]}),
        ({"__bytes__": "€"}, {"__bytes__": "€"}),
        ({"__complex__": ["1", 2]}, {"__complex__": ["1", 2]}),
        ({"__set__": [1]}, {"__set__": [1]}),
    ],
)
def test_marks_of_other_python_values_are_undone(marked: Json, value: object) -> None:
    assert restore_python_values(marked) == value
