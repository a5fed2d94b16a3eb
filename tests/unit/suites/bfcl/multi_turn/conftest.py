from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_fcall.suites.bfcl.multi_turn.conversations import CheckerProcess
from tests.unit.suites.bfcl.multi_turn.package import write_package


@pytest.fixture(scope="session")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the package lies."""
    folder = tmp_path_factory.mktemp("packages")
    write_package(folder, {})
    return folder


@pytest.fixture
def installed(package: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The package can be imported, and is forgotten afterwards."""
    monkeypatch.setattr(sys, "path", [str(package), *sys.path])
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "bfcl_eval"]:
        del sys.modules[name]


@pytest.fixture(scope="module")
def bench(package: Path) -> Iterator[CheckerProcess]:
    """One process for all tests of a module, in which the package can be imported."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(package), *sys.path])
        yield CheckerProcess()
