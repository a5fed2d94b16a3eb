from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.core import Call, Model
from pytest_fcall.core.verdict import Rate
from pytest_fcall.tracking.baseline_content import Baseline, write_baseline
from pytest_fcall.tracking.baseline_file import baseline_path, read_baseline
from pytest_fcall.tracking.bookkeeping import (
    REMOVED,
    measurement_path,
    read_bookkeeping,
    read_measurement,
    write_measurement,
)
from pytest_fcall.tracking.contract_lines import digest_of, facts_of
from pytest_fcall.tracking.measurement import Key, Measurement
from pytest_fcall.tracking.merged_baseline import MergeResult, Side, mend_baseline
from pytest_fcall.tracking.stanza import Stanza

MEASURED = Measurement("oslo", Key("q1", "p1", "e1"), Rate(3, 4), until="0")


def answer(city: str, case: str = "oslo", *, calls: int = 1, since: str | None = None) -> Stanza:
    return Stanza(case, True, calls=(Call("get_weather", {"city": city}),) * calls, since=since)


OURS, THEIRS = answer("Oslo", since="2026-11-01"), answer("Bergen", since="2026-11-02")
ROME = answer("Rome", "rome")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return baseline_path(tmp_path / "a.fc.yaml", Model("local", "m"))


def contents(path: Path) -> tuple[list[str], list[str]]:
    return tuple(each.read_text("utf-8").splitlines(keepends=True) for each in (path, measurement_path(path)))  # type: ignore[return-value]


def merged(path: Path, *branches: Iterable[Stanza]) -> None:
    """Write what a merge by union leaves of branches that have nothing in common."""
    lines: list[str] = []
    beside: list[str] = []
    for stanzas in branches:
        write_baseline(path, stanzas)
        own, own_beside = contents(path)
        lines += own[1:] if lines else own
        beside += own_beside
        path.unlink()
        measurement_path(path).unlink()
    path.write_text("".join(lines), "utf-8")
    measurement_path(path).write_text("".join(beside), "utf-8")


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


def read(path: Path) -> Baseline:
    found = read_baseline(path)
    assert found is not None
    return found


def always(case: str) -> bool:
    return True


@pytest.mark.parametrize(("side", "left"), [("ours", OURS), ("theirs", THEIRS)])
def test_the_answer_of_one_side_is_left_with_its_bookkeeping(path: Path, side: Side, left: Stanza) -> None:
    merged(path, [OURS], [THEIRS])

    assert mend_baseline(path, side, always) == MergeResult(chosen=["oslo"], is_changed=True)
    assert read(path).all_faults == ()
    assert dict(read(path).stanzas) == {"oslo": left}


@pytest.mark.parametrize("side", ["ours", "theirs"])
def test_the_answer_that_was_chosen_is_known_to_replace_the_other_one(path: Path, side: Side) -> None:
    merged(path, [OURS], [THEIRS])
    both = path.read_bytes()
    mend_baseline(path, side, always)
    chosen = path.read_bytes()

    path.write_bytes(both)

    assert [facts_of(each) for each in read(path).stanzas.values()] == [facts_of(OURS if side == "ours" else THEIRS)]
    mend_baseline(path, "both", always)
    assert path.read_bytes() == chosen


def test_without_a_choice_both_answers_stay_with_their_bookkeeping(path: Path) -> None:
    merged(path, [OURS], [THEIRS])
    kept = read_bookkeeping(measurement_path(path))

    assert mend_baseline(path, "both", always).undecided == ["oslo"]

    assert [*read(path).unclear] == ["oslo"]
    assert read_bookkeeping(measurement_path(path)) == kept
    assert len(kept.accepted["oslo"]) == 2
    mend_baseline(path, "theirs", always)
    assert dict(read(path).stanzas) == {"oslo": THEIRS}


