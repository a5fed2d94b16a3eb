from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.core import Usage
from pytest_fcall.reporting.results import Result, Results, Status
from pytest_fcall.reporting.run_table import file_table
from pytest_fcall.reporting.statistics import shared_causes
from pytest_fcall.reporting.summary import one_line_summary, summary_lines
from pytest_fcall.reporting.terminal import column_count

UNIT = (("wrong_value", "calls[1].args.unit"),)


def results(
    *statuses: Status,
    model: str = "m",
    category: str = "simple",
    reasons: tuple[tuple[str, str], ...] = UNIT,
    replayed: bool = False,
) -> tuple[Result, ...]:
    return tuple(
        Result(
            f"a.fc.yaml::{category}{n}",
            f"{category}{n}",
            model,
            status,
            category,
            reasons=reasons if status == "failed" else (),
            seconds=0.5,
            usage=Usage(100, 20),
            cost=0.001,
            replayed=replayed,
            asked=int(not replayed and status not in ("error", "skipped")),
        )
        for n, status in enumerate(statuses)
    )


def test_one_model_without_a_fault_takes_one_line() -> None:
    green = results("passed", "passed", replayed=True) + results("passed", category="parallel", replayed=True)
    assert summary_lines(Results(green)) == [
        "fcall: m 3/3 right (100.0 % [44, 100]), p50 0.50 s, 360 tokens, $0.0030, all 3 replayed"
    ]


def test_categories_are_told_apart_where_something_is_wrong() -> None:
    run = results("passed", "failed", "error") + results("passed", "passed", category="parallel")
    assert summary_lines(Results(run)) == [
        "model  cases     right  accuracy       95 %  errors     cost     p50     p95     max  tokens  tok/s",
        "m      all         3/4    75.0 %   [30, 95]       1  $0.0040  0.50 s  0.50 s  0.50 s     480     40",
        "       simple      1/2    50.0 %    [9, 91]       1  $0.0020  0.50 s  0.50 s  0.50 s     240     40",
        "       parallel    2/2   100.0 %  [34, 100]          $0.0020  0.50 s  0.50 s  0.50 s     240     40",
        "fcall: m 3/4 right (75.0 % [30, 95]), 1 wrong, 1 error, p50 0.50 s, 480 tokens, $0.0040, 4 asked",
    ]


def test_models_stand_side_by_side_even_when_green() -> None:
    run = results("passed", model="a") + results("passed", model="b")
    first, *rows, last = summary_lines(Results(run))
    assert first.startswith("model  cases  right")
    assert [row.split()[:3] for row in rows] == [["a", "all", "1/1"], ["b", "all", "1/1"]]
    assert last == "fcall: a 1/1 right (100.0 %), b 1/1 right (100.0 %), 240 tokens, $0.0020, 2 asked"


def test_only_the_model_at_fault_is_broken_down() -> None:
    run = [
        *results("passed", model="a"),
        *results("passed", model="a", category="parallel"),
        *results("passed", model="b"),
        *results("failed", model="b", category="parallel"),
    ]
    assert [row.split()[:2] for row in summary_lines(Results(tuple(run)))[1:5]] == [
        ["a", "all"],
        ["b", "all"],
        ["simple", "1/1"],
        ["parallel", "0/1"],
    ]


def test_what_recordings_saved_is_told_from_what_was_spent() -> None:
    run = results("passed", "passed", replayed=True) + results("passed", category="new")
    assert one_line_summary(Results(run)).endswith(", $0.0030 ($0.0010 now), 1 asked, 2 replayed")


def test_a_cost_that_is_not_known_in_full_has_a_plus() -> None:
    run = Results((*results("passed", "failed"), Result("a::b", "b", "m", "passed", "unpriced")))
    table = summary_lines(run)[:4]
    assert [[word for word in row.split() if "$" in word] for row in table[1:]] == [["$0.0020+"], ["$0.0020"], []]
    assert one_line_summary(run).endswith(", $0.0020+, 2 asked")


def grouped(case: str, file: str, tags: tuple[str, ...], status: Status) -> Result:
    return Result(f"{file}::{case}", case, "m", status, file=file, tags=tags)


def test_files_and_tags_with_wrong_answers_have_rows_of_their_own_the_worst_first() -> None:
    run = (
        grouped("one", "a.fc.yaml", ("smoke", "north"), "passed"),
        grouped("two", "a.fc.yaml", ("smoke",), "failed"),
        grouped("three", "b.fc.yaml", ("smoke", "north"), "failed"),
        grouped("four", "b.fc.yaml", ("smoke", "north"), "failed"),
        grouped("five", "c.fc.yaml", ("smoke", "south"), "passed"),
    )

    rows = [row.split() for row in summary_lines(Results(run), 200)[1:-1]]

    assert [" ".join(row[:3]) for row in rows] == [
        "m all 2/5",
        "b.fc.yaml 0/2 0.0",
        "a.fc.yaml 1/2 50.0",
        "tag north 1/3",
    ]


def test_a_group_that_is_the_whole_run_or_another_group_has_no_row() -> None:
    run = (grouped("one", "a.fc.yaml", ("all",), "failed"), grouped("two", "a.fc.yaml", ("all",), "passed"))
    assert len(summary_lines(Results(run))) == 1


