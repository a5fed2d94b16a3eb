"""Files of reports, by `PATH`, whose suffix says what kind it is, or `KIND:PATH`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from tempfile import TemporaryFile
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias

from pytest_fcall.core.files import replace_file
from pytest_fcall.core.message_text import clauses, did_you_mean
from pytest_fcall.reporting.reports.report import Report
from pytest_fcall.reporting.run_table import models_of
from pytest_fcall.session.endings import SettingError

ReportWriter: TypeAlias = Callable[[Report], Iterable[str | bytes]]
"""Writes a report, portion by portion."""

_LONGEST_NAME: Final = 60
"""Characters of a model in the name of its file."""


class ReportKind(NamedTuple):
    """A kind of report that is built in."""

    module: str
    """The module of `reporting.reports` with the writer, imported when it is needed."""
    suffix: str
    """The suffix of files that are of this kind if nothing else is said; empty for none."""
    title: str
    package: str = ""
    """The module that it needs beside those of every installation; `extra` brings it."""
    extra: str = ""
    kinds_by_suffix: Mapping[str, str] = MappingProxyType({})
    """The kinds that it stands for where the suffix of a file says so."""
    has_one_model: bool = False
    """Whether a file is about one model, so that each has a file of its own; it is no text to be printed."""


LIVE: Final = "live"
"""The kind of page that is written while the run goes on, too; a file of this name is of this kind."""

KINDS: Final[Mapping[str, ReportKind]] = MappingProxyType(
    {
        "html": ReportKind("page.page", ".html", "a page in one file, for a browser", "jinja2", "report"),
        LIVE: ReportKind(
            "page.page", "", "the same, and while the run goes on a page that shows how far it is", "jinja2", "report"
        ),
        "md": ReportKind("markdown", ".md", "Markdown, for the summary of a job and comments on pull requests"),
        "json": ReportKind("run_data", ".json", "all data of the run, as in .fcall/runs"),
        "csv": ReportKind("rows", ".csv", "a table, a row for each answer"),
        "github": ReportKind("annotations", "", "commands that GitHub shows at the lines of case files"),
        "junit": ReportKind("junit", ".xml", "JUnit XML, a suite for each file and model"),
        "ctrf": ReportKind("ctrf", "", "JSON in the Common Test Report Format"),
        "badge": ReportKind(
            "badge",
            "",
            "what shields.io draws a badge of, as JSON; badge:PATH.svg is a picture",
            kinds_by_suffix=MappingProxyType({".svg": "svg"}),
        ),
        "svg": ReportKind("badge_image", ".svg", "the badge as a picture"),
        "inspect": ReportKind(
            "inspect_log", ".eval", "a log of inspect_ai for each model", "inspect_ai", "inspect", has_one_model=True
        ),
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
        return usable_report(ReportFile(text, None))
    if not colon or len(kind) == 1:  # `C:` is a drive
        kind, name = _kind_of_suffix(text, known), text
    elif kind not in known:
        return _of_suite(kind, name, folder, known, suites)
    elif kind in KINDS:
        kind = KINDS[kind].kinds_by_suffix.get(Path(name).suffix.lower(), kind)
    return usable_report(ReportFile(kind, None if name in ("", "-") else folder / name))


def usable_report(file: ReportFile) -> ReportFile:
    """The report. Raises SettingError where what it needs is not installed, and where it cannot be printed."""
    kind = KINDS.get(file.kind)
    if kind and kind.package and find_spec(kind.package) is None:
        from pytest_fcall.core.commands import install_command

        raise SettingError(f"--fc-report: {file.kind} needs {kind.package}: {install_command(kind.extra)}")
    if kind and kind.has_one_model and file.path is None:
        raise SettingError(f"--fc-report: {file.kind}: needs a file, such as {file.kind}:run{kind.suffix}")
    return file


def _of_suite(kind: str, name: str, folder: Path, known: Sequence[str], suites: Iterable[str]) -> ReportFile:
    if kind in suites and name:
        return ReportFile(kind, folder / name, is_of_suite=True)
    if kind in suites:
        raise SettingError(f"--fc-report: {kind}: needs a folder, such as {kind}:out")
    hint = did_you_mean(kind, known)
    raise SettingError(clauses(f"--fc-report: {kind!r} is no kind of report", _listed(known), hint))


def check_folder(folder: Path) -> None:
    """Make the folder of a report. Raises SettingError where nothing can be written to it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise SettingError(f"--fc-report: nothing can be written to {folder}: {error.strerror or error}") from None


def write_report(file: ReportFile, report: Report, writer: ReportWriter) -> list[Path]:
    """Write a report into its file, or into one for each model; each is replaced as a whole. Raises OSError."""
    paths = list[Path]()
    for path, part in _parts(file, report):
        write_portions(path, writer(part))
        paths.append(path)
    return paths


def write_portions(path: Path, portions: Iterable[str | bytes]) -> None:
    """Replace a file as a whole, and make its folder where it is missing. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, map(_as_bytes, portions))


def report_text(report: Report, writer: ReportWriter) -> str:
    """A report that is printed."""
    return b"".join(map(_as_bytes, writer(report))).decode("utf-8", "backslashreplace")


def _as_bytes(portion: str | bytes) -> bytes:
    return portion if isinstance(portion, bytes) else portion.encode("utf-8", "backslashreplace")


def _parts(file: ReportFile, report: Report) -> Iterator[tuple[Path, Report]]:
    """The files of a report, each with what it is about."""
    if file.path is None:
        return
    models = models_of(report.results.results)
    if file.kind not in KINDS or not KINDS[file.kind].has_one_model or len(models) < 2:
        yield file.path, report
        return
    for model, name in zip(models, _names(models), strict=True):
        yield file.path.with_stem(f"{file.path.stem}.{name}"), _of_model(report, model)


def _of_model(report: Report, model: str) -> Report:
    """The report with the results of one model, and with those that no model could give: of faulty cases."""
    own = tuple(result for result in report.results.results if result.model in (model, ""))
    return replace(report, models=(model,), results=replace(report.results, results=own))


def _names(models: Iterable[str]) -> list[str]:
    """Each model as a part of the name of a file; those that some system takes for equal are numbered."""
    names = dict[str, str]()
    for model in models:
        plain = re.sub(r"[^\w.-]+", "-", model, flags=re.ASCII).strip("-.")[:_LONGEST_NAME] or "model"
        numbered = (plain if number == 1 else f"{plain}-{number}" for number in count(1))
        name = next(each for each in numbered if each.lower() not in names)
        names[name.lower()] = name
    return [*names.values()]


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
