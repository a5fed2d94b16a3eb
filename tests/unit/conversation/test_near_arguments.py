from __future__ import annotations

import pytest

from pytest_fcall.conversation.named_scores import near_parameter_overlap
from pytest_fcall.conversation.score_formulas import Overlap
from pytest_fcall.core import Call, Json


def near(made: dict[str, Json], right: dict[str, Json], function: str = "f") -> Overlap:
    return near_parameter_overlap(([Call("f", right)], [Call(function, made)]))


@pytest.mark.parametrize(
    ("made", "right"),
    [
        ({"city": "NYC"}, {"city": "NYC, New York"}),
        ({"city": "the Hague"}, {"city": "hague"}),
        ({"day": "3 September"}, {"day": ["september"]}),
        ({"to_city": "Oslo"}, {"city": "Oslo"}),
        ({"toCity": "Oslo"}, {"destination_city": "oslo"}),
    ],
)
def test_other_notations_of_a_value_or_a_name_are_near(made: dict[str, Json], right: dict[str, Json]) -> None:
    assert near(made, right) == Overlap(1, 1, 1)


@pytest.mark.parametrize(
    ("made", "right"),
    [
        ({"city": "Oslo"}, {"city": "Bergen"}),
        ({"city": ""}, {"city": "Oslo"}),
        ({"city": "Oslo"}, {"from": "Oslo"}),
        ({"n": 12}, {"n": 123}),
    ],
)
def test_other_values_and_other_names_are_not(made: dict[str, Json], right: dict[str, Json]) -> None:
    assert near(made, right) == Overlap(0, 1, 1)


def test_an_argument_of_another_function_is_not_near() -> None:
    assert near({"city": "Oslo"}, {"city": "Oslo"}, "g") == Overlap(0, 1, 1)


def test_what_is_equal_is_counted_first_and_nothing_twice() -> None:
    assert near({"city": "Oslo", "to_city": "Oslo"}, {"to_city": "Oslo"}) == Overlap(1, 2, 1)
