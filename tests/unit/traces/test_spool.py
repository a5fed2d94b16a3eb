from __future__ import annotations

import pytest

from pytest_fcall.core import Json
from pytest_fcall.traces.record import Record, SkippedEntry, UnusableRecord
from pytest_fcall.traces.spool import Spool
from tests.unit.traces.support import user


def test_values_come_back_whole_and_in_any_order_from_memory_and_from_the_disk() -> None:
    values: list[Record | SkippedEntry] = [
        Record((user(f"{n} \udc80" * 40),), f"log:{n}", settings={"n": n}) for n in range(50)
    ]
    spool = Spool[Record | SkippedEntry](held_bytes=1000)
    places = [spool.add(each) for each in values[:40]]
    assert spool.get(places[3]) == values[3]
    values.append(SkippedEntry("log:50", "why"))
    places += [spool.add(each) for each in values[40:]]
    assert [spool.get(place) for place in reversed(places)] == [*reversed(values)]


def test_what_is_nested_without_end_is_refused_and_the_others_are_kept() -> None:
    deep: Json = 1
    for _ in range(100_000):
        deep = [deep]
    spool = Spool[Json]()
    first = spool.add("first")
    with pytest.raises(UnusableRecord, match="nested too deeply"):
        spool.add(deep)
    assert (spool.get(spool.add("second")), spool.get(first)) == ("second", "first")


def test_what_values_share_is_written_once_and_stays_the_same() -> None:
    shared = ("a", "b" * 10_000)
    spool = Spool[Json]()
    spool.share(shared)
    first, second = spool.add({"n": 1, "of": shared}), spool.add({"n": 2, "of": shared})
    assert second - first < 100
    one, other = spool.get(first), spool.get(second)
    assert isinstance(one, dict)
    assert isinstance(other, dict)
    assert one["of"] is shared
    assert other["of"] is shared
