from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.cases.suite import Pick, read_pick

IDS = [f"case_{number}" for number in range(50)]


def picked(*texts: str) -> list[str]:
    return [IDS[place] for place in read_pick(texts).indexes(IDS)]


def test_a_number_takes_the_first() -> None:
    assert picked("3") == ["case_0", "case_1", "case_2"]


def test_a_number_with_a_seed_takes_a_sample_in_the_order_of_the_suite() -> None:
    assert picked("5@7") == ["case_0", "case_3", "case_17", "case_31", "case_47"]
    assert picked("5@7") != picked("5@8")


@given(st.integers(1, 50), st.integers(0, 10**6))
def test_a_larger_sample_holds_a_smaller_one(count: int, seed: int) -> None:
    smaller, larger = (Pick(count=n, seed=seed).indexes(IDS) for n in (count, count + 1))
    assert set(smaller) <= set(larger)
    assert len(smaller) == count
    assert smaller == sorted(smaller)


def test_more_than_there_are_takes_all() -> None:
    assert picked("99@1") == IDS


def test_ids_and_globs_take_what_they_name() -> None:
    assert picked("case_7", "case_4*") == ["case_4", "case_7", *(f"case_4{n}" for n in range(10))]


def test_an_id_that_is_not_there_is_told_with_one_that_is() -> None:
    with pytest.raises(ValueError, match=r"no case has the id 'cse_7'; did you mean `case_7`\?"):
        picked("cse_7")


def test_an_id_that_begins_as_it_was_said_is_proposed_before_one_that_is_alike() -> None:
    ids = ["live_simple_0-0-0", "live_simple_4-3-0"]
    with pytest.raises(ValueError, match="did you mean `live_simple_0-0-0`"):
        Pick(ids=("live_simple_0",)).indexes(ids)


@pytest.mark.parametrize("text", ["0", "-3", "3@", "3@x", "@7", "1.5@7", "0@7"])
def test_a_number_that_picks_nothing_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=f"'{text}' selects no case; write a number, .*: 200, 200@7"):
        read_pick([text])


def test_no_pick_takes_all() -> None:
    assert Pick().indexes(IDS) == list(range(50))
