"""Whether the tests see a mistake: each mutant is tried in a process of its own, in a copy of the project."""

from __future__ import annotations

import importlib
import json
import multiprocessing
import os
import shutil
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import accumulate
from pathlib import Path

import pytest
from coverage import CoverageData
from hypothesis import Phase, settings

from tests.mutants.operators import Mutant
from tests.mutants.rooms import Room

_FORKING = multiprocessing.get_context("fork")
_IMPORTED_BEFORE = (
    *("aiohttp", "deepdiff", "jsonschema_rs", "numpy", "openai", "pydantic", "regex", "scipy.stats"),
    *("statsmodels.api", "syrupy"),
)
_PLUGINS = ("_hypothesis_globals", "anyio", "hypothesis", "syrupy")
"""pytest warns of plugins that are there before it could rewrite them."""
_ARGUMENTS = (
    *("-q", "-x", "--no-header", "-n", "0"),
    *("-p", "no:randomly", "-p", "no:cacheprovider", "--hypothesis-profile=mutants"),
)
_ENOUGH_SECONDS = 20
"""What the tests of one mutant took together before it was there."""
_MOST_SECONDS = 600
"""For these, or for all tests of a room, on a machine that others use."""


class Workplace:
    """A copy of the project, and this process set up to import from it."""

    def __init__(
        self,
        project: Path,
        folder: Path,
        *,
        seconds_a_test: int = 60,
        imported_before: Sequence[str] = _IMPORTED_BEFORE,
    ) -> None:
        for each in project.iterdir():
            if not each.name.startswith("."):
                copy = shutil.copytree if each.is_dir() else shutil.copy2
                copy(each, folder / each.name)
        self.folder = folder
        self._arguments = (*_ARGUMENTS, f"--timeout={seconds_a_test}")
        self._changes = 0
        os.chdir(folder)
        sys.dont_write_bytecode = False  # or every trial would compile the copy anew
        sys.path.insert(0, str(folder))
        os.environ |= {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "", "OPENBLAS_NUM_THREADS": "1"}
        settings.register_profile(
            "mutants",
            deadline=None,
            database=None,
            derandomize=True,
            max_examples=15,  # as many as in `make test`
            phases=(Phase.explicit, Phase.generate),
        )
        for name in imported_before:
            importlib.import_module(name)

    def is_seen(self, mutant: Mutant, coverage: Coverage) -> bool:
        """Whether a test fails or does not end."""
        path = self.folder.joinpath(*mutant.module.split(".")).with_suffix(".py")
        original = path.read_bytes()
        self._write(path, mutant.source)
        try:
            tests = coverage.tests_of(path, mutant.lines)
            return bool(tests) and self.run(sorted({each.partition("::")[0] for each in tests}), _Chosen(tests)) != 0
        finally:
            self._write(path, original)

    def _write(self, path: Path, source: bytes) -> None:
        path.write_bytes(source)
        self._changes += 1
        os.utime(path, (self._changes, self._changes))  # bytecode is told from that of other mutants by this time

    def run(self, arguments: Sequence[str], *plugins: object) -> int:
        """Run pytest in a process of its own, and return its exit status; what does not end in time fails."""
        process = _FORKING.Process(target=partial(_run, self.folder, [*self._arguments, *arguments], plugins))
        process.start()
        process.join(_MOST_SECONDS)
        with suppress(ProcessLookupError):  # also what it has left behind
            os.killpg(process.pid or 0, signal.SIGKILL)
        process.join()
        return 1 if process.exitcode is None else process.exitcode

    def measured(self, room: Room) -> Coverage:
        """Run the tests of a room as it is, which must pass, and note what each runs through."""
        data, times = self.folder / ".coverage", _Times(self.folder / "times.json")
        data.unlink(missing_ok=True)
        covering = ["--cov", room.package, "--cov-context=test", "--cov-report="]
        if self.run([*covering, room.tests, *room.others], times):
            raise SystemExit(f"{room.package}: the tests fail without a mistake:\n{self.output}")
        return Coverage(data, times.read(), room.tests)

    @property
    def output(self) -> str:
        """What the latest run of pytest wrote."""
        return (self.folder / "output.txt").read_text("utf-8", "replace")


class Coverage:
    """Which tests run through which lines."""

    def __init__(self, path: Path, times: Mapping[str, float], own: str) -> None:
        self._data = CoverageData(str(path))
        self._data.read()
        self._times = times
        self._order = sorted(times, key=lambda test: (not test.startswith(own), times[test]))

    def tests_of(self, path: Path, lines: range) -> list[str]:
        """The tests that run through any of these lines; all, where an import does.

        Those of the room come first, and the quick ones before the slow. The others are as many as fit into the time.
        """
        contexts = self._data.contexts_by_lineno(str(path))
        found = {context.rpartition("|")[0] for line in lines for context in contexts.get(line, ())}
        chosen = [test for test in self._order if test in found or "" in found]
        ends = accumulate(self._times[test] for test in chosen)
        return [test for test, end in zip(chosen, ends, strict=True) if end < _ENOUGH_SECONDS]


class _Chosen:
    """Of all tests, takes those that were chosen, in their order."""

    def __init__(self, tests: Sequence[str]) -> None:
        self._places = {test: place for place, test in enumerate(tests)}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted((each for each in items if each.nodeid in self._places), key=self._place_of)

    def _place_of(self, item: pytest.Item) -> int:
        return self._places[item.nodeid]


class _Times:
    """Writes down how long each test took."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._times: dict[str, float] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._times[report.nodeid] = self._times.get(report.nodeid, 0.0) + report.duration

    def pytest_sessionfinish(self) -> None:
        self._path.write_text(json.dumps(self._times), "utf-8")

    def read(self) -> dict[str, float]:
        times: dict[str, float] = json.loads(self._path.read_text("utf-8"))
        return times


def _run(folder: Path, arguments: list[str], plugins: Sequence[object]) -> None:
    os.setsid()
    output = os.open(folder / "output.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for descriptor in (1, 2):
        os.dup2(output, descriptor)
    for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
        del sys.modules[name]  # they are to be those of the copy
    for name in _PLUGINS:
        plugin = sys.modules[name]
        plugin.__doc__ = f"{plugin.__doc__}\nPYTEST_DONT_REWRITE"
    status = int(pytest.main(arguments, plugins=[*plugins]))
    sys.stdout.flush()
    os._exit(status)  # whatever threads are left
