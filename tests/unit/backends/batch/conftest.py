from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_fcall.backends.batch_server import BatchInterface
from tests.servers import Server
from tests.unit.backends.batch.support import APIS, Project


@pytest.fixture(params=["openai", "anthropic", "gemini"])
def interface(request: pytest.FixtureRequest) -> BatchInterface:
    named: BatchInterface = request.param
    return named


@pytest.fixture
def project(tmp_path: Path, interface: BatchInterface) -> Iterator[Project]:
    """Three requests to a server of each kind."""
    with Server(APIS[interface]()) as server:
        yield Project(tmp_path, server, interface)
