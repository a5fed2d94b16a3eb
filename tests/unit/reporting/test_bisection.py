from __future__ import annotations

import pytest

from pytest_fcall.reporting.bisection import (
    BisectedCase,
    EditCell,
    FoundCause,
    FoundEdit,
    SearchPlan,
    cause_texts,
    edit_lines,
    edit_table,
    explaining_edits,
    result_lines,
)
from pytest_fcall.reporting.terminal import ASCII, UNICODE, column_count

BRIEF = FoundEdit("system prompt, sentence 2", "", "Answer briefly.")
KIND = FoundEdit("system prompt, sentence 3", "Be kind.", "")
UNIT = FoundEdit("tool get_weather: parameter unit: enum", '["c"]', '["c","f"]')


def case(name: str, *causes: FoundCause, rest: bool | None = True, **cells: EditCell) -> BisectedCase:
    edits = {"brief": BRIEF, "kind": KIND, "unit": UNIT}
    status = "found" if causes and all(cause.is_exact for cause in causes) else "open"
    return BisectedCase(
        f"a.fc.yaml::{name}",
        name,
        "m:x",
        "found" if status == "found" else "open",
        "the limit of 3 requests is reached" if status == "open" else "",
        causes,
        rest,
        3,
        (4, 4),
        (0, 6),
        cells={edits[edit]: cell for edit, cell in cells.items()},
    )


ALONE = FoundCause(((BRIEF,),))
BOTH = FoundCause(((BRIEF,), (UNIT,)))
LEFT = FoundCause(((BRIEF, KIND),))


def test_a_cause_is_said_in_words() -> None:
    assert case("oslo", ALONE).lines == [
        "a.fc.yaml::oslo fails since (4/4 right before, 0/6 right now):",
        "  system prompt, sentence 2: 'Answer briefly.' was added",
        "  without this edit the case is right, with the other 2 edits in place",
    ]
    assert "  two edits, each harmless alone:" in case("oslo", BOTH).lines
    assert KIND.text.endswith("'Be kind.' was removed")
    assert UNIT.text.endswith("""'["c"]' → '["c","f"]'""")


def test_what_is_left_is_never_called_a_cause() -> None:
    lines = case("oslo", LEFT, rest=None).lines
    assert not any("fails since" in line for line in lines)
    assert "  one or more of these 2 edits:" in lines
    assert "  not decided further: the limit of 3 requests is reached" in lines
    assert explaining_edits([case("oslo", LEFT)]) == []
    assert next(cause_texts(case("oslo", LEFT))).startswith("one or more of 2 edits: ")


@pytest.mark.parametrize("count", [1, 2, 12, 13, 300])
@pytest.mark.parametrize("marks", [UNICODE, ASCII])
def test_the_table_fits_eighty_columns_and_numbers_the_edits_as_the_plan_does(count: int, marks: object) -> None:
    found = [case(f"case{number}", ALONE, brief="fails", unit="passes", kind="unknown") for number in range(count)]
    lines = edit_table(found, [BRIEF, KIND, UNIT], 80, UNICODE if marks is UNICODE else ASCII)
    assert all(column_count(line) <= 80 for line in lines if not line.startswith("case "))
    assert [line[0] for line in lines if line.startswith(("1 ", "2 ", "3 "))] == ["1", "3"]


def test_what_explains_all_cases_is_told() -> None:
    lines = result_lines([case("oslo", ALONE), case("rome", ALONE)], [BRIEF], 80, UNICODE)
    assert "1 edit is enough to make all 2 cases fail:" in lines
    lines = result_lines([case("oslo", ALONE), case("rome", LEFT)], [BRIEF], 80, UNICODE)
    assert not any("enough" in line for line in lines)


def test_hostile_texts_are_escaped_and_cut() -> None:
    text = FoundEdit("system prompt", "", "\x1b[2J" + "x" * 10_000 + "\u202e").text
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert len(text) < 400


def test_a_plan_says_what_it_takes_and_many_edits_are_counted() -> None:
    assert SearchPlan(2, 6, 100, None).line == (
        "plan for 2 cases: about 6 requests if one edit is guilty and all answers agree, and at most 100; cost unknown"
    )
    assert SearchPlan(1, 1, 5, 0.25).line.endswith("at most 5; at most $0.2500")
    many = [FoundEdit(f"system prompt, sentence {number}", "", "x") for number in range(40)]
    assert edit_lines(many, 1)[-1] == "  and 10 more"
