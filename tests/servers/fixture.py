"""The fixture `server`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.servers.server import Server


@pytest.fixture
def server() -> Iterator[Server]:
    """A server for this test alone."""
    with Server() as running:
        yield running
