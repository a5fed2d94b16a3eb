"""The pytest plugin of `fcall prompt`, which shows the prompt of a collected case instead of running it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pytest

from pytest_fcall.backends.known_secrets import secrets_of_settings
from pytest_fcall.cli.pytest_run import InProcessPlugin
from pytest_fcall.core.backend import CaseRefused, ModelUnavailable, backend_prompt, request_changes
from pytest_fcall.core.case import FaultyCase
from pytest_fcall.core.message_text import did_you_mean
from pytest_fcall.plugin.item import CaseItem
from pytest_fcall.plugin.redaction import secrets_of, shown
from pytest_fcall.plugin.session import registry_of
from pytest_fcall.reporting.faults import fault_text
from pytest_fcall.session.models import HOW_TO_NAME_A_MODEL_OUTSIDE_TESTS, NamedModel


class NoPrompt(Exception):
    """There is no prompt. The text says why, and what to do."""


@dataclass(frozen=True, slots=True)
class ShownPrompt:
    """A prompt, and notes about it."""

    text: str
    notes: tuple[str, ...] = ()


class PromptReader(InProcessPlugin):
    """Reads the prompt of one case, named by its id or by the name of its item. Runs nothing."""

    def __init__(self, case: str) -> None:
        self._case = case
        self.prompt: ShownPrompt | NoPrompt | None = None
        """None where nothing was collected."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Read the prompt instead of running the items."""
        if session.testsfailed:
            return None
        items = [item for item in session.items if isinstance(item, CaseItem)]
        items.sort(key=lambda item: item.case.location.line)  # other plugins may have reordered them
        try:
            self.prompt = _shown_prompt(_chosen_item(items, self._case))
        except NoPrompt as problem:
            self.prompt = problem
        return True


def _chosen_item(items: list[CaseItem], wanted: str) -> CaseItem:
    matches = [item for item in items if wanted in {item.name, item.case.id}]
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise NoPrompt(f"several models are configured; choose one of {', '.join(item.name for item in matches)}")
    ids = list(dict.fromkeys(item.case.id for item in items))
    available = ", ".join(ids[:10]) + (" …" if ids[10:] else "") if ids else "none"
    raise NoPrompt(f"no case {wanted!r}; " + (did_you_mean(wanted, ids) or f"available: {available}"))


def _shown_prompt(item: CaseItem) -> ShownPrompt:
    case, named = item.case, item.named
    if isinstance(case, FaultyCase):
        raise NoPrompt("\n".join(fault_text(fault, item.config.rootpath) for fault in case.faults))
    if named is None:
        raise NoPrompt(HOW_TO_NAME_A_MODEL_OUTSIDE_TESTS)
    backends = registry_of(item.config).backends
    make = backends.get(named.model.kind)
    if make is None:
        raise NoPrompt(f"no backend for {named.model.kind!r}; available: {', '.join(sorted(backends))}")
    try:
        backend = make(named.model, item.config.rootpath)
        request = item.ihook.pytest_fcall_request(item=item, case=case, request=item.planned_request(backend.settings))
        text = backend_prompt(backend, request)
        changes = request_changes(backend, request)
    except (ModelUnavailable, CaseRefused) as error:
        raise NoPrompt(shown(item.config, _prefixed(named, str(error)))) from None
    secrets_of(item.config).add(secrets_of_settings(request.settings))
    if text is None:
        raise NoPrompt(_prefixed(named, f"backends of kind {named.model.kind!r} cannot show their prompts"))
    notes = (shown(item.config, note) for note in _notes(changes, conversation=case.mode == "conversation"))
    return ShownPrompt(shown(item.config, text), tuple(notes))


def _notes(changes: Iterable[str], *, conversation: bool) -> Iterator[str]:
    yield from changes
    if conversation:
        yield "this is the first request of a conversation"


def _prefixed(named: NamedModel, text: str) -> str:
    prefix = f"{named.model.id}: "
    return prefix + text.removeprefix(prefix)
