"""Batches that are halved until there is room for them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.backends.local.static_engine import BatchSplitter
from pytest_fcall.core import CaseRefused


class Memory:
    def __init__(self, room: int) -> None:
        self.room = room
        self.freed = 0
        self.largest = 0

    def double(self, numbers: Sequence[int]) -> list[int]:
        if len(numbers) > self.room:
            raise MemoryError
        self.largest = max(self.largest, len(numbers))
        return [2 * number for number in numbers]

    def free(self) -> None:
        self.freed += 1


@given(numbers=st.lists(st.integers(), max_size=40), room=st.integers(1, 40))
def test_all_is_done_in_order_whatever_the_room(numbers: list[int], room: int) -> None:
    memory = Memory(room)
    pieces = BatchSplitter(memory.free)
    assert pieces.run(numbers, memory.double) == [2 * number for number in numbers]
    assert (pieces.limit is None) == (len(numbers) <= room)
    freed = memory.freed
    assert pieces.run(numbers, memory.double) == [2 * number for number in numbers]
    assert memory.freed == freed, "what there is no room for is tried once"


def test_no_room_for_one_is_a_refusal_in_words() -> None:
    memory = Memory(0)
    with pytest.raises(CaseRefused, match="out of memory with this prompt alone"):
        BatchSplitter(memory.free).run([1, 2], memory.double)


def test_any_other_failure_is_nobodys_business_here() -> None:
    def broken(_: Sequence[int]) -> list[int]:
        raise ValueError("no such token")

    with pytest.raises(ValueError, match="no such token"):
        BatchSplitter(lambda: None).run([1], broken)
