"""Which files hold cases, and how they become items."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from pytest_fcall.cases.case_file import CaseFile as ReadFile
from pytest_fcall.cases.case_file import read_case_file
from pytest_fcall.cases.faults import UnreadableFile
from pytest_fcall.cases.file_names import is_case_file_name, may_hold_cases
from pytest_fcall.cases.scope import Extensions
from pytest_fcall.core import Case, Fault
from pytest_fcall.core.gc_pause import gc_paused
from pytest_fcall.decoding import DECODERS
from pytest_fcall.plugin.collected import PLACE, collected, register_tags
from pytest_fcall.plugin.hooks import register_hooks
from pytest_fcall.plugin.item import CaseItem
from pytest_fcall.plugin.models import ids_have_models, named_models
from pytest_fcall.plugin.sharding import shard_of
from pytest_fcall.reporting.faults import fault_text
from pytest_fcall.reporting.terminal import encodable_text
from pytest_fcall.session.extensions import registry
from pytest_fcall.session.outcomes import terminal_encoding


def case_file(path: Path, parent: pytest.Collector) -> CaseFile | None:
    """Make the collector of a case file; None where the file is none."""
    config = parent.config
    if not may_hold_cases(path, config.rootpath, config.getini("fc_files")):
        return None
    register_hooks(config)
    return CaseFile.from_parent(parent, path=path)


class CaseFile(pytest.Module):
    """A case file, in the place of a test module: fixtures of every scope work for its cases."""

    def __init__(self, **kwargs: object) -> None:
        super().__init__(**kwargs)  # type: ignore[arg-type]  # what from_parent passes on
        self.obj = ModuleType(self.path.name.replace(".", "_"))

    def collect(self) -> Iterator[CaseItem]:
        """Yield an item for each case and model; a faulty case is an item that errors."""
        with gc_paused():
            yield from self._items()

    def _items(self) -> Iterator[CaseItem]:
        found = self.read()
        if found is None:
            collected(self.config).files_without_cases += 1
            return
        collected(self.config).faults.extend(found.faults)
        if not found.faults:
            collected(self.config).cases[self.path] = frozenset(entry.id for entry in found.entries)
        register_tags(self.config, {tag for entry in found.entries if isinstance(entry, Case) for tag in entry.tags})
        named = named_models(self.config)
        told_apart = ids_have_models(self.config)
        # All cases of a file want the same fixtures; pytest shares what it found out among parameter sets, too.
        fixtures = None
        shard = shard_of(self.config)
        for entry in found.entries:
            for model in named or (None,):
                name = f"{entry.id}[{model.model.id}]" if told_apart and model else entry.id
                collected(self.config).places += 1
                if shard and not shard.takes(f"{self.nodeid}::{name}"):
                    continue
                item = CaseItem.from_parent(self, name=name, entry=entry, named=model, fixtureinfo=fixtures)
                item.stash[PLACE] = collected(self.config).places
                fixtures = getattr(item, "_fixtureinfo", None)
                yield item

    @property
    def extensions(self) -> Extensions:
        """What a case file may name."""
        added = registry(self.config)
        return Extensions(
            tool_sources=added.tool_sources,
            comparators=frozenset(added.comparators),
            decoders=frozenset((*DECODERS, *added.decoders)),
            suites=added.suites,
        )

    def read(self) -> ReadFile | None:
        """What stands in the file; None where it is no case file."""
        try:
            return read_case_file(self.path, root=self.config.rootpath, extensions=self.extensions)
        except UnreadableFile as unreadable:
            if self._is_no_case_file(unreadable.fault):
                return None
            text = fault_text(unreadable.fault, self.config.rootpath)
            raise self.CollectError(encodable_text(terminal_encoding(), text)) from None

    def _is_no_case_file(self, fault: Fault) -> bool:
        """Other YAML may lie in a folder of cases; only a name that promises cases, or a person, can be wrong."""
        promised = is_case_file_name(self.path) or self.session.isinitpath(self.path)
        return fault.code == "no-cases" and not promised
