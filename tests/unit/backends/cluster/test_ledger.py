from __future__ import annotations

from pytest_fcall.backends.cluster.ledger import GROUPS, Ledger, groups_of


def test_a_row_that_was_written_is_asked_no_more() -> None:
    ledger = Ledger()
    ledger.begin(["a", "b"])
    ledger.add_part("part-1", ["a"])
    assert ledger.deaths(["a", "b", "c"]) == {"b": 1, "c": 0}
    assert ledger.parts_after(0) == ["part-1"]
    assert ledger.parts_after(1) == []


def test_a_part_that_is_noted_twice_is_one_part() -> None:
    ledger = Ledger()
    ledger.add_part("part-1", ["a"])
    ledger.add_part("part-1", ["a"])
    assert ledger.parts_after(0) == ["part-1"]


def test_a_row_that_ends_whatever_asks_it_is_alone_after_three_deaths_and_given_up_after_five() -> None:
    ledger, rows = Ledger(), [f"row-{number}" for number in range(256)]
    deaths, asked_alone = 0, 0
    while True:
        groups, lost = groups_of(ledger.deaths(rows))
        if lost:
            break
        for group in groups:
            ledger.begin(group)
            if "row-100" in group:
                deaths += 1
                asked_alone += len(group) == 1
                break
            ledger.add_part(f"part of {group[0]}", group)
    assert lost == ["row-100"]
    assert ledger.deaths(rows) == {"row-100": len(GROUPS)}
    assert (deaths, asked_alone) == (5, 2)


def test_a_row_that_was_beside_it_is_answered() -> None:
    groups, lost = groups_of({"innocent": 3, "poison": 4, "fresh": 0, "other": 0})
    assert groups == [["fresh", "other"], ["innocent"], ["poison"]]
    assert lost == []
