"""Work in pieces that memory has room for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from pytest_fcall.backends.local.memory import is_out_of_memory
from pytest_fcall.core import CaseRefused

Item = TypeVar("Item")
Done = TypeVar("Done")


class Pieces:
    """Remembers how many items there was room for. `free` gives back what a failure has left."""

    def __init__(self, free: Callable[[], None]) -> None:
        self.most: int | None = None
        """The most that are tried at once, since there was no memory for more."""
        self._free = free

    def work_off(self, items: Sequence[Item], work: Callable[[Sequence[Item]], Sequence[Done]]) -> list[Done]:
        """Do all at once; where memory is short, half as many from then on.

        Raises CaseRefused where there is no room for one alone.
        """
        done: list[Done] = []
        while len(done) < len(items):
            piece = items[len(done) : len(done) + (self.most or len(items))]
            try:
                done += work(piece)
            except Exception as error:
                if not is_out_of_memory(error):
                    raise
                _refuse_one(piece)
            else:
                continue
            # Not before the error is forgotten, which holds on to all that was in memory.
            self.most = len(piece) // 2
            self._free()
        return done


def _refuse_one(piece: Sequence[object]) -> None:
    if len(piece) == 1:
        raise CaseRefused(
            "out of memory, though it was asked alone; fewer max_new_tokens, dtype=bfloat16 or device_map=auto help"
        ) from None
