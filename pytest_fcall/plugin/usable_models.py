"""Whether the models that the command line and the configuration name can be asked at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from pytest_fcall.core import Case, Model
from pytest_fcall.plugin.redaction import usage_error
from pytest_fcall.plugin.settings import settings_of
from pytest_fcall.session.models import BUILT_IN_KINDS, NamedModel

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_fcall.plugin.item import CaseItem
    from pytest_fcall.session.ask.types import Source

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
            raise usage_error(config, _unknown_kind(each, kinds, config.rootpath))


def _unknown_kind(named: NamedModel, kinds: list[str], root: Path) -> str:
    from pytest_fcall.reporting.safe_text import safe_line
    from pytest_fcall.schema.value_text import nearest

    kind = named.model.kind
    is_module = any((root / name).exists() for name in (f"{kind}.py", f"{kind}/__init__.py"))
    meant = f"python:{kind}" if is_module else nearest(kind, kinds)
    hint = f"; did you mean `{meant}:{named.model.name}`?" if meant else ""
    text = f"{_where(named)}: there is no model of kind {named.model.kind!r}{hint}; the kinds are {', '.join(kinds)}"
    return safe_line(text)


def _where(named: NamedModel) -> str:
    """The option or the setting that names the model."""
    return named.option if named.origin == "command line" else named.option.removeprefix("--").replace("-", "_")


def unusable_model(session: pytest.Session) -> str | None:
    """Why a model can answer no request of the cases that are to run; None where all can.

    A model whose recordings answer for all of its cases is not needed. All conftest files have been read by now.
    """
    from pytest_fcall.core import ModelUnavailable, check_backend
    from pytest_fcall.plugin.session import session_of
    from pytest_fcall.reporting.safe_text import safe_line
    from pytest_fcall.session.outcomes import CaseEnded

    nobody_is_asked = session_of(session.config).replies.open_requests is not None
    for named in session_of(session.config).settings.models:
        try:
            items = _items_of(session, named)
            if (first := next(items, None)) is None:
                continue
            source = session_of(session.config).replies.source(named)
            if source.backend is None or not (named.live or source.is_app) or nobody_is_asked:
                continue
            try:
                check_backend(source.backend)
            except ModelUnavailable:
                if _is_needed(first, source) or any(_is_needed(item, source) for item in items):
                    raise
        except (CaseEnded, ModelUnavailable) as error:
            return safe_line(f"{_where(named)}: {error}")
    return None


def _items_of(session: pytest.Session, named: NamedModel) -> Iterator[CaseItem]:
    """The items that ask this model: with no fixture in between, or with one that hands on what a person has typed."""
    from pytest_fcall.plugin.item import CaseItem

    is_typed = named.origin == "command line"
    for item in session.items:
        if not isinstance(item, CaseItem) or item.named is not named or item.is_skipped:
            continue
        if item.context.own_model or (is_typed and item.context.hands_model_on):
            yield item


def _is_needed(item: CaseItem, source: Source) -> bool:
    from pytest_fcall.plugin.session import session_of
    from pytest_fcall.session.ask.types import Question
    from pytest_fcall.session.outcomes import CaseEnded

    if not isinstance(item.case, Case) or item.context.changes_requests:
        return False
    try:
        question = Question.of(source, item.planned_request(source.settings), item.asker)
    except CaseEnded:  # the test says why
        return False
    return session_of(item.config).replies.would_ask(question)


def _is_recorded(config: pytest.Config, model: Model) -> bool:
    from pytest_fcall.backends.store import ReplyStore, store_path

    if any(config.rootpath.rglob(f"__fcall__/{model.folder}")):
        return True
    with closing(ReplyStore(settings_of(config).store or store_path(config.rootpath))) as store:
        return bool(store.files(model.id))


def _may_be_added(config: pytest.Config) -> bool:
    """Whether a conftest file that is read only while tests are collected adds kinds."""
    unread = (path for path in config.rootpath.rglob("conftest.py") if not config.pluginmanager.has_plugin(str(path)))
    return any(_HOOK in path.read_text("utf-8", "replace") for path in unread)
