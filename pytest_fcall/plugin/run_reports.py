"""Reports that are written when a run has ended."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from pytest_fcall.plugin.session import suites_of
from pytest_fcall.plugin.settings import STEP_SUMMARY, usage_errors, wants_step_summary
from pytest_fcall.reporting.reports.report import Report
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.session.extensions import merged_names
from pytest_fcall.session.result.kept_runs import load_run
from pytest_fcall.session.result.report_files import (
    KINDS,
    ReportFile,
    ReportWriter,
    check_folder,
    parse_report,
    report_text,
    write_report,
    writer_of,
)
from pytest_fcall.session.result.run_report import MOST_EARLIER, report_of
from pytest_fcall.session.result.suite_scores import Suites
from pytest_fcall.tracking.run_file import RunFileError, run_paths

_REPORTS = pytest.StashKey[Sequence[ReportFile]]()


def reports_of(config: pytest.Config) -> Sequence[ReportFile]:
    """The reports that the command line and the configuration name. Raises UsageError.

    Whatever cannot be written is refused before anything runs and costs.
    """
    if _REPORTS not in config.stash:
        with usage_errors(config):
            config.stash[_REPORTS] = _named_reports(config)
    return config.stash[_REPORTS]


def _named_reports(config: pytest.Config) -> list[ReportFile]:
    added, suites = _added_kinds(config), [*suites_of(config)]
    folders = {"ini": config.rootpath, "option": config.invocation_params.dir}
    named = {"ini": config.getini("fc_report"), "option": config.getoption("fc_report")}
    files = [parse_report(text, folders[where], added, suites) for where, texts in named.items() for text in texts]
    for file in files:
        if file.path:
            check_folder(file.path if file.is_of_suite else file.path.parent)
    return files


def _added_kinds(config: pytest.Config) -> Mapping[str, ReportWriter]:
    """The kinds of reports of other packages. Raises SettingError where a name is taken."""
    return merged_names("kind of report", KINDS, config.hook.pytest_fcall_report_kinds(config=config))


def write_reports(config: pytest.Config, path: Path, suites: Suites) -> list[str]:
    """Write all reports of the run that is kept in `path`; return lines for the terminal."""
    earlier = [each for each in run_paths(config.rootpath) if each.name < path.name]
    try:
        report = report_of(load_run(path), earlier[-MOST_EARLIER:], suites)
    except RunFileError as error:  # such as one that is too large to be read
        return [f"no report is written: {error}"]
    added, lines = _added_kinds(config), list[str]()
    for file in reports_of(config):
        lines += [] if file.is_of_suite else _written(config, file, report, writer_of(file.kind, added))
    if wants_step_summary(config):
        lines += _added_to_summary(Path(os.environ[STEP_SUMMARY]), report)
    return lines


def _written(config: pytest.Config, file: ReportFile, report: Report, writer: ReportWriter) -> list[str]:
    try:
        if file.path is None:
            return report_text(report, writer).splitlines()
        paths = write_report(file, report, writer)
    except OSError as error:
        return [f"the report is not written: {error.strerror or error}: {safe_line(str(file.path))}"]
    except Exception as error:  # the code of another package
        return [f"the report {file.kind} is not written: {type(error).__name__}: {safe_line(str(error))}"]
    return [f"report: {safe_line(_shown(path, config.invocation_params.dir))}" for path in paths]


def _shown(path: Path, folder: Path) -> str:
    return os.path.relpath(path, folder) if path.is_relative_to(folder) else str(path)


def _added_to_summary(path: Path, report: Report) -> list[str]:
    """Add the report to what other steps of the job have written."""
    try:
        with path.open("a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(report_text(report, writer_of("md", {})))
    except OSError as error:
        return [f"the summary of the job is not written: {error.strerror}: {safe_line(str(path))}"]
    return []
