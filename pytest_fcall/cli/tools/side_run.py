"""The process that runs cases with one version of their tools, and notes what differs from the other version."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from pytest_fcall.cli.pytest_run import CaseFilesPlugin
from pytest_fcall.cli.tools.sides import NOTES, RESULTS, TASK, ToolSide
from pytest_fcall.core.case import Case, FaultyCase
from pytest_fcall.core.files import path_from_root, replace_file
from pytest_fcall.core.message_text import plural_text
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.plugin.collection import TOOL_FILE_KEY, CaseFile
from pytest_fcall.plugin.item import CaseItem
from pytest_fcall.plugin.redaction import usage_error
from pytest_fcall.plugin.report import case_report
from pytest_fcall.reporting.faults import fault_text
from pytest_fcall.reporting.result_json import results_to_json
from pytest_fcall.reporting.results import Results
from pytest_fcall.schema.tool_changes import tool_changes
from pytest_fcall.tracking.run_file import RunFile, write_run

_REFUSED = ("fc_accept", "fc_prune", "fc_shard")
_SIGNS = {"added": "+", "removed": "-", "changed": "~"}
_OPTIONS = (
    *("-q", "--no-header", "--tb=no", "-rN", "--assert=plain", "-p", "no:cacheprovider"),
    *("-o", "fc_runs=0", "-o", "fc_report=", "-o", "fc_step_summary=off", "-o", "fc_gates=", "-o", "fc_bisect="),
    *("--fc-vary=off", "--fc-confirm=0"),
)
"""Nothing is kept of such a run: it is no run of the project as it is."""


class _SidePlugin(CaseFilesPlugin):
    """Has the tools of one side offered. Refuses cases that cannot be read on both sides, and sides that are alike."""

    def __init__(self, side: ToolSide, other: ToolSide, folder: Path) -> None:
        self._side = side
        self._other = other
        self._folder = folder
        self._notes: dict[str, Json] = {}
        self._whys: dict[str, None] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        """Choose the files that tools are read from, in this process alone."""
        super().pytest_configure(config)
        config.option.fc_report = []  # those of the configuration are about the project as it is
        config.stash[TOOL_FILE_KEY] = self._side.tool_file

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Read the files with the tools of the other side as well, before anything is asked."""
        config = session.config
        if refused := [f"--{name.replace('_', '-')}" for name in _REFUSED if config.getoption(name)]:
            raise usage_error(config, f"tools are compared by whole runs, of which nothing stays: no {refused[0]}")
        left_out = self._leave_out_new_files(session)
        items = [item for item in session.items if isinstance(item, CaseItem)]
        if left_out and not items:
            raise usage_error(config, f"nothing to compare: {', '.join(left_out)}")
        changes, faults = self._changes(items, config)
        if faults:
            raise usage_error(config, "\n".join(["these cases cannot be judged on both sides:", *faults]))
        if items and not changes:
            same = f"{self._side.title} and {self._other.title}"
            why = "functions of `python:` entries and sources of plugins are those of today on both"
            raise usage_error(config, f"the tools of these cases are the same on both sides: {same} ({why})")
        self._notes = {
            "items": len(items),
            "changes": changes,
            "left_out": left_out,
            "expected": [[item.location[0], item.case.id, _expected(item.case)] for item in items],
        }
        self._write_notes()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take why a case has no answer. A missing recording is told by the results."""
        attached = case_report(report)
        if report.failed and attached and attached.result and not (attached.result.answered or attached.missing):
            self._whys[report.longreprtext.strip().partition("\n")[0]] = None

    def _write_notes(self) -> None:
        notes = self._notes | {"whys": [*self._whys]}
        replace_file(self._folder / NOTES, [json.dumps(notes).encode()], 0o600)

    @pytest.hookimpl
    def pytest_fcall_report(self, results: Results) -> None:
        """Write the results to the private folder, and why there are none."""
        self._write_notes()
        models = tuple(dict.fromkeys(result.model for result in results.results))
        write_run(self._folder / RESULTS, RunFile(self._side.title, "", results_to_json(results), models))

    def _leave_out_new_files(self, session: pytest.Session) -> list[str]:
        """Deselect the cases of files that are new since a revision, and whose tools it does not have; say which."""
        told: list[str] = []
        for file in dict.fromkeys(item.parent for item in session.items if isinstance(item.parent, CaseFile)):
            side = next((side for side in (self._side, self._other) if side.lacks(file.path)), None)
            if side and not any(isinstance(entry, Case) for entry in self._entries(file, side)):
                new = [item for item in session.items if item.parent is file]
                session.items[:] = [item for item in session.items if item.parent is not file]
                session.config.hook.pytest_deselected(items=new)
                name = path_from_root(file.path, session.config.rootpath)
                told.append(f"{name} is new since {side.title} ({plural_text(len(new), 'case')} left out)")
        return told

    def _changes(self, items: Sequence[CaseItem], config: pytest.Config) -> tuple[list[str], list[str]]:
        """The differences between the tools of both sides, and the faults of cases, each once."""
        changes: dict[str, None] = {}
        faults: dict[str, None] = {}
        sides = self._side, self._other
        for file in dict.fromkeys(item.parent for item in items if isinstance(item.parent, CaseFile)):
            read = [self._entries(file, side) for side in sides]
            left_out = {entry.id for entry in read[0]} - {item.case.id for item in items if item.parent is file}
            tools = []
            for side, entries in zip(sides, read, strict=True):
                wanted = [entry for entry in entries if entry.id not in left_out]
                tools.append({tool.name: tool for case in wanted if isinstance(case, Case) for tool in case.tools})
                faults |= dict.fromkeys(_fault_lines(side, wanted, config))
            changes |= dict.fromkeys(_change_lines(*([*each.values()] for each in tools)))
        return [*changes], [*faults]

    def _entries(self, file: CaseFile, side: ToolSide) -> Sequence[Case | FaultyCase]:
        """The cases of a file with the tools of a side."""
        file.config.stash[TOOL_FILE_KEY] = side.tool_file
        try:
            read = file.read()
        except pytest.Collector.CollectError:
            return ()
        finally:
            file.config.stash[TOOL_FILE_KEY] = self._side.tool_file
        return read.entries if read else ()


def _fault_lines(side: ToolSide, entries: Sequence[Case | FaultyCase], config: pytest.Config) -> Iterator[str]:
    for entry in entries:
        if isinstance(entry, FaultyCase):
            for fault in entry.faults:
                yield f"{entry.id}, with the tools of {side.title}: {fault_text(fault, config.rootpath)}"


def _change_lines(before: Sequence[Tool], now: Sequence[Tool]) -> Iterator[str]:
    changes = tool_changes(before, now)
    if not changes and _as_offered(before) != _as_offered(now):
        yield "~ the order of tools or arguments"
    for change in changes:
        yield f"{_SIGNS[change.kind]} {change.tool}{': ' if change.details else ''}{', '.join(change.details)}"


def _as_offered(tools: Sequence[Tool]) -> str:
    """The tools as a model reads them, in their order."""
    return json.dumps([[tool.name, tool.description, tool.parameters] for tool in tools], default=dict)


def _expected(case: Case | FaultyCase) -> str:
    """The tools that a case expects, as the title of its group."""
    names = dict.fromkeys(call.tool for call in case.expected_calls) if isinstance(case, Case) else ()
    return ", ".join(names) or "no call"


def main(folder: str) -> int:
    """Run the cases of the task in a folder; what `fcall tools compare` reads is put beside it."""
    told = json.loads(Path(folder, TASK).read_text("utf-8"))
    side, other = (ToolSide(**each) for each in told["sides"])
    plugin = _SidePlugin(side, other, Path(folder))
    return int(pytest.main([*_OPTIONS, *told["arguments"]], plugins=[plugin]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
