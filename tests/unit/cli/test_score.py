"""Work that `fcall score` spreads over processes."""

from __future__ import annotations

import os
import signal

import pytest

from pytest_fcall.cli.score.workers import map_in_order

# Under xdist there are threads here; the command itself has none when it forks.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


def squared(number: int) -> int:
    return number * number


def blocked(_: int) -> bool:
    return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ())


@pytest.mark.parametrize("processes", [1, 2])
def test_results_come_in_the_order_of_what_they_are_made_from(processes: int) -> None:
    assert [*map_in_order(squared, range(50), processes)] == [number * number for number in range(50)]


@pytest.mark.skipif(os.name == "nt", reason="no signals are held back")
def test_an_interrupt_reaches_the_parent_alone() -> None:
    assert all(map_in_order(blocked, range(4), 2))
    assert not blocked(0)
