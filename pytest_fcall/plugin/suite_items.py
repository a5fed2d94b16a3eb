"""`--fc-suite=NAME:PART`: a public benchmark without a case file, as if there were one in the root folder."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path

import pytest

from pytest_fcall.cases.case_file import CaseFile as ReadFile
from pytest_fcall.cases.case_file import read_case_text
from pytest_fcall.cases.suite import split_suite_name
from pytest_fcall.core.gc_pause import gc_paused
from pytest_fcall.plugin.collection import CaseFile
from pytest_fcall.plugin.hooks import register_hooks
from pytest_fcall.plugin.models import split_model
from pytest_fcall.reporting.safe_text import safe_line


def run_suites(config: pytest.Config) -> None:
    """Collect the suites; files and folders only if the command line names them, too.

    Raises UsageError where something is said about a suite, and none is named.
    """
    if not config.getoption("fc_suite"):
        raise pytest.UsageError("--fc-suite-path, --fc-pick and the like say something about --fc-suite: name one")
    _take_pasted(config)
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        config.args = []
    config.pluginmanager.register(SuiteRun(), "fcall-suites")


class SuiteRun:
    """Collects the suites of the command line."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        """Add the cases, before others choose among the items."""
        register_hooks(session.config)
        picked = _picked_of(session.config)
        with gc_paused():
            for name, text in _texts(session.config).items():
                file = SuiteFile.from_parent(session, path=session.config.rootpath / f"{name}.fc.yaml", text=text)
                items.extend(item for item in session.genitems(file) if _is_meant(item, picked))


class SuiteFile(CaseFile):
    """A suite as a case file in the root folder, which does not exist."""

    def __init__(self, *, text: str, **kwargs: object) -> None:
        super().__init__(**kwargs)
        self._found = read_case_text(text, self.path, root=self.config.rootpath, extensions=self.extensions)
        wrong = [fault for fault in self._found.faults if fault.code != "bad-row"]
        if wrong and not hasattr(self.config, "workerinput"):
            hint = f"; {wrong[0].hint}" if wrong[0].hint else ""
            raise pytest.UsageError(f"--fc-suite: {safe_line(wrong[0].message + hint)}")

    def read(self) -> ReadFile:
        """The content that the file would have."""
        return self._found


def _texts(config: pytest.Config) -> dict[str, str]:
    """The text of each file, by the name of its suite."""
    named, pick = _specs_by_suite(config), config.getoption("fc_pick")
    paths = _paths(config, named)
    beside = {
        "pick": [*dict.fromkeys(split_model(part.strip())[0] for part in pick.split(","))] if pick else None,
        "profile": config.getoption("fc_suite_profile"),
        "mode": config.getoption("fc_suite_mode"),
    }
    texts = {}
    for name, specs in named.items():
        path = paths.get(name) or paths.get("")
        said = {"path": str(Path(config.invocation_params.dir, path)) if path else None, **beside}
        texts[name] = json.dumps({"suite": specs, **{key: value for key, value in said.items() if value}})
    return texts


def _picked_of(config: pytest.Config) -> Mapping[str, set[str | None]]:
    """The models of the ids that are picked, by the ids."""
    picked: dict[str, set[str | None]] = {}
    for part in (config.getoption("fc_pick") or "").split(","):
        id_, model = split_model(part.strip())
        picked.setdefault(id_, set()).add(model)
    return picked


def _is_meant(item: pytest.Item, picked: Mapping[str, set[str | None]]) -> bool:
    """Whether a case is picked under its model."""
    id_, model = split_model(item.name)
    models = picked.get(id_, {None})
    return None in models or model in models


def _specs_by_suite(config: pytest.Config) -> dict[str, list[str]]:
    """The names on the command line, by suite."""
    named: dict[str, list[str]] = {}
    for spec in config.getoption("fc_suite"):
        named.setdefault(split_suite_name(spec)[0], []).append(spec)
    return named


def _paths(config: pytest.Config, named: Collection[str]) -> dict[str, str]:
    """The folders of the data, by suite; under "" for the suites without one of their own."""
    paths: dict[str, str] = {}
    for text in config.getoption("fc_suite_path"):
        name, equals, path = text.partition("=")
        of, path = (name, path) if equals and name in named else ("", text)
        if of in paths:
            whose = f"of {of}" if of else "of all; write NAME=DIR for that of one suite"
            raise pytest.UsageError(f"--fc-suite-path: {safe_line(path)} is the second place {whose}")
        paths[of] = path
    return paths


def _take_pasted(config: pytest.Config) -> None:
    """Pick the cases whose ids were pasted back, as `bfcl.fc.yaml::simple_python_0`: there is no such file to run."""
    files = {f"{name}.fc.yaml" for name in _specs_by_suite(config)}
    parted = [(arg, *arg.partition("::")[::2]) for arg in config.args]
    pasted = [
        (arg, id_) for arg, file, id_ in parted if id_ and file in files and not (config.rootpath / file).exists()
    ]
    if pasted:
        config.option.fc_pick = ",".join(id_ for _, id_ in pasted)
        config.args = [arg for arg in config.args if arg not in {arg for arg, _ in pasted}]
