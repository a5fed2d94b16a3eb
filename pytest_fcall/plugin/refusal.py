"""Refusals: errors that end a run before its first test, since it cannot do what the command line asks for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from pytest_fcall.cases.file_names import is_read_as_id
from pytest_fcall.core.backend import Model
from pytest_fcall.core.case import Case
from pytest_fcall.core.files import project_folders, shared_folders
from pytest_fcall.plugin.redaction import shown, usage_error
from pytest_fcall.plugin.settings import settings_of
from pytest_fcall.session.models import BUILT_IN_KINDS, NamedModel

if TYPE_CHECKING:
    from pytest_fcall.plugin.item import CaseItem
    from pytest_fcall.session.ask.types import Source


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
    """The reason why the model, or a folder, of the command line has no case; None where each has one.

    A run that was narrowed may have left out all of them.
    """
    from pytest_fcall.plugin.acceptance import narrowing_options

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
    from pytest_fcall.plugin.collection_findings import uncollected_files

    if (found := next(uncollected_files(config, not_collected), None)) is not None:
        return f"{found[0]} looks like a case file: {found[1]}"
    globs = ", ".join(config.getini("fc_files"))
    return f"case files are *.fc.yaml anywhere, and YAML files that fc_files names ({globs})"


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
    from pytest_fcall.core.message_text import clauses, suggestion
    from pytest_fcall.reporting.safe_text import safe_line
    from pytest_fcall.session.model_suggestion import meant_by_kind

    fault = f"{_where(named)}: there is no model of kind {named.model.kind!r}"
    meant = meant_by_kind(named.model.kind, named.model.name, kinds, root)
    return safe_line(clauses(fault, f"the kinds are {', '.join(kinds)}", suggestion(meant)))


def _where(named: NamedModel) -> str:
    """The option or the setting that names the model."""
    return named.option if named.origin == "command line" else named.option.removeprefix("--").replace("-", "_")


def unusable_model(session: pytest.Session) -> str | None:
    """The reason why a model can answer no request of the cases that are to run; None where all models can.

    A model whose recordings answer for all of its cases is not needed. All conftest files have been read by now.
    """
    from pytest_fcall.core.backend import ModelUnavailable, check_backend
    from pytest_fcall.plugin.session import session_of
    from pytest_fcall.reporting.safe_text import safe_line
    from pytest_fcall.session.endings import CaseEnded

    only_plans = session_of(session.config).replies.open_requests is not None
    for named in session_of(session.config).settings.models:
        try:
            items = _items_of(session, named)
            if (first := next(items, None)) is None:
                continue
            source = session_of(session.config).replies.source(named)
            if source.backend is None or not (named.live or source.is_app) or only_plans:
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
    from pytest_fcall.session.endings import CaseEnded

    if not isinstance(item.case, Case) or item.context.changes_requests:
        return False
    try:
        question = Question.of(source, item.planned_request(source.settings), item.asker)
    except CaseEnded:  # the test says why
        return False
    return session_of(item.config).replies.would_ask(question)


def _is_recorded(config: pytest.Config, model: Model) -> bool:
    from pytest_fcall.backends.store import ReplyStore, store_path

    if any((folder / model.folder).exists() for folder in shared_folders(config.rootpath)):
        return True
    with closing(ReplyStore(settings_of(config).store or store_path(config.rootpath))) as store:
        return bool(store.files(model.id))


def _may_be_added(config: pytest.Config) -> bool:
    """Whether a conftest file that is read only while tests are collected adds kinds."""
    found = (folder / "conftest.py" for folder in project_folders(config.rootpath))
    unread = (path for path in found if path.is_file() and not config.pluginmanager.has_plugin(str(path)))
    return any(_HOOK in path.read_text("utf-8", "replace") for path in unread)
