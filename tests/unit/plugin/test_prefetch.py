from __future__ import annotations

from queue import Queue
from typing import Any

import pytest
from execnet.gateway_base import get_execmodel
from xdist import remote  # type: ignore[import-untyped]  # it has no types

from pytest_fcall.plugin.prefetch import dealt_places


@pytest.mark.parametrize(
    "queue",
    [Queue(), remote.TestQueue(get_execmodel("thread"))],
    ids=["until pytest-xdist 3.6", "since pytest-xdist 3.7"],
)
def test_a_worker_asks_ahead_of_what_it_was_dealt_alone(queue: Any) -> None:
    assert dealt_places(queue, 9) == []
    for place in (7, 3, 8, remote.Marker.SHUTDOWN):
        queue.put(place)

    assert dealt_places(queue, 2) == [7, 3]
    assert dealt_places(queue, 9) == [7, 3, 8]
    assert queue.get() == 7
