from __future__ import annotations

from pytest_fcall.backends.cluster.coordinator import GROUPS, RoundLog, groups_of


def test_a_row_that_was_written_is_asked_no_more() -> None:
    log = RoundLog()
    log.begin(["a", "b"])
    log.add_part("part-1", ["a"])
    assert log.deaths(["a", "b", "c"]) == {"b": 1, "c": 0}
    assert log.parts_after(0) == ["part-1"]
    assert log.parts_after(1) == []


def test_a_part_that_is_noted_twice_is_one_part() -> None:
    log = RoundLog()
    log.add_part("part-1", ["a"])
    log.add_part("part-1", ["a"])
    assert log.parts_after(0) == ["part-1"]


def test_a_row_that_ends_whatever_asks_it_is_alone_after_three_deaths_and_given_up_after_five() -> None:
    log, rows = RoundLog(), [f"row-{number}" for number in range(256)]
    deaths, asked_alone = 0, 0
    while True:
        groups, lost = groups_of(log.deaths(rows))
        if lost:
            break
        for group in groups:
            log.begin(group)
            if "row-100" in group:
                deaths += 1
                asked_alone += len(group) == 1
                break
            log.add_part(f"part of {group[0]}", group)
    assert lost == ["row-100"]
    assert log.deaths(rows) == {"row-100": len(GROUPS)}
    assert (deaths, asked_alone) == (5, 2)


def test_a_row_that_was_beside_it_is_answered() -> None:
    groups, lost = groups_of({"innocent": 3, "poison": 4, "fresh": 0, "other": 0})
    assert groups == [["fresh", "other"], ["innocent"], ["poison"]]
    assert lost == []
