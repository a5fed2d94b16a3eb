"""A pause of the garbage collector."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_MANY = 10_000
"""Fewer objects are looked at sooner than those are counted that somebody took from the collector."""


@contextmanager
def gc_paused() -> Iterator[None]:
    """Pause garbage collection while many lasting objects are made: the collector would scan them again and again.

    Where they are many they count as old from the start, so that the collector need not look at each twice before it
    takes them for old.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            if gc.get_count()[0] > _MANY and not gc.get_freeze_count():
                gc.freeze()
                gc.unfreeze()
            gc.enable()
