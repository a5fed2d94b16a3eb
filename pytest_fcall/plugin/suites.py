"""Public benchmarks in a run: cases without a file (`--fc-suite`), and answers in their own formats (`--fc-report`)."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol, TypeAlias, cast, runtime_checkable

import pytest

from pytest_fcall.cases.case_file import CaseFileContent, read_case_text
from pytest_fcall.cases.files import anywhere
from pytest_fcall.cases.suite import split_suite_name
from pytest_fcall.core.backend import Model
from pytest_fcall.core.case import Case
from pytest_fcall.core.conversation import Transcript
from pytest_fcall.core.files import replace_file
from pytest_fcall.core.gc_pause import gc_paused
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import Verdict
from pytest_fcall.plugin.collection import CaseFile
from pytest_fcall.plugin.hooks import register_hooks
from pytest_fcall.plugin.item import CaseItem
from pytest_fcall.plugin.models import split_model
from pytest_fcall.plugin.redaction import print_lines, secrets_of, usage_error
from pytest_fcall.plugin.run_reports import reports_of
from pytest_fcall.plugin.session import registry_of
from pytest_fcall.reporting.results import Result, Results
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.session.judge.samples import JudgedAnswer

SuiteRow: TypeAlias = "Mapping[str, Json]"


@runtime_checkable
class _ReportingSuite(Protocol):
    """A suite with files of its own."""

    def row(self, case: Case, reply: Reply, verdict: Verdict, /) -> SuiteRow:
        """The row of an answer."""
        ...

    def conversation_row(self, case: Case, transcript: Transcript, verdict: Verdict, /) -> SuiteRow:
        """The row of a conversation."""
        ...

    def files(
        self,
        rows: Mapping[str, Sequence[SuiteRow]],
        costs: Mapping[str, float | None],
        read_text: Callable[[str], str | None],
        /,
    ) -> Iterable[tuple[str, str]]:
        """The paths and texts of the files of some models; `read_text` gives what a file holds already."""
        ...


def write_suite_files(config: pytest.Config) -> None:
    """Register the writer of the suites' own files, where the command line or the configuration names some."""
    folders = {file.kind: file.path for file in reports_of(config) if file.is_of_suite and file.path}
    if folders:
        config.pluginmanager.register(SuiteReports(config, folders), "fcall-suite-reports")