def test_cases_with_two_answers_are_found_at_the_first_of_them(path: Path) -> None:
    merged(path, [OURS, ROME], [THEIRS, answer("Roma", "rome")])
    (fault,) = read(path).all_faults
    assert path.read_text("utf-8").splitlines()[fault.location.line - 1].startswith("oslo")


@pytest.mark.parametrize("of_one_case", [True, False])
def test_marks_of_a_conflict_are_noted_only_where_nothing_has_to_be_chosen(path: Path, of_one_case: bool) -> None:
    write_baseline(path, [OURS])
    head, *ours = contents(path)[0]
    path.unlink()
    measurement_path(path).unlink()
    write_baseline(path, [THEIRS if of_one_case else ROME])
    theirs = contents(path)[0][1:]
    path.write_text("".join([head, "<<<<<<< ours\n", *ours, "=======\n", *theirs, ">>>>>>> theirs\n"]), "utf-8")

    found = read(path)

    assert ([*found.unclear], bool(found.note)) == (["oslo"] if of_one_case else [], not of_one_case)


def test_a_choice_is_made_for_the_cases_that_are_meant(path: Path) -> None:
    merged(path, [OURS, ROME], [THEIRS, answer("Roma", "rome")])

    found = mend_baseline(path, "ours", lambda case: case == "rome")

    assert (found.chosen, found.undecided) == (["rome"], ["oslo"])
    assert dict(read(path).stanzas) == {"rome": ROME}


def test_an_answer_that_is_not_whole_is_not_chosen(path: Path) -> None:
    merged(path, [answer("Oslo", calls=2)], [THEIRS])
    edit(path, 'oslo 2 get_weather {"city": "Oslo"}\n', "")

    found = mend_baseline(path, "ours", always)

    assert (found.torn, found.chosen, found.undecided) == (["oslo"], [], [])
    assert [*read(path).unclear] == ["oslo"]
    assert mend_baseline(path, "theirs", always).chosen == ["oslo"]
    assert dict(read(path).stanzas) == {"oslo": THEIRS}


def test_the_only_answer_of_a_case_is_left_out_where_it_is_not_whole(path: Path) -> None:
    write_baseline(path, [OURS, ROME])
    edit(path, '"city": "Oslo"', '"city": "Paris"')

    found = mend_baseline(path, "both", always)

    assert [(line.number, line.text.partition(" #")[0]) for line in found.left_out] == [
        (3, 'oslo 1 get_weather {"city": "Paris"}'),
        (3, "oslo right"),
    ]
    assert (found.chosen, found.undecided, found.torn) == ([], [], [])
    assert read(path).all_faults == ()
    assert dict(read(path).stanzas) == {"rome": ROME}


def test_lines_that_a_merge_left_of_an_older_answer_are_removed(path: Path) -> None:
    write_baseline(path, [OURS])
    clean = path.read_bytes()
    edit(path, "oslo 1 get_weather", "oslo 1 get_time {}\noslo 1 get_weather")

    assert mend_baseline(path, "both", always).is_changed
    assert path.read_bytes() == clean


def test_lines_that_say_nothing_are_left_out_and_told_in_their_order(path: Path) -> None:
    write_baseline(path, [OURS, ROME])
    edit(path, "rome 1 get_weather", "what is this?\nrome 1 get_weather")
    edit(path, "oslo 1 get_weather", "oslo one get_weather")

    found = mend_baseline(path, "both", always)

    assert [line.number for line in found.left_out] == [3, 4, 7]
    assert found.left_out[-1].text == "what is this?"
    assert dict(read(path).stanzas) == {"rome": ROME}


def test_a_file_whose_first_line_is_damaged_is_read_and_its_lines_keep_their_numbers(path: Path) -> None:
    write_baseline(path, [OURS, ROME])
    edit(path, "# pytest-fcall baseline 2", "# pytest-fcall base")
    edit(path, 'rome 1 get_weather {"city": "Rome"}', 'rome 1 get_weather {"city": "Roma"}\nwhat is this?')

    found = mend_baseline(path, "both", always)

    assert [line.number for line in found.left_out] == [1, 6, 6, 8]
    assert dict(read(path).stanzas) == {"oslo": OURS}


