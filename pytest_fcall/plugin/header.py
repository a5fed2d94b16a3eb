"""The header of a run: the models under test, and the model that judges."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from pytest_fcall.core import Model
from pytest_fcall.plugin.settings import settings_of


def header(config: pytest.Config) -> list[str]:
    """The lines of the run's header: the models, and the model that judges."""
    from pytest_fcall.reporting.header import header_lines, judge_line

    settings = settings_of(config)
    lines: list[str] = []
    if settings.models:
        lines += header_lines(
            [_shown(each.model, config.rootpath) for each in settings.models],
            origin=settings.models[0].origin,
            live=any(each.live for each in settings.models),
            profile=_profile(config),
        )
    if judge := settings.judge:
        lines.append(judge_line(judge.model.id, origin=judge.origin, live=judge.live))
    return lines


def _profile(config: pytest.Config) -> str:
    """The rules that judge: those of the suites of the command line, or ours, which files may change."""
    if not config.getoption("fc_suite"):
        return "strict by default"
    if asked := config.getoption("fc_suite_profile"):
        return str(asked)
    from pytest_fcall.cases.suite import split_suite_name
    from pytest_fcall.core.extension import profile_of
    from pytest_fcall.plugin.session import suites_of

    known = suites_of(config)
    names = [split_suite_name(spec)[0] for spec in config.getoption("fc_suite")]
    return ", ".join(dict.fromkeys(profile_of(known[name]) for name in names if name in known)) or "strict"


def _shown(model: Model, root: Path) -> str:
    """The model, with its grammar where it has one: its output is then not all its own."""
    if model.kind != "local":
        return model.id
    from pytest_fcall.backends.local import local_backend
    from pytest_fcall.backends.settings import SettingsError

    with suppress(SettingsError):  # asking the model raises it again
        grammar = local_backend(model, root).settings.get("grammar", "off")
        return model.id if grammar == "off" else f"{model.id}?grammar={grammar}"
    return model.id
