"""Rounds of requests that are answered elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fcall.session.offline.rounds import Rounds


@pytest.fixture
def rounds(tmp_path: Path) -> Rounds:
    return Rounds(tmp_path)


def figures(rounds: Rounds) -> list[tuple[int, int, int, int | None]]:
    return [(each.number, each.requests, each.taken, each.open) for each in rounds.read()]


def test_a_plan_to_which_no_replies_came_is_planned_anew(rounds: Rounds) -> None:
    rounds.begin(rounds.next_number(), 5, ["m"])
    assert rounds.next_number() == 1
    rounds.begin(1, 7, ["m"])
    assert figures(rounds) == [(1, 7, 0, None)]


def test_a_round_that_is_under_way_stays_and_its_replies_count_to_it(rounds: Rounds) -> None:
    rounds.begin(rounds.next_number(), 5, ["m"])
    assert rounds.next_number(under_way={1}) == 2
    rounds.begin(2, 3, ["m"])
    rounds.add_replies({1: 4, 2: 3}, 1)
    assert figures(rounds) == [(1, 5, 4, None), (2, 3, 3, 1)]


def test_after_the_last_reply_the_count_begins_anew_unless_something_is_under_way(rounds: Rounds) -> None:
    rounds.begin(rounds.next_number(), 5, ["m"])
    rounds.add_replies({1: 5}, 0)
    assert rounds.next_number(under_way={1}) == 2
    assert rounds.next_number() == 1


def test_replies_of_a_round_that_is_not_known_count_to_the_last(rounds: Rounds) -> None:
    rounds.add_replies({0: 1}, 0)
    assert figures(rounds) == []
    rounds.begin(rounds.next_number(), 5, ["m"])
    rounds.add_replies({9: 2}, 3)
    assert figures(rounds) == [(1, 5, 2, 3)]


def test_damaged_rounds_do_not_take_the_number_of_one_under_way(rounds: Rounds, tmp_path: Path) -> None:
    (tmp_path / ".fcall").mkdir()
    (tmp_path / ".fcall" / "rounds.json").write_text("{", "utf-8")
    assert rounds.next_number(under_way={3}) == 4
    assert "rounds.json" in rounds.fault
