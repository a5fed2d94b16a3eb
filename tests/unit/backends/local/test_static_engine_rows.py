"""Rows of tokens side by side, and what they begin with."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.backends.local.static_engine import pad_rows, shared_prefixes

PAD = -1
rows_of_kinds = st.lists(
    st.tuples(st.sampled_from(["", "a", "b"]), st.lists(st.integers(0, 3), min_size=1, max_size=9)),
    min_size=1,
    max_size=8,
)
BEGIN = {"": [], "a": list(range(100, 140)), "b": list(range(200, 225))}


@given(rows_of_kinds)
def test_rows_are_whole_once_the_filling_is_taken_out(drawn: list[tuple[str, list[int]]]) -> None:
    rows = [BEGIN[kind] + row for kind, row in drawn]
    begun = shared_prefixes(rows, [kind for kind, _ in drawn])
    layout = pad_rows(rows, begun, PAD)
    assert {len(line) for line in (*layout.ids, *layout.mask)} == {layout.width}
    for row, count, ids, mask in zip(rows, begun, layout.ids, layout.mask, strict=True):
        assert [token for token, own in zip(ids, mask, strict=True) if own] == row
        before = max(begun)
        assert ids[before - count : before] == row[:count]
        assert ids[layout.width - (len(row) - count) :] == row[count:]


@given(rows_of_kinds)
def test_rows_of_a_kind_begin_alike_and_something_is_left_of_each(drawn: list[tuple[str, list[int]]]) -> None:
    rows = [BEGIN[kind] + row for kind, row in drawn]
    kinds = [kind for kind, _ in drawn]
    begun = shared_prefixes(rows, kinds)
    assert all(count < len(row) for row, count in zip(rows, begun, strict=True))
    for kind in set(kinds):
        assert (
            len({tuple(row[:count]) for row, count, each in zip(rows, begun, kinds, strict=True) if each == kind}) == 1
        )
    assert all(begun) or not any(begun)


def test_a_beginning_that_many_share_is_read_once() -> None:
    assert shared_prefixes([[*BEGIN["a"], 1], [*BEGIN["a"], 2, 3], [*BEGIN["a"], 2, 3, 4]], ["a"] * 3) == [40] * 3


def test_where_little_is_saved_all_is_read_together() -> None:
    assert shared_prefixes([BEGIN["a"], BEGIN["b"]], ["a", "b"]) == [0, 0]
    assert shared_prefixes([BEGIN["a"]], ["a"]) == [0]
