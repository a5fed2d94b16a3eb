"""Where reports are written: `PATH`, whose suffix says what kind it is, or `KIND:PATH`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryFile
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias

from pytest_fcall.core.whole_file import replace_file
from pytest_fcall.reporting.reports.report import Report
from pytest_fcall.schema.value_text import did_you_mean
from pytest_fcall.session.outcomes import SettingError

ReportWriter: TypeAlias = Callable[[Report], Iterable[str]]
"""Writes a report, portion by portion."""


class ReportKind(NamedTuple):
    """A kind of report that is built in."""

    module: str
    """The module of `reporting.reports` with the writer, imported when it is needed."""
    suffix: str
    """The suffix of files that are of this kind if nothing else is said; empty for none."""
    title: str
    package: str = ""
    """What it needs beside what every installation has: the extra `report` brings it."""


LIVE: Final = "live"
"""The kind of page that is written while the run goes on, too; a file of this name is of this kind."""

KINDS: Final[Mapping[str, ReportKind]] = MappingProxyType(
    {
        "html": ReportKind("page.page", ".html", "a page in one file, for a browser", "jinja2"),
        LIVE: ReportKind(
            "page.page", "", "the same, and while the run goes on a page that shows how far it is", "jinja2"
        ),
        "md": ReportKind("markdown", ".md", "Markdown, for the summary of a job and comments on pull requests"),
        "json": ReportKind("run_data", ".json", "all data of the run, as in .fcall/runs"),
        "csv": ReportKind("rows", ".csv", "a table, a row for each answer"),
        "github": ReportKind("annotations", "", "commands that GitHub shows at the lines of case files"),
        "badge": ReportKind("badge", "", "what shields.io draws a badge of, as JSON"),
    }
)


class ReportFile(NamedTuple):
    """A report that is to be written."""

    kind: str
    path: Path | None
    """None where it goes to the output."""
    is_of_suite: bool = False
    """Whether the kind is a suite, which writes files of its own into a folder."""


def parse_report(text: str, folder: Path, added: Iterable[str] = (), suites: Iterable[str] = ()) -> ReportFile:
    """The report that `KIND:PATH`, `PATH` or `KIND` names, with paths from `folder`. Raises SettingError.

    Kinds that other packages add are among those of `added`. A path of `-`, or none, is the output.
    """
    known = (*KINDS, *added)
    kind, colon, name = text.partition(":")
    if text in known:
        return ReportFile(usable_kind(text), None)
    if not colon or len(kind) == 1:  # `C:` is a drive
        kind, name = _kind_of_suffix(text, known), text
    elif kind not in known:
        return _of_suite(kind, name, folder, known, suites)
    return ReportFile(usable_kind(kind), None if name in ("", "-") else folder / name)


def usable_kind(kind: str) -> str:
    """The kind. Raises SettingError where what it needs is not installed."""
    if kind in KINDS and (package := KINDS[kind].package) and find_spec(package) is None:
        raise SettingError(f"--fc-report: {kind} needs {package}: pip install 'pytest-fcall[report]'")
    return kind


def _of_suite(kind: str, name: str, folder: Path, known: Sequence[str], suites: Iterable[str]) -> ReportFile:
    if kind in suites and name:
        return ReportFile(kind, folder / name, is_of_suite=True)
    if kind in suites:
        raise SettingError(f"--fc-report: {kind}: needs a folder, such as {kind}:out")
    hint = did_you_mean(kind, known)
    raise SettingError(f"--fc-report: {kind!r} is no kind of report{f'; {hint}' if hint else ''}; {_listed(known)}")


def check_folder(folder: Path) -> None:
    """Make the folder of a report. Raises SettingError where nothing can be written to it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise SettingError(f"--fc-report: nothing can be written to {folder}: {error.strerror or error}") from None


def write_report(path: Path, report: Report, writer: ReportWriter) -> None:
    """Replace the file as a whole. Raises OSError."""
    write_portions(path, writer(report))


def write_portions(path: Path, portions: Iterable[str]) -> None:
    """Replace a file as a whole, and make its folder where it is missing. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, (portion.encode("utf-8", "backslashreplace") for portion in portions))


def writer_of(kind: str, added: Mapping[str, ReportWriter]) -> ReportWriter:
    """The writer of a kind."""
    if kind in added:
        return added[kind]
    writer: ReportWriter = import_module(f"pytest_fcall.reporting.reports.{KINDS[kind].module}").write
    return writer


def _kind_of_suffix(path: str, known: Iterable[str]) -> str:
    suffix, name = Path(path).suffix.lower(), Path(path).name.lower()
    if name == f"{LIVE}{KINDS['html'].suffix}":
        return LIVE
    kinds = [name for name, kind in KINDS.items() if suffix and kind.suffix == suffix]
    if not kinds:
        raise SettingError(f"--fc-report: the suffix of {path!r} names no kind of report; {_listed(known)}")
    return kinds[0]


def _listed(known: Iterable[str]) -> str:
    suffixes = ", ".join(kind.suffix for kind in KINDS.values() if kind.suffix)
    return f"suffixes: {suffixes}; or write KIND:PATH with one of {', '.join(known)}"
