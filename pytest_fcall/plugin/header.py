"""The header of a run: the models under test, and the model that judges."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_fcall.core.backend import APP_KINDS, Model
from pytest_fcall.plugin.settings import settings_of

if TYPE_CHECKING:
    from pytest_fcall.reporting.header import AnswerSources
    from pytest_fcall.session.models import NamedModel


def header(config: pytest.Config) -> list[str]:
    """The lines of the run's header: the models, the model that judges, and the server that keeps replies."""
    from pytest_fcall.reporting.header import header_lines, judge_line

    settings = settings_of(config)
    lines: list[str] = []
    if settings.models:
        lines += header_lines(
            [_shown(each.model, config.rootpath) for each in settings.models],
            origin=settings.models[0].origin,
            answering=_answering(config, settings.models),
            profile=_profile(config),
        )
    if judge := settings.judge:
        lines.append(judge_line(judge.model.id, origin=judge.origin, answering=_answering(config, [judge])))
    if settings.store and lines:
        lines.append(f"fcall: replies: {settings.store.shown}")
    if lines and config.pluginmanager.has_plugin("dsession"):
        from pytest_fcall.plugin.workers import sharing_lines

        lines += sharing_lines(config, settings)
    return lines


def _answering(config: pytest.Config, models: Sequence[NamedModel]) -> AnswerSources:
    from pytest_fcall.reporting.header import AnswerSources

    settings = settings_of(config)
    live = any(each.live for each in models)
    if not live:
        run = settings.proxy and not settings.replay and all(_is_run(config, each) for each in models)
        return AnswerSources(live, settings.max_age, run)
    apps = all(each.model.kind in APP_KINDS for each in models)
    reuses = settings.record == "missing" and (settings.proxy or not apps)
    return AnswerSources(live, settings.max_age if reuses else 0, apps)


def _is_run(config: pytest.Config, named: NamedModel) -> bool:
    """Whether it is an app that runs where its models may not be asked."""
    if named.model.kind != "http":
        return named.model.kind == "python"
    from pytest_fcall.plugin.session import session_of
    from pytest_fcall.session.endings import CaseEnded

    try:
        return session_of(config).replies.source(named).is_started_here
    except CaseEnded:  # its cases say why
        return False


def _profile(config: pytest.Config) -> str:
    """The rules that judge: those of the suites of the command line, or ours, which files may change."""
    if not config.getoption("fc_suite"):
        return "strict by default"
    asked: str | None = config.getoption("fc_suite_profile")
    if asked == "strict":
        return asked
    from pytest_fcall.cases.suite import split_suite_name
    from pytest_fcall.core.extension import profile_of
    from pytest_fcall.plugin.session import suites_of

    known = suites_of(config)
    names = [split_suite_name(spec)[0] for spec in config.getoption("fc_suite")]
    own = [profile_of(known[name]) for name in names if name in known]
    if asked is not None:
        own = ["bfcl" if profile == "bfcl" or asked == "bfcl" else "original" for profile in own]
    return ", ".join(dict.fromkeys(own)) or "strict"


def _shown(model: Model, root: Path) -> str:
    """The id of a model, with the grammar that constrains its output, if there is one."""
    if model.kind != "local":
        return model.id
    from pytest_fcall.backends.local import local_backend
    from pytest_fcall.backends.settings import SettingsError

    with suppress(SettingsError):  # asking the model raises it again
        grammar = local_backend(model, root).settings.get("grammar", "off")
        return model.id if grammar == "off" else f"{model.id}?grammar={grammar}"
    return model.id
