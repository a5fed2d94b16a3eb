"""What would be sent for a case, in the place of a run: `fcall prompt` uses it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from pytest_fcall.core import CaseRefused, FaultyCase, ModelUnavailable, backend_prompt, request_changes
from pytest_fcall.plugin.item import CaseItem
from pytest_fcall.plugin.session import registry_of
from pytest_fcall.reporting.faults import fault_text
from pytest_fcall.schema.value_text import nearest
from pytest_fcall.session.models import HOW_TO_NAME_A_MODEL, NamedModel


class NoPrompt(Exception):
    """There is no prompt; the text says why, and what to do."""


@dataclass(frozen=True, slots=True)
class ShownPrompt:
    """A prompt, and what people should know of it."""

    text: str
    notes: tuple[str, ...] = ()


class PromptRun:
    """A plugin that runs nothing: it puts the case of this name or id into words."""

    def __init__(self, wanted: str) -> None:
        self._wanted = wanted
        self.found: ShownPrompt | NoPrompt | None = None
        """None where nothing was collected."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        """Collect here: there is nothing to share among workers."""
        if hasattr(config.option, "dist"):
            config.option.dist, config.option.numprocesses, config.option.tx = "no", None, []

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Look at the items instead of running them."""
        if session.testsfailed:
            return None
        items = [item for item in session.items if isinstance(item, CaseItem)]
        items.sort(key=lambda item: item.case.location.line)  # other plugins may have put them into another order
        try:
            self.found = _shown_prompt(_chosen_item(items, self._wanted))
        except NoPrompt as untold:
            self.found = untold
        return True


def _chosen_item(items: list[CaseItem], wanted: str) -> CaseItem:
    found = [item for item in items if wanted in {item.name, item.case.id}]
    if len(found) == 1:
        return found[0]
    if found:
        raise NoPrompt(f"several models are named; choose one: {', '.join(item.name for item in found)}")
    ids = list(dict.fromkeys(item.case.id for item in items))
    near = nearest(wanted, ids)
    hint = f"did you mean {near!r}?" if near else f"there is {', '.join(ids[:10]) or 'none'}{' …' if ids[10:] else ''}"
    raise NoPrompt(f"there is no case {wanted!r}; {hint}")


def _shown_prompt(item: CaseItem) -> ShownPrompt:
    case, named = item.case, item.named
    if isinstance(case, FaultyCase):
        raise NoPrompt("\n".join(fault_text(fault, item.config.rootpath) for fault in case.faults))
    if named is None:
        raise NoPrompt(HOW_TO_NAME_A_MODEL)
    backends = registry_of(item.config).backends
    make = backends.get(named.model.kind)
    if make is None:
        known = ", ".join(sorted(backends))
        raise NoPrompt(f"nothing here can ask a model of kind {named.model.kind!r}; installed are: {known}")
    try:
        backend = make(named.model, item.config.rootpath)
        request = item.ihook.pytest_fcall_request(item=item, case=case, request=item.planned_request(backend.settings))
        text = backend_prompt(backend, request)
        notes = tuple(request_changes(backend, request))
    except (ModelUnavailable, CaseRefused) as error:
        raise NoPrompt(_prefixed(named, str(error))) from None
    if text is None:
        raise NoPrompt(_prefixed(named, f"models of kind {named.model.kind!r} do not show what they are sent"))
    return ShownPrompt(text, tuple(_notes(notes, conversation=case.mode == "conversation")))


def _notes(changes: tuple[str, ...], *, conversation: bool) -> Iterator[str]:
    yield from changes
    if conversation:
        yield "this is the first request of a conversation"


def _prefixed(named: NamedModel, text: str) -> str:
    name = f"{named.model.id}: "
    return name + text.removeprefix(name)
