from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from pytest_fcall.core.gc_pause import gc_paused


@pytest.fixture
def _nothing_taken_from_the_collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Though the suite took what it collected: a second to give back, and a second to take again."""
    monkeypatch.setattr(gc, "get_freeze_count", lambda: 0)
    yield
    gc.freeze()


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


@pytest.mark.usefixtures("_nothing_taken_from_the_collector")
@pytest.mark.parametrize(("count", "old"), [(20_000, True), (20, False)])
def test_much_that_was_made_meanwhile_counts_as_old(count: int, old: bool) -> None:
    gc.collect()
    with gc_paused():
        made: list[object] = [[] for _ in range(count)]
    assert old is not any(each is made for each in gc.get_objects(generation=0))


def test_what_others_took_from_the_collector_stays_taken() -> None:
    gc.freeze()
    with gc_paused():
        _made: list[object] = [[] for _ in range(20_000)]
    assert gc.get_freeze_count()


def test_what_others_took_is_not_counted_for_a_few_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    """To count them takes milliseconds a million."""
    monkeypatch.setattr(gc, "get_freeze_count", pytest.fail)
    with gc_paused():
        pass
