"""A case file, read: every case that can be run, and every mistake with the place to mend it."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from yaml import MappingNode, Node, SequenceNode

from pytest_fcall.cases import fields
from pytest_fcall.cases.case import CASE_KEYS, Ground, read_case, read_defaults
from pytest_fcall.cases.expectations import EXPECT_KEYS
from pytest_fcall.cases.extensions import Extensions
from pytest_fcall.cases.faults import Faults, Source, UnreadableFile, did_you_mean, one_of, shown
from pytest_fcall.cases.fields import Entries, node_at
from pytest_fcall.cases.files import Files
from pytest_fcall.cases.filling import Filling
from pytest_fcall.cases.ids import case_id, stand_in
from pytest_fcall.cases.matrix import rows
from pytest_fcall.cases.rules import match_rules
from pytest_fcall.cases.scope import Scope
from pytest_fcall.cases.settings import KNOWN_SETTINGS
from pytest_fcall.cases.shared import SHARED_KEYS, Part, Parts, defaults_of, shown_path, tools_of
from pytest_fcall.cases.toolbox import Toolbox
from pytest_fcall.cases.yaml_reader import read_text, read_yaml
from pytest_fcall.core import Case, Fault, FaultyCase, MatchRule

_FILE_KEYS = (*SHARED_KEYS, "cases")
_MISPLACED = {name: f"write `settings: {{{name}: …}}`" for name in KNOWN_SETTINGS} | {
    name: f"write `expect: {{{name}: …}}`" for name in EXPECT_KEYS
}


@dataclass(frozen=True, slots=True)
class CaseFile:
    """What stands in a file. `faults` are all that were found, those of faulty cases included."""

    path: Path
    entries: tuple[Case | FaultyCase, ...]
    faults: tuple[Fault, ...]
    included: tuple[Path, ...] = ()


def read_case_file(
    path: Path, *, root: Path, extensions: Extensions | None = None, now: datetime | None = None
) -> CaseFile:
    """Read a case file. `now` is the clock of cases without one; else it is the time of the call.

    Raises UnreadableFile where nothing can be read: broken YAML, not text, no cases.
    """
    with _without_garbage_collection():
        source = read_text(path, shown_path(path, root))
        entries = _top_level(source)
        clock = now or datetime.now().astimezone()
        return _Reader(Part(source, path, entries), root, extensions or Extensions(), clock).read()


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Nodes refer to no one above them, so that the collector would walk them many times for nothing."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _top_level(source: Source) -> Entries:
    root = read_yaml(source)
    if root is None:
        raise UnreadableFile(source.fault("no-cases", None, "the file is empty", "give it `cases:`"))
    if not isinstance(root, MappingNode):
        message = f"a case file is a mapping with `cases:`, not {fields.describe(root)}"
        raise UnreadableFile(source.fault("no-cases", root, message))
    faults = Faults(source)
    entries = fields.entries(root, faults, "a case file")
    if "cases" not in entries and "suite" not in entries:
        hint = did_you_mean("cases", entries)
        raise UnreadableFile(source.fault("no-cases", root, "the file has no `cases:`", hint))
    return entries


class _Reader:
    """Reads the cases of one file, and tells the faults of the file as a whole to the cases that they touch."""

    def __init__(self, part: Part, root: Path, extensions: Extensions, now: datetime) -> None:
        parts = Parts(root)
        parts.add(part)
        tools, self._tool_faults = tools_of(parts.found, root, extensions)
        defaults, default_faults = defaults_of(parts.found)
        self._parts = parts.found
        self._source = part.source
        self._entries = part.entries
        self._faults = Faults(part.source)
        self._faults.found += [*parts.faults, *default_faults]
        self._ground = Ground(
            source=part.source,
            folder=part.path.parent,
            toolbox=Toolbox(tools, complete=not self._tool_faults and not parts.faults),
            defaults=defaults,
            match=(),
            extensions=extensions,
            files=Files(),
            now=now,
        )
        self._ids: dict[str, int] = {}

    def read(self) -> CaseFile:
        """Read everything."""
        fields.known_only(self._entries, (*_FILE_KEYS, "suite"), self._faults, "a case file")
        self._ground = replace(self._ground, match=self._match())
        entries = [*self._suite(), *self._cases()]
        told = {fault for entry in entries if isinstance(entry, FaultyCase) for fault in entry.faults}
        entries += self._untold(told)
        faults = {fault: None for entry in entries if isinstance(entry, FaultyCase) for fault in entry.faults}
        ordered = sorted(faults, key=lambda fault: (fault.location.path, fault.location.line, fault.location.column))
        included = tuple(other.path for other in self._parts[1:])
        return CaseFile(self._parts[0].path, tuple(entries), tuple(ordered), included)

    def _match(self) -> tuple[MatchRule, ...]:
        found: tuple[MatchRule, ...] = ()
        for part in self._parts:
            if "match" in part.entries:
                scope = self._scope(Faults(part.source))
                found += match_rules(part.entries["match"][1], scope)
                self._faults.found += scope.faults.found
        return found

    def _scope(self, faults: Faults) -> Scope:
        ground = self._ground
        filling = Filling(ground.now, {})
        return Scope(faults, ground.folder, filling, ground.extensions, ground.files, ground.toolbox)

    def _suite(self) -> Iterator[FaultyCase]:
        if "suite" in self._entries:
            key = self._entries["suite"][0]
            fault = self._source.fault("not-available", key, "this version reads no suites", "leave `suite:` out")
            yield FaultyCase("suite", fault.location, (fault,))

    def _cases(self) -> Iterator[Case | FaultyCase]:
        if "cases" not in self._entries:
            return
        node = self._entries["cases"][1]
        nodes = fields.items(node, self._faults, "`cases`")
        if not nodes and isinstance(node, SequenceNode):
            self._faults.add("wrong-value", node, "this list of cases is empty")
        for number, item in enumerate(nodes, start=1):
            yield from self._entry(item, number)

    def _entry(self, node: Node, number: int) -> Iterator[Case | FaultyCase]:
        faults = Faults(self._source)
        entries = fields.entries(node, faults, "a case")
        for name, (key, _) in entries.items():
            if name not in CASE_KEYS:
                hint = _MISPLACED.get(name) or did_you_mean(name, CASE_KEYS) or one_of(sorted(CASE_KEYS))
                faults.add("unknown-key", key, f"a case has no key {shown(name)}", hint)
        name = self._id(node, entries, number, faults)
        table = rows(entries["matrix"][1], faults) if "matrix" in entries else {"": {}}
        if not entries or not table:
            yield FaultyCase(name, self._source.location(node), tuple(faults.found))
            return
        for row, values in table.items():
            yield self._case(f"{name}[{row}]" if row else name, node, entries, values, faults)

    def _case(
        self, name: str, node: Node, entries: Entries, row: Mapping[str, Node], common: Faults
    ) -> Case | FaultyCase:
        faults = common.part()
        faults.found = [*self._touching(entries), *common.found]
        case = read_case(name, node, entries, row=row, ground=self._ground, faults=faults)
        if faults.found:
            return FaultyCase(name, case.location, tuple(dict.fromkeys(faults.found)))
        return case

    def _touching(self, entries: Entries) -> Iterator[Fault]:
        """The faults of the file as a whole that concern this case."""
        yield from self._faults.found
        if self._tool_faults and not self._needs_only_known_tools(entries):
            yield from self._tool_faults

    def _needs_only_known_tools(self, entries: Entries) -> bool:
        only = node_at(entries["tools"][1], ("only",)) if "tools" in entries else None
        names = [item.value for item in only.value] if isinstance(only, SequenceNode) else []
        return bool(names) and all(name in self._ground.toolbox.tools for name in names if isinstance(name, str))

    def _id(self, node: Node, entries: Entries, number: int, faults: Faults) -> str:
        line = self._source.location(node).line
        if "id" not in entries:
            if entries:
                faults.add("missing-key", node, "this case has no `id`", "a short name, unique in this file")
            return self._free(f"case_{number}", line)
        place = entries["id"][1]
        name = case_id(place, faults)
        if name in self._ids:
            message = f"the id {shown(name)} is taken: first in line {self._ids[name]}"
            faults.add("duplicate-id", place, message, "ids are unique in a file")
        return self._free(stand_in(name, number) if faults.found else name, line)

    def _free(self, name: str, line: int) -> str:
        """The name, or one like it that no case of the file has yet."""
        free = name
        while free in self._ids:
            free = f"{free}@{line}"
        self._ids[free] = line
        return free

    def _untold(self, told: set[Fault]) -> Iterator[FaultyCase]:
        """Faults that touch no case still have to be told: in items that are named after the faulty part."""
        scope = self._scope(Faults(self._source))
        read_defaults(self._ground.defaults, scope)
        parts = {"tools": self._tool_faults, "file": self._faults.found, "defaults": scope.faults.found}
        for name, faults in parts.items():
            untold = tuple(dict.fromkeys(fault for fault in faults if fault not in told))
            if untold:
                yield FaultyCase(self._free(name, untold[0].location.line), untold[0].location, untold)
