"""Case files as collectors, and their cases as items."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Final

import pytest

from pytest_fcall.cases.file_names import is_case_file_name, may_hold_cases

if TYPE_CHECKING:
    from _pytest._code.code import TerminalRepr
    from pluggy import HookRelay

    from pytest_fcall.cases.case_file import CaseFileContent
    from pytest_fcall.cases.scope import Extensions
    from pytest_fcall.core.case import Case, Fault, FaultyCase
    from pytest_fcall.plugin.item import CaseItem


TOOL_FILE_KEY: Final = pytest.StashKey[Callable[[Path], Path]]()
"""The file that tools are read from in place of another one, where a command compares versions of tools."""
_SPANS_KEY: Final = re.compile(rb"\bspans['\"]?\s*:")


def case_file(path: Path, parent: pytest.Collector) -> CaseFile | None:
    """Make the collector of a case file; None where the file is none.

    pytest makes the collectors of all files beside a test that is named on the command line, so what it takes to read
    case files is imported only when one is collected.
    """
    if may_hold_cases(path, parent.config.rootpath, parent.config.getini("fc_files")) or _is_named(path, parent):
        return CaseFile.from_parent(parent, path=path)
    return None


def _is_named(path: Path, parent: pytest.Collector) -> bool:
    """Whether the command line names the file. As with test modules, such a file may have any name."""
    if not parent.session.isinitpath(path):
        return False
    from pytest_fcall.cases.file_names import looks_like_cases

    return looks_like_cases(path)


class UnreadableCaseFile(pytest.Collector.CollectError):
    """A case file cannot be read at all."""

    def __init__(self, text: str, fault: Fault) -> None:
        super().__init__(text)
        self.fault = fault


class CaseFile(pytest.Module):
    """A case file, in the place of a test module: fixtures of every scope work for its cases."""

    def __init__(self, **kwargs: object) -> None:
        super().__init__(**kwargs)  # type: ignore[arg-type]  # what from_parent passes on
        self.obj = ModuleType(self.path.name.replace(".", "_"))
        self.find_hooks()

    @property
    def ihook(self) -> HookRelay:
        """The hooks of the folder. pytest asks by the file, and finds none where a suite has no file."""
        return self.hooks

    def find_hooks(self) -> None:
        """Find the hooks of the folder: when it is collected, and again when all conftest files have been read."""
        self.hooks: HookRelay = self.session.gethookproxy(self.path.parent)

    def collect(self) -> Iterator[CaseItem]:
        """Yield an item for each case and model; a faulty case is an item that errors."""
        from pytest_fcall.core.gc_pause import gc_paused

        with gc_paused():  # imports leave no garbage either
            from pytest_fcall.plugin.hooks import register_hooks

            register_hooks(self.config)
            self.find_hooks()
            yield from self._items()

    def _items(self) -> Iterator[CaseItem]:
        from pytest_fcall.plugin.collection_findings import collection_findings, register_tags
        from pytest_fcall.plugin.file_context import ItemsContext
        from pytest_fcall.plugin.models import ids_have_models
        from pytest_fcall.plugin.session import session_of

        found, known = self.read(), collection_findings(self.config)
        if found is None:
            known.files_without_cases += 1
            return
        known.files.append(self)
        known.faults.extend(found.faults)
        if not found.faults:
            known.cases[self.path] = frozenset(entry.id for entry in found.entries)
        register_tags(self.config, {tag for entry in found.entries for tag in entry.tags})
        session = session_of(self.config)
        models, shard = session.settings.models, session.settings.shard
        with_models = ids_have_models(self.config, models)
        context = ItemsContext(self, session, found.volatile)
        self._note_secrets(found.entries)
        for entry in found.entries:
            for model in models or (None,):
                name = f"{entry.id}[{model.model.id}]" if with_models and model else entry.id
                known.places += 1
                built = not shard or shard.includes(f"{self.nodeid}::{name}")
                if model:
                    (known.built if built else known.built_elsewhere)[model.model.id] += 1
                if not built:
                    known.left_to_others += 1
                    continue
                yield context.item(name, entry, model, known.places)

    def _note_secrets(self, entries: Iterable[Case | FaultyCase]) -> None:
        """Note the keys in the settings of cases: each worker is to know those that another one sends."""
        from pytest_fcall.core.case import Case

        settings = {id(case.settings): case.settings for case in entries if isinstance(case, Case) and case.settings}
        if settings:
            from pytest_fcall.backends.known_secrets import secrets_of_settings
            from pytest_fcall.plugin.redaction import secrets_of

            for each in settings.values():
                secrets_of(self.config).add(secrets_of_settings(each))

    # The override is that of pytest's Collector, which has the same parameter.
    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> str | TerminalRepr:  # type: ignore[override]
        """The text of a file that could not be collected, as when a module with tools cannot be imported."""
        from pytest_fcall.plugin.redaction import redacted_failure

        found: str | TerminalRepr = redacted_failure(self.config, super().repr_failure(excinfo))
        return found

    @property
    def extensions(self) -> Extensions:
        """The names that other packages add to case files."""
        from pytest_fcall.cases.scope import Extensions
        from pytest_fcall.decoding.decoders import DECODERS
        from pytest_fcall.plugin.session import registry_of

        added = registry_of(self.config)
        return Extensions(
            tool_sources=added.tool_sources,
            comparators=frozenset(added.comparators),
            decoders=frozenset((*DECODERS, *added.decoders)),
            suites=added.suites,
            relations=added.relations,
            tool_file=self.config.stash.get(TOOL_FILE_KEY, None),
        )

    def read(self) -> CaseFileContent | None:
        """The content of the file; None where it is no case file."""
        from pytest_fcall.cases.case_file import read_case_file
        from pytest_fcall.cases.faults import UnreadableFile
        from pytest_fcall.plugin.settings import outside_paths

        self._take_spans()
        try:
            return read_case_file(
                self.path,
                root=self.config.rootpath,
                outside=outside_paths(self.config),
                extensions=self.extensions,
            )
        except UnreadableFile as unreadable:
            if self._is_no_case_file(unreadable.fault):
                return None
            from pytest_fcall.plugin.terminal import printable
            from pytest_fcall.reporting.faults import fault_text

            text = printable(fault_text(unreadable.fault, self.config.rootpath))
            raise UnreadableCaseFile(text, unreadable.fault) from None

    def read_again(self) -> CaseFileContent | None:
        """The content of the file at the end of a run; None where an editor has half saved it, or it is gone."""
        try:
            return self.read()
        except UnreadableCaseFile:
            return None

    def _take_spans(self) -> None:
        """Let exporters of spans lead to the run where the file may have `spans`: its tools may import one."""
        with suppress(OSError):
            content = self.path.read_bytes()
            if b"spans" in content and _SPANS_KEY.search(content):  # the search takes a hundred times as long
                from pytest_fcall.plugin.session import session_of

                session_of(self.config).replies.take_spans()

    def _is_no_case_file(self, fault: Fault) -> bool:
        """Whether the fault is that of other YAML: neither its name nor the command line says that it holds cases."""
        promised = is_case_file_name(self.path) or self.session.isinitpath(self.path)
        return fault.code == "no-cases" and not promised
