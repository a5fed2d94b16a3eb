from __future__ import annotations

from collections.abc import Generator, Iterator

import pytest

from tests.independent.project import Project
from tests.independent.server import READY, ModelServer

SERVER = pytest.StashKey[ModelServer]()


@pytest.fixture(scope="session")
def independent(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModelServer]:
    """The server of all tests."""
    if not READY.exists():
        pytest.skip("no independent server is installed: make test-servers")
    with ModelServer(tmp_path_factory.mktemp("server") / "log") as server:
        pytestconfig.stash[SERVER] = server
        yield server


@pytest.fixture
def project(pytester: pytest.Pytester, independent: ModelServer) -> Project:
    """A project with cases about the weather."""
    return Project(pytester, independent.url)


@pytest.fixture(params=["chat", "responses"])
def api(request: pytest.FixtureRequest) -> str:
    """Each of the interfaces that the server has."""
    return str(request.param)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed and (server := item.config.stash.get(SERVER, None)):
        report.sections.append(("End of the server's log", server.log()))
    return report
