"""What is said of values and calls, word by word."""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_fcall.core import Operator, Reply, Rules
from pytest_fcall.core.expectation import MatchRule
from tests.unit.kept_tables import assert_answers_are_kept, verdict_lines
from tests.unit.matching.language import judged
from tests.unit.matching.test_operators import CLOCK

HERE = Path(__file__).parent
RULES = Rules(
    match=(
        MatchRule("*.note", Operator("ignore", True)),
        MatchRule("get_weather.city", None, "relaxed"),
        MatchRule("get_weather.days", Operator("gt", 1)),
        MatchRule("get_weather.unit", None, "relaxed"),
        MatchRule("*.unit", Operator("text", "celsius")),
        MatchRule("book.seats*", Operator("text", "a")),
        MatchRule("book.items[0].name", Operator("regex", "a+")),
    ),
    now=CLOCK.now,
)


def of_value(question: str) -> Iterator[str]:
    """An expected value, and the one that was given."""
    expected, got = map(literal_eval, question.split(" <- "))
    return verdict_lines(judged([{"any": {"x": got}}], [{"any": {"x": expected}}], rules=CLOCK, tools=()))


def of_calls(question: str) -> Iterator[str]:
    """Expected calls, and those that were made; before them `rules`, where these hold."""
    expected, calls = map(literal_eval, question.removeprefix("rules ").split(" <- "))
    rules = RULES if question.startswith("rules ") else CLOCK
    return verdict_lines(judged(calls, expected, rules=rules))


def of_reply(question: str) -> Iterator[str]:
    """What is expected, the calls that were made, and the parts of the reply."""
    expected, calls, parts = map(literal_eval, question.split(" <- "))
    return verdict_lines(judged(calls, expected, malformed=parts.pop("malformed", None), reply=Reply(**parts)))


@pytest.mark.parametrize("of", [of_value, of_calls, of_reply])
def test_what_is_said_is_what_the_table_says(of: type) -> None:
    assert_answers_are_kept(HERE / f"{of.__name__}.txt", of)