def test_files_are_told_apart_model_by_model() -> None:
    run = [
        Result(f"{file}::a", "a", model, "passed", file=file, cost=cost, seconds=cost)
        for model in ("m", "n")
        for file, cost in (("a.fc.yaml", 1.0), ("b.fc.yaml", 2.0))
    ]
    assert file_table(Results(tuple(run))) == [
        "model  file       right  accuracy       95 %   cost     p50     p95     max",
        "m      all          2/2   100.0 %  [34, 100]  $3.00  1.00 s  2.00 s  2.00 s",
        "       a.fc.yaml    1/1   100.0 %  [21, 100]  $1.00  1.00 s  1.00 s  1.00 s",
        "       b.fc.yaml    1/1   100.0 %  [21, 100]  $2.00  2.00 s  2.00 s  2.00 s",
        "n      all          2/2   100.0 %  [34, 100]  $3.00  1.00 s  2.00 s  2.00 s",
        "       a.fc.yaml    1/1   100.0 %  [21, 100]  $1.00  1.00 s  1.00 s  1.00 s",
        "       b.fc.yaml    1/1   100.0 %  [21, 100]  $2.00  2.00 s  2.00 s  2.00 s",
    ]


def test_a_narrow_terminal_loses_figures_from_the_right() -> None:
    run = results("passed", "failed", model="local:" + "x" * 60) + results("passed", category="parallel")
    table = summary_lines(Results(run), 60)[:3]
    assert all(column_count(line) <= 60 for line in table)
    assert table[0].split() == ["model", "cases", "right", "accuracy", "95", "%"]


def test_shared_causes_are_counted_over_calls_and_items() -> None:
    run = results("failed", "failed", "failed") + results(
        "failed", "failed", category="deep", reasons=(("wrong_type", "calls[0].args.legs[2].to"), *UNIT)
    )
    assert summary_lines(Results(run))[-3:-1] == [
        "5 of 5 failures: `wrong_value` at `*.unit` (simple0, simple1, simple2, deep0, deep1)",
        "2 of 5 failures: `wrong_type` at `*.legs[*].to` (deep0, deep1)",
    ]


@pytest.mark.parametrize("path", ["calls", "calls[0]", "answer", ""])
def test_a_cause_about_no_argument_has_no_place(path: str) -> None:
    run = results("failed", "failed", reasons=(("no_call", path),))
    assert [(cause.kind, cause.place) for cause in shared_causes(run)] == [("no_call", "")]


def test_one_failure_is_no_pattern_and_an_expected_one_no_failure() -> None:
    run = (*results("failed", "xfailed"), Result("a::x", "x", "m", "xfailed", reasons=UNIT))
    assert shared_causes(run) == []


def test_the_same_reason_twice_in_a_case_counts_once() -> None:
    run = results("failed", "failed", reasons=(*UNIT, ("wrong_value", "calls[0].args.unit")))
    assert [len(cause.failures) for cause in shared_causes(run)] == [2]


def test_what_was_left_aside_is_said() -> None:
    run = Results(results("skipped", "passed"), files_without_cases=2)
    assert summary_lines(run)[0] == "2 YAML files without `cases:` not collected"


@pytest.mark.parametrize(
    ("run", "line"),
    [
        ((), "fcall: no case was asked"),
        ((Result("a::b", "b", "", "error", "faulty"),), "fcall: no case was asked, 1 error"),
        ((Result("a::b", "b", "m", "skipped"),), "fcall: m 0/0 right, 1 skipped"),
        ((Result("a::b", "b", "m", "xfailed"),), "fcall: m 0/1 right (0.0 % [0, 79]), 1 wrong (1 xfailed)"),
        (
            (Result("a::b", "b", "m", "passed", replayed=True), Result("a::c", "c", "m", "failed")),
            "fcall: m 1/2 right (50.0 % [9, 91]), 1 wrong, 1 replayed",
        ),
        (
            tuple(Result("a::b", "b", f"m{n}", "passed") for n in range(5)),
            "fcall: 5 models 5/5 right (100.0 % [57, 100])",
        ),
    ],
)
def test_the_last_line_says_it_all(run: tuple[Result, ...], line: str) -> None:
    assert one_line_summary(Results(run)) == line


HOSTILE = st.text(st.characters(exclude_categories=[]), max_size=20)


@given(
    st.lists(
        st.builds(
            Result,
            nodeid=HOSTILE,
            case=HOSTILE,
            model=HOSTILE,
            status=st.sampled_from(get_args(Status)),
            category=HOSTILE,
            file=HOSTILE,
            reasons=st.lists(st.tuples(HOSTILE, HOSTILE), max_size=2).map(tuple),
        ),
        max_size=8,
    ),
    st.integers(60, 200),
)
def test_hostile_names_leave_no_control_characters(run: list[Result], width: int) -> None:
    *lines, last = summary_lines(Results(tuple(run)), width)
    lines += file_table(Results(tuple(run)), width)
    assert all(line.isprintable() and column_count(line) <= width for line in lines)
    assert last.isprintable()
