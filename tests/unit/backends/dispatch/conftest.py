from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing

import pytest

from pytest_fcall.backends.dispatch.job import DispatchLimits
from tests.unit.backends.dispatch.support import Run

Start = Callable[[DispatchLimits], Run]


@pytest.fixture
def start() -> Iterator[Start]:
    """Start a dispatcher in time that jumps; it is closed after the test."""
    with ExitStack() as stack:

        def begin(limits: DispatchLimits) -> Run:
            run = Run(limits)
            stack.enter_context(closing(run.dispatcher))
            return run

        yield begin


@pytest.fixture
def caplog(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """What the test logs, without what is logged as the garbage of earlier tests is collected."""
    gc.collect()
    caplog.clear()
    return caplog


@pytest.fixture
def run(start: Start) -> Run:
    return start(DispatchLimits())
