from __future__ import annotations

import gc
import multiprocessing
import shutil
import sys
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from multiprocessing.context import BaseContext
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import settings
from hypothesis.internal.conjecture import providers

from tests.by_night import is_night
from tests.compiled import compile_share
from tests.servers.server import LOOPBACK_CERTIFICATE
from tests.suite_tools import WITHOUT_TOOLS, keep_files_in_memory, stand_ins

pytest_plugins = ["pytester", "tests.servers.fixture"]

# How long an example takes depends on who else uses the machine.
settings.register_profile("patient", deadline=None, max_examples=15)
# Hypothesis tries the same examples each time where it finds that it runs in CI: right by day, a waste by night.
settings.register_profile("nightly", deadline=None, max_examples=1_000, derandomize=False)
settings.load_profile("patient")

keep_files_in_memory()

TESTS_RUN = pytest.StashKey[int]()
CAN_FORK = sys.platform != "win32"


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Begin the server that workers have processes forked from, while they collect tests."""
    if CAN_FORK:
        from tests.fork_server import ForkServer

        node.workerinput["fork_server"] = tuple(ForkServer.begun())


def pytest_configure(config: pytest.Config) -> None:
    """Have a worker compile its share and ask the server of the run, and examples by day depend on their test alone."""
    if not is_night(config):
        draw_from_no_sources()
    worker = getattr(config, "workerinput", None)
    if worker is None:
        return
    compile_share(config, int(worker["workerid"].removeprefix("gw")), worker["workercount"])
    if shared := worker.get("fork_server"):
        from tests.fork_server import ForkServer

        ForkServer(*shared).join()


def draw_from_no_sources() -> None:
    """Have Hypothesis draw no values from the sources of the modules that happen to be imported.

    To read them takes a worker longer than most properties do, and what it draws would depend on the tests before.
    """
    if hasattr(providers, "_get_local_constants"):
        providers._get_local_constants = lambda: providers._local_constants


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Iterator[None]:
    """Collect tests and what they import without a look for garbage: there is none, and millions of objects stay.

    Nor does the collector go through them later.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Have workers tell of a set-up or a clean-up only if it failed: to tell takes longer than most of them."""
    free_collector(item.session.stash)
    if not hasattr(item.config, "workerinput"):
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed:
            item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def free_collector(stash: pytest.Stash) -> None:
    """Take from the collector, every 200 tests, what earlier ones left: what pytest notes of each, modules, caches.

    Every run inside a test ends with a look for garbage, which would go through all of it.
    """
    stash[TESTS_RUN] = stash.get(TESTS_RUN, 0) + 1
    if not stash[TESTS_RUN] % 200:
        gc.collect()
        gc.freeze()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test whose program is not on this machine."""
    for mark in item.iter_markers("needs"):
        if shutil.which(mark.args[0]) is None:
            pytest.skip(f"{mark.args[0]} is not installed")


@pytest.fixture(scope="session")
def forked() -> ModuleType | None:
    """The module that forks processes, where they can be forked. It is imported here, so that no run forgets it."""
    return import_module("tests.forked") if CAN_FORK else None


@pytest.fixture
def forked_programs(forked: ModuleType | None) -> Iterator[Path]:
    """The folder of a `python`, a `pytest` and an `fcall` for shells, which are forked."""
    from tests.forked_programs import forked_programs

    with forked_programs() as folder:
        yield folder


@pytest.fixture
def processes(forked: ModuleType | None) -> BaseContext:
    """The context of further processes, which are forked where they can be."""
    return multiprocessing.get_context("spawn") if forked is None else forked.FORKING


@pytest.fixture
def python(request: pytest.FixtureRequest) -> str:
    """A Python for scripts that import what the package does: forked, where processes can be."""
    return str(request.getfixturevalue("forked_programs") / "python") if CAN_FORK else sys.executable


@pytest.fixture
def stood_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has what never changes looked up once, not in every run inside a test."""
    for name, other in stand_ins().items():
        monkeypatch.setattr(name, other, raising=False)


@pytest.fixture
def pytester(
    forked: ModuleType | None, stood_in: None, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> pytest.Pytester:
    """A project on a person's machine, whose runs load of all plugins only pytest-fcall and what comes with it.

    Processes of its runs, workers included, are forked: to start a new one takes ten times as long.
    """
    monkeypatch.setenv("PYTEST_ADDOPTS", WITHOUT_TOOLS)
    monkeypatch.delenv("CI", raising=False)
    # Clients of apps read all trusted certificates, some 150, even where no connection is encrypted.
    monkeypatch.setenv("SSL_CERT_FILE", str(LOOPBACK_CERTIFICATE))
    if forked is not None:
        monkeypatch.setattr("execnet.gateway_io.Popen2IOMaster", forked.Worker)
        monkeypatch.setattr(pytester, "runpytest_subprocess", partial(forked.run_pytest, pytester))
    return pytester
