"""A case file: its cases, the rows of their matrices, and every mistake with its position."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

from yaml import MappingNode, Node, SequenceNode

from pytest_fcall.cases import node_values
from pytest_fcall.cases.case import CASE_KEYS, read_case
from pytest_fcall.cases.expectations import EXPECT_KEYS
from pytest_fcall.cases.faults import Faults, SourceFile, UnreadableFile, did_you_mean, one_of, shown
from pytest_fcall.cases.ids import case_id, row_id, substitute_id
from pytest_fcall.cases.node_values import Entries, node_at
from pytest_fcall.cases.option_values import KNOWN_SETTINGS
from pytest_fcall.cases.preamble import PREAMBLE_KEYS, FilePart, Preamble, display_path, read_preamble
from pytest_fcall.cases.scope import Extensions
from pytest_fcall.cases.suite import SUITE_KEYS, suite_cases
from pytest_fcall.cases.yaml.reader import read_text, read_yaml
from pytest_fcall.core import Case, Fault, FaultyCase
from pytest_fcall.core.gc_pause import gc_paused

Row: TypeAlias = "Mapping[str, Node]"


def rows(node: Node, faults: Faults) -> dict[str, Row]:
    """The rows by their ids, or else by their numbers. All have the same names."""
    nodes = node_values.items(node, faults, "`matrix`")
    if not nodes and not faults.found:
        faults.add("wrong-value", node, "this matrix has no rows, so that nothing is asked")
    found: dict[str, Row] = {}
    names: list[str] = []
    for number, item in enumerate(nodes):
        pairs = node_values.entries(item, faults, "a row of a matrix")
        names = names or list(pairs)
        _same_names(item, pairs, names, faults)
        name = row_id(pairs["id"][1], faults) if "id" in pairs else str(number)
        if name in found:
            faults.add("duplicate-id", pairs["id"][1] if "id" in pairs else item, f"two rows have the id {shown(name)}")
        found[name] = {key: pair[1] for key, pair in pairs.items()}
    return found


def _same_names(node: Node, pairs: node_values.Entries, names: list[str], faults: Faults) -> None:
    for name, (key, _) in pairs.items():
        if name == "now":
            faults.add("reserved-name", key, "`now` is the clock and may not be declared", "take another name")
        elif not name.isidentifier():
            hint = "letters, digits and underscores only"
            faults.add("wrong-value", key, f"{shown(name)} cannot stand in braces", hint)
        elif name not in names:
            faults.add("unknown-name", key, f"the first row has no name {shown(name)}", did_you_mean(name, names))
    for name in names:
        if name not in pairs and pairs:
            faults.add("missing-key", node, f"this row lacks {shown(name)}, which the first row has")


_MISPLACED = {name: f"write `settings: {{{name}: …}}`" for name in KNOWN_SETTINGS} | {
    name: f"write `expect: {{{name}: …}}`" for name in EXPECT_KEYS
}


class CaseEntries:
    """Reads entries one by one, and tells them the faults of the file as a whole that touch them."""

    def __init__(self, source: SourceFile, shared: Preamble) -> None:
        self._source = source
        self._shared = shared
        self._number = 0
        self._ids: dict[str, int] = {}

    def read(self, node: Node) -> Iterator[Case | FaultyCase]:
        """The case, or the cases of its matrix."""
        self._number += 1
        faults = Faults(self._source)
        entries = node_values.entries(node, faults, "a case")
        for name, (key, _) in entries.items():
            if name not in CASE_KEYS:
                hint = _MISPLACED.get(name) or did_you_mean(name, CASE_KEYS) or one_of(sorted(CASE_KEYS))
                faults.add("unknown-key", key, f"a case has no key {shown(name)}", hint)
        name = self._id(node, entries, faults)
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
        case = read_case(name, node, entries, row=row, ground=self._shared.ground, faults=faults)
        if faults.found:
            return FaultyCase(name, case.location, tuple(dict.fromkeys(faults.found)))
        return case

    def _touching(self, entries: Entries) -> Iterator[Fault]:
        """The faults of the file as a whole that concern this case."""
        yield from self._shared.faults
        if self._shared.tool_faults and not self._needs_only_known_tools(entries):
            yield from self._shared.tool_faults

    def _needs_only_known_tools(self, entries: Entries) -> bool:
        only = node_at(entries["tools"][1], ("only",)) if "tools" in entries else None
        names = [item.value for item in only.value] if isinstance(only, SequenceNode) else []
        return bool(names) and all(name in self._shared.ground.toolbox.tools for name in names if isinstance(name, str))

    def _id(self, node: Node, entries: Entries, faults: Faults) -> str:
        line = self._source.location(node).line
        if "id" not in entries:
            if isinstance(node, MappingNode):
                faults.add("missing-key", node, "this case has no `id`", "a short name, unique in this file")
            return self.free(f"case_{self._number}", line)
        place = entries["id"][1]
        before = len(faults.found)
        name = case_id(place, faults)
        if name in self._ids:
            message = f"the id {shown(name)} is taken: first in line {self._ids[name]}"
            faults.add("duplicate-id", place, message, "ids are unique in a file")
        return self.free(substitute_id(name, self._number) if len(faults.found) > before else name, line)

    def free(self, name: str, line: int) -> str:
        """The name, or one like it that no case of the file has yet."""
        free = name
        while free in self._ids:
            free = f"{free}@{line}"
        self._ids[free] = line
        return free


_FILE_KEYS = (*PREAMBLE_KEYS, *SUITE_KEYS, "cases")


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
    return _read(read_text(path, display_path(path, root)), path, root, extensions, now)


def read_case_text(text: str, path: Path, *, root: Path, extensions: Extensions | None = None) -> CaseFile:
    """Read what a file of this path would say, on the terms of `read_case_file`; there need not be one."""
    return _read(SourceFile(display_path(path, root), text), path, root, extensions, None)


def _read(source: SourceFile, path: Path, root: Path, extensions: Extensions | None, now: datetime | None) -> CaseFile:
    with gc_paused():  # nodes refer to no one above them
        reader = _Reader(source, path, root, extensions or Extensions(), now or datetime.now().astimezone())
        return reader.finish(read_yaml(source, reader.take))


class _Reader:
    """Reads one file: its cases as they come, then whatever is left."""

    def __init__(self, source: SourceFile, path: Path, root: Path, extensions: Extensions, now: datetime) -> None:
        self._source = source
        self._path = path
        self._root = root
        self._extensions = extensions
        self._now = now
        self._begun: tuple[Preamble, CaseEntries] | None = None
        self._entries: list[Case | FaultyCase] = []

    def take(self, root: Node, case: Node) -> None:
        """Read a case below which stand only cases: `root` holds everything else."""
        if self._begun is None:
            faults = Faults(self._source)
            self._begun = self._begin(node_values.entries(root, faults, "a case file"), faults)
        self._entries += self._begun[1].read(case)

    def finish(self, root: Node | None) -> CaseFile:
        """Read what is left, and tell the faults that touch no case."""
        faults = Faults(self._source)
        found = self._top_level(root, faults)
        shared, cases = self._begun or self._begin(found, faults)
        if "cases" in found:
            self._cases(found["cases"][1], shared, cases)
        self._suite(found, shared, cases)
        told = {fault for entry in self._entries if isinstance(entry, FaultyCase) for fault in entry.faults}
        for name, part in shared.untold(told).items():
            place = part[0].location
            self._entries.append(FaultyCase(cases.free(name, place.line), place, part))
        return CaseFile(self._path, tuple(self._entries), self._faults(), shared.included)

    def _begin(self, found: Entries, faults: Faults) -> tuple[Preamble, CaseEntries]:
        node_values.known_only(found, _FILE_KEYS, faults, "a case file")
        shared = read_preamble(FilePart(self._source, self._path, found), self._root, self._extensions, self._now)
        shared.faults += faults.found
        return shared, CaseEntries(self._source, shared)

    def _top_level(self, root: Node | None, faults: Faults) -> Entries:
        if root is None:
            raise UnreadableFile(self._source.fault("no-cases", None, "the file is empty", "give it `cases:`"))
        if not isinstance(root, MappingNode):
            message = f"a case file is a mapping with `cases:`, not {node_values.describe(root)}"
            raise UnreadableFile(self._source.fault("no-cases", root, message))
        found = node_values.entries(root, faults, "a case file")
        if "cases" not in found and "suite" not in found:
            hint = did_you_mean("cases", found)
            raise UnreadableFile(self._source.fault("no-cases", root, "the file has no `cases:`", hint))
        return found

    def _suite(self, found: Entries, shared: Preamble, cases: CaseEntries) -> None:
        """The cases of a suite, or one that says why there are none."""
        faults = Faults(self._source)
        if "suite" in found:
            faults.found += [*shared.faults, *shared.default_faults]
            if not faults.found:
                taken = {entry.id for entry in self._entries}
                self._entries += suite_cases(found, shared.ground, faults, taken)
        for name in SUITE_KEYS if "suite" not in found else ():
            if name in found:
                faults.add("missing-key", found[name][0], f"`{name}` belongs to `suite:`, and there is none")
        if faults.found:
            place = faults.found[0].location
            self._entries.append(FaultyCase(cases.free("suite", place.line), place, tuple(faults.found)))

    def _cases(self, node: Node, shared: Preamble, cases: CaseEntries) -> None:
        """The cases that were not taken: all of them, or the last one."""
        faults = Faults(self._source)
        nodes = node_values.items(node, faults, "`cases`")
        if not nodes and isinstance(node, SequenceNode):
            faults.add("wrong-value", node, "this list of cases is empty")
        shared.faults += faults.found
        for item in nodes:
            self._entries += cases.read(item)

    def _faults(self) -> tuple[Fault, ...]:
        """All faults once, in the order of the file."""
        found = {fault: None for entry in self._entries if isinstance(entry, FaultyCase) for fault in entry.faults}
        return tuple(sorted(found, key=lambda fault: (fault.location.path, fault.location.line, fault.location.column)))