class SuiteReports:
    """Adds the rows of suites to reports where cases run, and writes them where reports arrive."""

    def __init__(self, config: pytest.Config, folders: Mapping[str, Path]) -> None:
        self._config = config
        self._folders = folders
        self._rows: dict[str, SuiteRow] = {}
        self._faults: list[str] = []

    def pytest_sessionstart(self) -> None:
        """Refuse suites that have no files of their own."""
        suites = registry_of(self._config).suites
        for name in self._folders:
            if not isinstance(suites.get(name), _ReportingSuite):
                able = [known for known in suites if isinstance(suites[known], _ReportingSuite)]
                text = f"--fc-report: {name!r} has no files of its own; {', '.join(able)} has"
                raise usage_error(self._config, text)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Send the row along with the report."""
        report = yield
        if isinstance(item, CaseItem) and report.when == "call" and item.run and (judged := item.run.judged):
            case = item.run.case
            if case.suite in self._folders:
                row = secrets_of(self._config).redacted_fields(self._row(case, judged.result.shown))
                report.fcall_row = row  # type: ignore[attr-defined]  # as in `report`
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the row; where a test was run again, the last one counts."""
        if (row := getattr(report, "fcall_row", None)) is not None:
            self._rows[report.nodeid] = row

    def pytest_fcall_report(self, results: Results) -> None:
        """Write the files."""
        for name, folder in self._folders.items():
            own = [result for result in results.results if result.suite == name and result.nodeid in self._rows]
            models: dict[str, list[Result]] = {}
            for result in sorted(own, key=lambda result: result.place):
                models.setdefault(Model.by_id(result.model).name, []).append(result)
            rows = {model: [self._rows[result.nodeid] for result in of_it] for model, of_it in models.items()}
            costs = {model: _cost(of_it) for model, of_it in models.items()}
            try:
                _write(self._suite(name), rows, costs, folder)
            except OSError as error:
                self._faults.append(f"--fc-report: {folder} is not whole: {error.strerror or error}")

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Name the reports that could not be written after all."""
        for fault in self._faults:
            print_lines(terminalreporter, [safe_line(fault)])

    def _suite(self, name: str) -> _ReportingSuite:
        """A suite that `pytest_sessionstart` found to have files of its own."""
        return cast("_ReportingSuite", registry_of(self._config).suites[name])

    def _row(self, case: Case, shown: JudgedAnswer) -> SuiteRow:
        suite = self._suite(case.suite)
        if shown.answer.transcript is not None:
            transcript = shown.answer.transcript
            # Earlier conversations belong to the row of the case that they were held for.
            whole = transcript if shown.answer.before else replace(transcript, earlier=())
            return suite.conversation_row(case, whole, shown.verdict)
        return suite.row(case, shown.reply, shown.verdict)


def _write(
    suite: _ReportingSuite, rows: Mapping[str, Sequence[SuiteRow]], costs: Mapping[str, float | None], folder: Path
) -> None:
    """Write the files of a suite, which may look at what is there. Raises OSError."""

    def there(place: str) -> str | None:
        try:
            return (folder / place).read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return None

    for place, text in list(suite.files(rows, costs, there)) if rows else ():
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, [text.encode()])


def _cost(results: Iterable[Result]) -> float | None:
    """The cost of all of them; None where that of one is not known."""
    costs = [result.cost for result in results]
    return None if None in costs else sum(cost for cost in costs if cost is not None)


def run_suites(config: pytest.Config) -> None:
    """Collect the suites; files and folders only if the command line names them, too.

    Raises UsageError where something is said about a suite, and none is named.
    """
    if not config.getoption("fc_suite"):
        raise usage_error(config, "--fc-suite-path, --fc-pick and the like say something about --fc-suite: name one")
    _SuiteArguments(config).take_pasted()
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        config.args = []
    config.pluginmanager.register(SuiteRun(), "fcall-suites")


class SuiteRun:
    """Collects the suites of the command line."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        """Add the cases, before others choose among the items."""
        register_hooks(session.config)
        arguments = _SuiteArguments(session.config)
        picked: dict[str, set[str | None]] = {}
        for id_, model in arguments.picked:
            picked.setdefault(id_, set()).add(model)
        with gc_paused():
            for name, text in arguments.file_texts().items():
                file = SuiteFile.from_parent(session, path=session.config.rootpath / f"{name}.fc.yaml", text=text)
                items.extend(item for item in session.genitems(file) if _is_meant(item, picked))


class SuiteFile(CaseFile):
    """A suite as a case file in the root folder, which does not exist."""

    def __init__(self, *, text: str, **kwargs: object) -> None:
        super().__init__(**kwargs)
        self._found = read_case_text(
            text,
            self.path,
            root=self.config.rootpath,
            outside=anywhere(self.path),  # the command line says where the data is
            extensions=self.extensions,
        )
        wrong = [fault for fault in self._found.faults if fault.code != "bad-row"]
        if wrong and not hasattr(self.config, "workerinput"):
            hint = f"; {wrong[0].hint}" if wrong[0].hint else ""
            raise usage_error(self.config, f"--fc-suite: {safe_line(wrong[0].message + hint)}")

    def read(self) -> CaseFileContent:
        """The content that the file would have."""
        return self._found


class _SuiteArguments:
    """The suites of the command line, and what it says about them."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._named: dict[str, list[str]] = {}
        """The names on the command line, by suite."""
        for spec in config.getoption("fc_suite"):
            self._named.setdefault(split_suite_name(spec)[0], []).append(spec)

    @property
    def picked(self) -> list[tuple[str, str | None]]:
        """The ids that are picked, each with its model, if it has one."""
        text: str = self._config.getoption("fc_pick") or ""
        return [split_model(part.strip()) for part in text.split(",")] if text else []

    def file_texts(self) -> dict[str, str]:
        """The text of each file, by the name of its suite."""
        paths = self._paths()
        beside = {
            "pick": [*dict.fromkeys(id_ for id_, _ in self.picked)],
            "profile": self._config.getoption("fc_suite_profile"),
            "mode": self._config.getoption("fc_suite_mode"),
        }
        texts = {}
        for name, specs in self._named.items():
            path = paths.get(name) or paths.get("")
            said = {"path": str(Path(self._config.invocation_params.dir, path)) if path else None, **beside}
            texts[name] = json.dumps({"suite": specs, **{key: value for key, value in said.items() if value}})
        return texts

    def take_pasted(self) -> None:
        """Pick the cases whose ids were pasted back, as `bfcl.fc.yaml::simple_python_0`: there is no such file."""
        config = self._config
        files = {f"{name}.fc.yaml" for name in self._named}
        parted = [(arg, *arg.partition("::")[::2]) for arg in config.args]
        pasted = [
            (arg, id_) for arg, file, id_ in parted if id_ and file in files and not (config.rootpath / file).exists()
        ]
        if pasted:
            config.option.fc_pick = ",".join(id_ for _, id_ in pasted)
            config.args = [arg for arg in config.args if arg not in {arg for arg, _ in pasted}]

    def _paths(self) -> dict[str, str]:
        """The folders of the data, by suite; under "" for the suites without one of their own."""
        paths: dict[str, str] = {}
        for text in self._config.getoption("fc_suite_path"):
            name, equals, path = text.partition("=")
            of, path = (name, path) if equals and name in self._named else ("", text)
            if of in paths:
                whose = f"of {of}" if of else "of all; write NAME=DIR for that of one suite"
                raise usage_error(self._config, f"--fc-suite-path: {safe_line(path)} is the second place {whose}")
            paths[of] = path
        return paths


def _is_meant(item: pytest.Item, picked: Mapping[str, set[str | None]]) -> bool:
    """Whether a case is picked under its model."""
    id_, model = split_model(item.name)
    models = picked.get(id_, {None})
    return None in models or model in models