def test_a_file_in_which_nothing_is_wrong_stays_byte_for_byte(path: Path) -> None:
    write_baseline(path, [OURS, ROME])
    before = contents(path), path.stat().st_mtime_ns

    assert mend_baseline(path, "ours", always) == MergeResult()
    assert (contents(path), path.stat().st_mtime_ns) == before


def test_a_change_of_the_bookkeeping_alone_is_a_change(path: Path) -> None:
    write_baseline(path, [OURS])
    beside = measurement_path(path)
    edit(beside, "{", "<<<<<<< HEAD\n{")

    assert mend_baseline(path, "both", always) == MergeResult(is_changed=True)
    assert "<<<<<<<" not in beside.read_text("utf-8")


def test_a_contract_without_bookkeeping_is_mended(path: Path) -> None:
    merged(path, [OURS], [THEIRS])
    measurement_path(path).unlink()

    assert mend_baseline(path, "ours", always).chosen == ["oslo"]
    assert read(path).stanzas["oslo"].calls == OURS.calls


def test_what_is_measured_stays(path: Path) -> None:
    merged(path, [OURS], [THEIRS])
    write_measurement(measurement_path(path), [MEASURED])

    mend_baseline(path, "ours", always)

    assert read_measurement(measurement_path(path)) == {"oslo": MEASURED}


def test_a_case_that_one_branch_removed_stays_removed(path: Path) -> None:
    write_baseline(path, [OURS, ROME])
    before = path.read_bytes()
    write_baseline(path, [ROME])
    path.write_bytes(before)

    assert mend_baseline(path, "both", always).is_changed
    assert dict(read(path).stanzas) == {"rome": ROME}
    path.write_bytes(before)
    assert dict(read(path).stanzas) == {"rome": ROME}


def test_an_answer_that_is_chosen_over_a_removal_counts_from_then_on(path: Path) -> None:
    write_baseline(path, [OURS, ROME])
    before = contents(path)
    write_baseline(path, [ROME])
    _, without = contents(path)
    for each, lines in zip((path, measurement_path(path)), before, strict=True):
        each.write_text("".join(lines), "utf-8")
    write_baseline(path, [THEIRS, ROME])
    changed, beside = contents(path)
    measurement_path(path).write_text("".join([*without, *beside]), "utf-8")
    assert read_bookkeeping(measurement_path(path)).removed == {"oslo"}

    mend_baseline(path, "both", always)

    kept = read_bookkeeping(measurement_path(path))
    assert contents(path)[0] == changed
    assert kept.removed == frozenset()
    assert kept.replaces("oslo", digest_of(facts_of(THEIRS)[0]), REMOVED)


@given(
    st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("xyz")), unique_by=lambda each: each[0], min_size=1),
    st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("xyz")), unique_by=lambda each: each[0], min_size=1),
    st.sampled_from(["ours", "theirs"]),
)
def test_after_a_choice_each_case_of_either_branch_has_one_answer_and_nothing_is_left_to_mend(
    tmp_path_factory: pytest.TempPathFactory, ours: list[tuple[str, str]], theirs: list[tuple[str, str]], side: Side
) -> None:
    path = tmp_path_factory.mktemp("any") / "m" / "a.fc.yaml.accepted"
    merged(path, *([answer(city, case) for case, city in branch] for branch in (ours, theirs)))

    found = mend_baseline(path, side, always)

    wanted = {**dict(theirs), **dict(ours)} if side == "ours" else {**dict(ours), **dict(theirs)}
    assert {case: stanza.calls for case, stanza in read(path).stanzas.items()} == {
        case: answer(city).calls for case, city in wanted.items()
    }
    assert {*found.chosen} == {case for case, city in ours if dict(theirs).get(case, city) != city}
    assert mend_baseline(path, side, always) == MergeResult()
