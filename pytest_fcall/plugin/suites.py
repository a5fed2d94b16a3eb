"""`--fc-suite=NAME:PART`: a public benchmark without a case file, as if there were one in the root folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_fcall.cases import CaseFile as ReadFile
from pytest_fcall.cases import read_case_text
from pytest_fcall.cases.suite import suite_and_parts
from pytest_fcall.plugin.collection import CaseFile
from pytest_fcall.plugin.running import put_to_work
from pytest_fcall.reporting import safe_line


def run_suites(config: pytest.Config) -> None:
    """Collect the suites; files and folders only if the command line names them, too.

    Raises UsageError where something is said about a suite, and none is named.
    """
    if not config.getoption("fc_suite"):
        raise pytest.UsageError("--fc-suite-path, --fc-pick and the like say something about --fc-suite: name one")
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        config.args = []
    config.pluginmanager.register(SuiteRun(), "fcall-suites")


class SuiteRun:
    """Collects the suites of the command line."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        """Add the cases, before others choose among the items."""
        put_to_work(session.config)
        for name, text in _texts(session.config).items():
            file = SuiteFile.from_parent(session, path=session.config.rootpath / f"{name}.fc.yaml", text=text)
            items.extend(session.genitems(file))


class SuiteFile(CaseFile):
    """The case file that there would be."""

    def __init__(self, *, text: str, **kwargs: object) -> None:
        super().__init__(**kwargs)
        self._found = read_case_text(text, self.path, root=self.config.rootpath, extensions=self.extensions)
        wrong = [fault for fault in self._found.faults if fault.code != "bad-row"]
        if wrong and not hasattr(self.config, "workerinput"):
            hint = f"; {wrong[0].hint}" if wrong[0].hint else ""
            raise pytest.UsageError(f"--fc-suite: {safe_line(wrong[0].message + hint)}")

    def read(self) -> ReadFile:
        """What the file would say."""
        return self._found


def _texts(config: pytest.Config) -> dict[str, str]:
    """What each file would say, by the name of its suite."""
    named: dict[str, list[str]] = {}
    for spec in config.getoption("fc_suite"):
        named.setdefault(suite_and_parts(spec)[0], []).append(spec)
    path, pick = config.getoption("fc_suite_path"), config.getoption("fc_pick")
    beside = {
        "path": str(Path(config.invocation_params.dir, path)) if path else None,
        "pick": [part.strip() for part in pick.split(",")] if pick else None,
        "profile": config.getoption("fc_suite_profile"),
        "mode": config.getoption("fc_suite_mode"),
    }
    said = {key: value for key, value in beside.items() if value}
    return {name: json.dumps({"suite": specs, **said}) for name, specs in named.items()}
