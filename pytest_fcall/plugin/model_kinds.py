"""The kinds of the models that the command line and the configuration name."""

from __future__ import annotations

from contextlib import closing

import pytest

from pytest_fcall.core import Model
from pytest_fcall.plugin.settings import settings_of
from pytest_fcall.session.models import BUILT_IN_KINDS, NamedModel

_HOOK = "pytest_fcall_backends"


def check_kinds(config: pytest.Config) -> None:
    """Raise UsageError for a model that nothing installed could ask, and that no recording answers for."""
    settings = settings_of(config)
    named = (*settings.models, *([settings.judge] if settings.judge else []))
    if all(each.model.kind in BUILT_IN_KINDS for each in named):
        return
    kinds = sorted(
        {*BUILT_IN_KINDS, *(kind for added in config.hook.pytest_fcall_backends(config=config) for kind in added)}
    )
    for each in named:
        if not (each.model.kind in kinds or _is_recorded(config, each.model) or _may_be_added(config)):
            raise pytest.UsageError(_unknown_kind(each, kinds))


def _unknown_kind(named: NamedModel, kinds: list[str]) -> str:
    from pytest_fcall.reporting.safe_text import safe_line
    from pytest_fcall.schema.value_text import nearest

    typed = named.origin == "command line"
    where = named.option if typed else named.option.removeprefix("--").replace("-", "_")
    meant = nearest(named.model.kind, kinds)
    hint = f"; did you mean `{meant}:{named.model.name}`?" if meant else ""
    text = f"{where}: there is no model of kind {named.model.kind!r}{hint}; the kinds are {', '.join(kinds)}"
    return safe_line(text)


def _is_recorded(config: pytest.Config, model: Model) -> bool:
    from pytest_fcall.backends.store import ReplyStore, store_path

    if any(config.rootpath.rglob(f"__fcall__/{model.folder}")):
        return True
    path = store_path(config.rootpath)
    if not path.exists():
        return False
    with closing(ReplyStore(path)) as store:
        return bool(store.files(model.id))


def _may_be_added(config: pytest.Config) -> bool:
    """Whether a conftest file that is read only while tests are collected adds kinds."""
    unread = (path for path in config.rootpath.rglob("conftest.py") if not config.pluginmanager.has_plugin(str(path)))
    return any(_HOOK in path.read_text("utf-8", "replace") for path in unread)
