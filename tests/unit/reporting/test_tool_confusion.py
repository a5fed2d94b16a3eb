from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from pytest_fcall.core import Call, Calls, Expectation, ExpectedCall, Json, Reply, Tool
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.reply import judge
from pytest_fcall.reporting.result_json import result_from_json, result_to_json
from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.tool_confusion import confusion_lines, mixed_up_lines, tool_pairs

TOOLS = [Tool(name) for name in ("book", "cancel", "search")]


def called(expected: Sequence[str], made: Sequence[str]) -> list[tuple[str, str]]:
    stage = tuple(ExpectedCall(name) for name in expected)
    expectation = Expectation(stages=(stage,)) if expected else Expectation("no_call")
    calls = tuple(Call(name, {}) for name in made)
    verdict = judge(Reply(finish="tool_calls"), Calls(calls), expectation, MatchContext(TOOLS))
    return tool_pairs(expectation, calls, verdict)


@pytest.mark.parametrize(
    ("expected", "made", "pairs"),
    [
        (["book"], ["book"], [("book", "book")]),
        (["book"], ["cancel"], [("book", "cancel")]),
        (["book"], [], [("book", "")]),
        ([], ["book"], [("", "book")]),
        (["book", "search"], ["search", "cancel"], [("book", "cancel"), ("search", "search")]),
        (["book"], ["book", "cancel"], [("book", "book"), ("", "cancel")]),
    ],
)
def test_each_expected_tool_stands_beside_the_one_that_was_called(
    expected: list[str], made: list[str], pairs: list[tuple[str, str]]
) -> None:
    assert called(expected, made) == pairs


def result(number: int, *pairs: tuple[str, str]) -> Result:
    return Result(f"a::{number}", str(number), "m", "failed", called=pairs)


RESULTS = [
    *(result(n, ("book", "cancel")) for n in range(3)),
    result(4, ("cancel", "book")),
    result(5, ("book", "book"), ("search", "search")),
    result(6, ("book", ""), ("", "cancel")),
]


def test_pairs_that_are_mixed_up_are_told_in_words() -> None:
    assert mixed_up_lines(RESULTS, 200) == [
        "mixed up: `cancel` called for `book`, 3 of 5 times; the other way round 1",
    ]


def test_of_long_names_the_figures_stay() -> None:
    [line] = mixed_up_lines([result(n, ("cancel_" * 20, "book_" * 20)) for n in range(3)], 80)
    assert line.startswith("mixed up: `book_book")
    assert line.endswith("`, 3 of 3 times")
    assert len(line) <= 80


def test_a_tool_that_nobody_expected_and_nobody_called_has_no_row() -> None:
    assert confusion_lines([result(1, ("book", "cancel"))]) == [
        "expected \\ called  cancel",
        "book                    1",
    ]


def test_a_matrix_shows_the_tools_that_were_taken_for_others() -> None:
    assert confusion_lines(RESULTS) == [
        "expected \\ called  book  cancel  (none)",
        "book                  1       3       1",
        "cancel                1",
        "(none)                        1",
    ]


def test_where_nothing_is_mixed_up_there_is_nothing_to_show() -> None:
    fine = [result(1, ("book", "book"))]
    assert (mixed_up_lines(fine), confusion_lines(fine)) == ([], [])


def test_the_pairs_travel_with_the_result() -> None:
    sent: Json = json.loads(json.dumps(result_to_json(RESULTS[-1])))
    assert isinstance(sent, dict)
    assert result_from_json(sent) == RESULTS[-1]


def test_hostile_names_are_made_printable() -> None:
    (line,) = mixed_up_lines([result(1, ("a\x1b[31m", "b\n"))], 200)
    assert "\x1b" not in line
    assert "\n" not in line
