"""`--fc-report=live.html`: pages about a run that are written again while it goes on, by the process of its reports.

There is no thread: a page is written as tests begin and end, and while a test of this process waits for a reply. In
the end the report of the run takes its place.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from pytest_fcall.plugin.progress import LIVE_PAGE
from pytest_fcall.plugin.redaction import print_lines, shown, usage_error
from pytest_fcall.plugin.run_reports import reports_of
from pytest_fcall.plugin.session import session_of
from pytest_fcall.reporting.reports.live.page import Requests, RunProgress
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.session.result.report_files import LIVE, write_portions

if TYPE_CHECKING:
    from pytest_fcall.plugin.summary import Summary
    from pytest_fcall.reporting.reports.live.page import LiveWriter
    from pytest_fcall.reporting.results import Result

SECONDS: Final = 3.0
"""A page is written at most this often."""
_LEAST_SHARE: Final = 20
"""Writing takes at most one of so many seconds of a run."""
_NUMBER: Final = re.compile(r"(?<=[\s(])(?![45]\d\d\b)\d[\d.,]*(?=[\s):;]|$)")
"""Numbers, by which one error would look like several; those that may be a status of HTTP stay."""


def write_live_pages(config: pytest.Config) -> None:
    """Register the writer of the pages, and on workers the sender of their numbers of requests. Raises UsageError."""
    paths = [file.path for file in reports_of(config) if file.kind == LIVE]
    named = [path for path in paths if path]
    if len(named) < len(paths):
        raise usage_error(config, f"--fc-report: {LIVE} needs a file, such as {LIVE}:run.html")
    if config.option.collectonly or config.getoption("fc_dry_run"):
        return
    if hasattr(config, "workerinput"):
        config.pluginmanager.register(WorkerRequests(config), "fcall-worker-requests")
    else:
        config.pluginmanager.register(LivePage(config, named, SECONDS), LIVE_PAGE)


def _requests_here(config: pytest.Config) -> Requests:
    """The requests of this process."""
    now = session_of(config).replies.progress()
    return Requests(now.in_flight, now.done, now.failed, now.retried) if now else Requests()


class WorkerRequests:
    """Tells the process that writes the pages of the requests of a worker."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add the numbers of this moment to a report that leaves this process."""
        report.fcall_requests = [*_requests_here(self._config)]  # type: ignore[attr-defined]  # reports carry anything


class LivePage:
    """Notes what tests do, and writes the pages. `clock` gives seconds that never go back."""

    def __init__(
        self,
        config: pytest.Config,
        paths: Sequence[Path],
        seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._config = config
        self._paths = paths
        self._seconds = seconds
        self._clock = clock
        self._began = clock()
        self._offset = time.time() - self._began
        self._next = self._began
        """The time from which on the pages may be written again."""
        self._writer: LiveWriter | None = None
        self._total: int | None = None
        self._running: dict[str, float] = {}
        """The tests that are at work, and when they began."""
        self._done: set[str] = set()
        self._errors: Counter[str] = Counter()
        self._requests: dict[str, Requests] = {}
        """The requests of each worker."""
        self._faults: dict[Path, str] = {}
        """The first error by which a page could not be written."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> None:
        """Note the number of tests, if this process runs them."""
        self._total = session.testscollected or None

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """Note the number of tests, which is the same for all workers."""
        self._total = len(ids)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Note that a test is at work. With the first one the page is there: a run that is refused has none."""
        self._running[nodeid] = self._clock()
        if not self._done and len(self._running) == 1:
            self._began = self._running[nodeid]
        self.tick()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note errors, and how the requests of a worker are."""
        if requests := getattr(report, "fcall_requests", None):
            self._requests[str(getattr(report, "worker_id", ""))] = Requests(*requests)
        if report.failed and (report.when != "call" or not hasattr(report, "fcall")):
            self._errors[_error_kind(report)] += 1
        self.tick()

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Note that a test has ended."""
        self._running.pop(nodeid, None)
        self._done.add(nodeid)
        self.tick()

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Write the last state, which loads itself no more. Where there is a report it takes its place after this."""
        if self._done or self._running:
            self._running.clear()
            self._write(ended=True)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say, once, why pages were not written while the run went on."""
        print_lines(terminalreporter, (f"the live page was not written: {fault}" for fault in self._faults.values()))

    def tick(self) -> None:
        """Write the pages, if it is time."""
        before = self._clock()
        if before >= self._next:
            self._write(ended=False)
            after = self._clock()
            self._next = after + max(self._seconds, _LEAST_SHARE * (after - before))

    def _write(self, *, ended: bool) -> None:
        if self._writer is None:
            from pytest_fcall.reporting.reports.live.page import LiveWriter

            self._writer = LiveWriter(self._seconds)
        text = [*self._writer.write(self._state(ended=ended))]
        for path in self._paths:
            try:
                write_portions(path, text)
            except OSError as error:
                self._faults.setdefault(path, f"{error.strerror}: {safe_line(str(path))}")

    def _state(self, *, ended: bool) -> RunProgress:
        now = self._clock()
        running = sorted(((shown(self._config, test), now - since) for test, since in self._running.items()), key=_age)
        return RunProgress(
            written=now + self._offset,
            seconds=now - self._began,
            done=len(self._done),
            total=self._total,
            ended=ended,
            results=self._results(),
            running=running,
            requests=self._all_requests(),
            errors=self._errors,
        )

    def _results(self) -> Sequence[Result]:
        summary: Summary | None = self._config.pluginmanager.getplugin("fcall-results")
        return summary.results().results if summary else ()

    def _all_requests(self) -> Requests:
        if not self._config.pluginmanager.has_plugin("dsession"):
            return _requests_here(self._config)
        return Requests(*map(sum, zip(*self._requests.values(), strict=True)))


def _age(test: tuple[str, float]) -> float:
    return -test[1]


def _error_kind(report: pytest.TestReport) -> str:
    """The first line of an error, without its numbers."""
    crash: Any = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash else str(report.longrepr)
    return _NUMBER.sub("#", text.split("\n", 1)[0])
