from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import cast

import pytest
from _pytest.mark import ParameterSet
from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]  # it has no types

from tests.by_night import by_night
from tests.frameworks import table
from tests.frameworks.framework import FRAMEWORKS, Framework
from tests.frameworks.model import answer
from tests.frameworks.project import Project
from tests.frameworks.visit import Visit
from tests.servers import Server

WRITES_TABLE = os.environ.get("TABLE") == "write"


@pytest.fixture
def provider() -> Iterator[Server]:
    """Plays all providers, for one test."""
    with Server(answer) as server:
        yield server


def _param(framework: Framework) -> ParameterSet:
    return (pytest.param if framework.often else by_night)(framework, id=framework.name)


@pytest.fixture(params=[_param(framework) for framework in FRAMEWORKS if framework.installed])
def framework(request: pytest.FixtureRequest) -> Framework:
    """Each framework whose environment is there."""
    assert isinstance(request.param, Framework)
    return request.param


@pytest.fixture(scope="session")
def visit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Framework], Visit]]:
    """What came of following the page of a framework, once for all tests."""
    visits: dict[str, Visit] = {}
    with Server(answer) as server, ExitStack() as stack:

        def visited(framework: Framework) -> Visit:
            if framework.name not in visits:
                begun = Visit(framework, tmp_path_factory.mktemp(framework.name), server)
                visits[framework.name] = stack.enter_context(begun)
            return visits[framework.name]

        yield visited


@pytest.fixture
def recorded(framework: Framework, visit: Callable[[Framework], Visit], tmp_path: Path, provider: Server) -> Project:
    """A project with what was recorded when its page was followed."""
    return visit(framework).copy(tmp_path / "project", provider, recorded=True)


@pytest.fixture
def project(framework: Framework, visit: Callable[[Framework], Visit], tmp_path: Path, provider: Server) -> Project:
    """A project in which nothing is recorded yet."""
    return visit(framework).copy(tmp_path / "project", provider, recorded=False)


@pytest.fixture
def found(record_property: Callable[[str, object], None]) -> Callable[[str, str, str], None]:
    """Say what belongs into a cell of the table; fails where the table says something else."""

    def say(name: str, column: str, cell: str) -> None:
        record_property("cell", (name, column, cell))
        if not WRITES_TABLE:
            said = table.documented()[name, column]
            assert cell == said, f"found {cell}, and the table says {said} (TABLE=write writes it anew)"

    return say


class PageScheduling(LoadScopeScheduling):  # type: ignore[misc]  # it has no types
    """Gives all tests of a page to the same worker, so that each page is followed once.

    `--dist loadgroup` would do, but no version of pytest-xdist groups anything with pytest 9.2
    (https://github.com/pytest-dev/pytest-xdist/issues/1386).
    """

    def _split_scope(self, nodeid: str) -> str:
        parameters = nodeid.partition("[")[2].removesuffix("]")
        pages = [page.name for page in FRAMEWORKS if f"{parameters}-".startswith(f"{page.name}-")]
        return max(pages, key=len, default=nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> PageScheduling:
    return PageScheduling(config, log)


class TableWriter:
    """Writes what was found, test by test, so that a run that is broken off has not been for nothing."""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when != "call":
            return
        for kind, found in report.user_properties:
            if kind == "cell":
                name, column, cell = cast("tuple[str, str, str]", found)
                table.write({(name, column): cell})


def pytest_configure(config: pytest.Config) -> None:
    if WRITES_TABLE and not hasattr(config, "workerinput"):
        config.pluginmanager.register(TableWriter())
