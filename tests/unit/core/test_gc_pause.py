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
