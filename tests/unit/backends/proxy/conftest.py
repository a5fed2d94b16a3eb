from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.servers import Server
from tests.unit.backends.proxy.support import Between


@pytest.fixture
def between(server: Server) -> Iterator[Between]:
    with Between(server) as proxy:
        yield proxy
