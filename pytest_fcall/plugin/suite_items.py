"""`--fc-suite=NAME:PART`: a public benchmark without a case file, as if there were one in the root folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from pytest_fcall.cases.case_file import CaseFile as ReadFile
from pytest_fcall.cases.case_file import read_case_text
from pytest_fcall.cases.files import anywhere
from pytest_fcall.cases.suite import split_suite_name
from pytest_fcall.core.gc_pause import gc_paused
from pytest_fcall.plugin.collection import CaseFile
from pytest_fcall.plugin.hooks import register_hooks
from pytest_fcall.plugin.models import split_model
from pytest_fcall.plugin.redaction import usage_error
from pytest_fcall.reporting.safe_text import safe_line


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

    def read(self) -> ReadFile:
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
