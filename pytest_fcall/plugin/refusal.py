"""The end of a run before its first test: it cannot be what was asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import pytest

from pytest_fcall.cases.file_names import is_read_as_id
from pytest_fcall.plugin.redaction import shown, usage_error

_ASKING_FIXTURES: Final = frozenset({"fc_model", "fc_judge", "fc_wire"})


def refuse(session: pytest.Session, reason: str) -> bool:
    """Raise UsageError. In a worker, which cannot end the run, keep the tests from running and tell the controller."""
    if (output := getattr(session.config, "workeroutput", None)) is None:
        raise usage_error(session.config, reason)
    output["fcall_refusal"] = shown(session.config, reason)
    return True


def check_argument(config: pytest.Config, arg: str) -> None:
    """Raise UsageError for the path of a case file, with an id or not, that pytest would take for another path."""
    path = arg
    while path and not Path(config.invocation_params.dir, path).is_file():
        path = path.rpartition("::")[0]
    if is_read_as_id(path):
        from pytest_fcall.reporting.safe_text import safe_line

        reason = "pytest takes `[` and `::` for the beginning of an id; rename the file, or run its folder"
        raise pytest.UsageError(safe_line(f"{path}: {reason}: pytest {Path(path).parent.as_posix()}"))


def no_case_reason(session: pytest.Session, not_collected: Iterable[Path]) -> str | None:
    """Why there is no case for the model of the command line, or none in a folder that it names; None where there is.

    A run that was narrowed may have left out all of them.
    """
    from pytest_fcall.plugin.accepting import narrowing_options

    config = session.config
    if any(narrowing_options(config)):
        return None
    asking = config.pluginmanager.has_plugin("fcall-hooks") or any(map(asks_by_fixture, session.items))
    empty = next(_empty_arguments(session), None)
    if asking and empty is None:
        return None
    if empty is None or not asking:
        return f"--fc-model: there is no case in {', '.join(config.args)}; {_hint(config, not_collected)}"
    below = [path for path in not_collected if path.is_relative_to(Path(config.invocation_params.dir, empty))]
    return f"--fc-model: there is no case in {empty}; {_hint(config, below)}"


def asks_by_fixture(item: pytest.Item) -> bool:
    """Whether a test written in Python asks models."""
    return not _ASKING_FIXTURES.isdisjoint(getattr(item, "fixturenames", ()))


def _empty_arguments(session: pytest.Session) -> Iterator[str]:
    """The folders of the command line in which nothing was collected."""
    config = session.config
    if config.args_source is not pytest.Config.ArgsSource.ARGS or config.option.pyargs:
        return
    folders = {folder for path in {item.path for item in session.items} for folder in path.parents}
    for arg in config.args:
        path = Path(config.invocation_params.dir, arg)
        if path.is_dir() and path.resolve() not in folders and path not in folders:
            yield arg


def _hint(config: pytest.Config, not_collected: Iterable[Path]) -> str:
    from pytest_fcall.plugin.uncollected import uncollected_files

    if (found := next(uncollected_files(config, not_collected), None)) is not None:
        return f"{found[0]} looks like a case file: {found[1]}"
    globs = ", ".join(config.getini("fc_files"))
    return f"case files are *.fc.yaml anywhere, and YAML files that fc_files names ({globs})"
