"""The text of a case that failed, as pytest prints it: in colour, and by its first line where pytest repeats it."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_fcall.core.message_text import plural_text
from pytest_fcall.plugin.report import CALLS_TITLE, case_report
from pytest_fcall.reporting.terminal import ASCII, UNICODE

if TYPE_CHECKING:
    import pytest
    from _pytest._io import TerminalWriter

_LEAST_REPEATED: Final = 2
"""A cause of fewer lines is as short as the sentence that would stand for it."""
_WRONG: Final = re.compile(rf" +({re.escape(UNICODE.wrong)}|{re.escape(ASCII.wrong)}) |(?:  )?- ")
_RIGHT: Final = re.compile(rf" +({re.escape(UNICODE.right)}|{re.escape(ASCII.right)}) |(?:  )?\+ ")


class Crash(NamedTuple):
    """The part of a failure that pytest repeats in its short summary, and other reports take as its message."""

    path: str
    lineno: int
    message: str

    def __str__(self) -> str:
        """The failure in a line, for `--tb=line`."""
        return f"{self.path}:{self.lineno}: {self.message}"


class CaseText:
    """The text of a failed case, in the place of a traceback."""

    def __init__(self, text: str, path: str, line: int) -> None:
        self._lines = text.split("\n")
        self.reprcrash = Crash(path, line, self._lines[0])
        self.same_as = ""
        """The test whose text has the same cause, so that the terminal need not show it again."""
        self.repeats = 0
        """The number of tests that have the same cause, and leave it to this text."""

    @property
    def lines(self) -> Sequence[str]:
        """The lines of the whole text."""
        return self._lines

    def __str__(self) -> str:
        """The whole text, which a report in a file needs."""
        return "\n".join(self._lines)

    def toterminal(self, out: TerminalWriter) -> None:
        """Print the text, each cause once."""
        first, *rest = self._shown()
        out.line(first, red=True, bold=True)
        for line in rest:
            out.line(line, red=_WRONG.match(line) is not None, green=_RIGHT.match(line) is not None)

    def _shown(self) -> Iterator[str]:
        if self.same_as:
            yield self._lines[0]
            yield f"  for the same reason as {self.same_as}"
            return
        yield from self._lines
        if self.repeats:
            yield f"  and so for {plural_text(self.repeats, 'more test')}"


class PrintedCauses:
    """The causes that were printed, each with the text that has it."""

    def __init__(self) -> None:
        self._texts: dict[tuple[str, ...], tuple[str, CaseText]] = {}

    def add(self, nodeid: str, case: str, text: CaseText) -> None:
        """Add the text of a failure without a verdict. A cause that is there already is left to the first text."""
        if cause := _cause(text.lines, case):
            first_id, first = self._texts.setdefault(cause, (nodeid, text))
            if first is not text:
                first.repeats += 1
                text.same_as = first_id


def test_name(report: pytest.TestReport) -> str:
    """The name of a plain test, which commands that are for it alone have in them."""
    return report.nodeid.rpartition("::")[2]


def shorten_skips(reports: Iterable[pytest.TestReport]) -> None:
    """Leave a cause that several skipped tests share to the first of them, for pytest's list of skipped tests."""
    groups: dict[tuple[str, ...], list[tuple[pytest.TestReport, str, int, list[str]]]] = {}
    for report in reports:
        attached = case_report(report)
        if attached and isinstance(report.longrepr, tuple):
            path, line, reason = report.longrepr
            lines = reason.split("\n")
            name = attached.result.case if attached.result else test_name(report)
            groups.setdefault(_cause(lines, name), []).append((report, path, line, lines))
    groups.pop((), None)
    for (first, path, line, lines), *others in groups.values():
        if others:
            more = f"  and so for {plural_text(len(others), 'more test')}"
            first.longrepr = path, line, "\n".join([*lines, more])
            for other, other_path, other_line, own in others:
                other.longrepr = other_path, other_line, own[0]


def print_passed(terminalreporter: pytest.TerminalReporter) -> None:
    """The calls of passed cases, as pytest shows what passed tests print."""
    shown = [
        (report, text)
        for report in terminalreporter.stats.get("passed", ())
        for title, text in getattr(report, "sections", ())
        if title == CALLS_TITLE
    ]
    if shown:
        terminalreporter.section("calls of passed cases", sep="=")
    for report, text in shown:
        terminalreporter.section(report.nodeid, sep="_")
        terminalreporter.write(text)


class SilentReports:
    """The reports that pytest keeps without printing them.

    It keeps two of each test, and looks through all of them for each failure: that took ten seconds for 1,000 failures
    of 10,000 cases. `--durations` reads them in the end.
    """

    def __init__(self, config: pytest.Config) -> None:
        reporter: pytest.TerminalReporter | None = config.pluginmanager.get_plugin("terminalreporter")
        is_read = config.getoption("durations") is not None
        self._kept = {} if reporter is None or is_read else reporter.stats

    def drop(self, cases: Container[str]) -> None:
        """Drop the newest of them, as far as they are of these cases."""
        kept = self._kept.get("", [])
        while kept and not kept[-1].sections and kept[-1].nodeid in cases:
            kept.pop()


def _cause(lines: Sequence[str], case: str) -> tuple[str, ...]:
    """The lines by which one cause is recognised, without commands that name the case; none where they are few."""
    cause = tuple(line for line in lines[1:] if f"::{case}" not in line)
    return cause if len(cause) >= _LEAST_REPEATED else ()
