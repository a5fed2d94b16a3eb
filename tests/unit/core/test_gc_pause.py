from __future__ import annotations

import gc

import pytest

from pytest_fcall.core.gc_pause import gc_paused


def test_garbage_is_looked_for_again_when_all_is_done() -> None:
    with gc_paused():
        with gc_paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_garbage_is_looked_for_again_after_a_failure() -> None:
    with pytest.raises(KeyError), gc_paused():
        raise KeyError
    assert gc.isenabled()


def test_what_was_made_meanwhile_counts_as_old() -> None:
    with gc_paused():
        made: list[object] = [[]]
    assert not any(each is made for each in gc.get_objects(generation=0))


def test_what_others_took_from_the_collector_stays_taken() -> None:
    gc.freeze()
    try:
        with gc_paused():
            pass
        assert gc.get_freeze_count()
    finally:
        gc.unfreeze()
