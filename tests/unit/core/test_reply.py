from __future__ import annotations

import pytest

from pytest_fcall.core import Call, Json, Usage
from pytest_fcall.core.reply import call_source, total_usage


def test_tokens_are_added_up_as_far_as_they_are_known() -> None:
    assert total_usage([Usage(1, 2), None, Usage(10, None, 3)]) == Usage(11, 2, 3)


def test_nothing_is_known_of_replies_without_tokens() -> None:
    assert total_usage([None, None]) is None
    assert total_usage([]) is None
    assert total_usage([Usage()]) == Usage()


def test_tokens_of_batches_are_a_part_of_the_sum() -> None:
    batched = Usage(10, 2, 1, batched=Usage(10, 2, 1))
    total = total_usage([batched, Usage(5, None), batched])
    assert total == Usage(25, 4, 2, batched=Usage(20, 4, 2))
    assert total.unbatched == Usage(5, 0, 0)
    assert Usage(5, None).unbatched == Usage(5, None)


@pytest.mark.parametrize(
    ("arguments", "source"),
    [
        ({}, "get_weather()"),
        ({"city": "Oslo"}, "get_weather(city='Oslo')"),
        ({"city": "Cox's Bazar", "days": 2}, """get_weather(city="Cox's Bazar", days=2)"""),
        (
            {"now": True, "stops": ["a", None], "at": {"x": 1.0}},
            "get_weather(now=True, stops=['a', None], at={'x': 1.0})",
        ),
    ],
)
def test_a_call_is_written_as_python_source(arguments: dict[str, Json], source: str) -> None:
    assert call_source(Call("get_weather", arguments)) == source
