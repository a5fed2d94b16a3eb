from __future__ import annotations

import gc

import pytest

from pytest_fcall.core.uncollected import uncollected


def test_garbage_is_looked_for_again_whatever_happened() -> None:
    with pytest.raises(KeyError), uncollected():
        assert not gc.isenabled()
        with uncollected():
            pass
        assert not gc.isenabled()
        raise KeyError
    assert gc.isenabled()
