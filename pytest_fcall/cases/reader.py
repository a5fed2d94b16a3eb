"""A case file, read: every case that can be run, and every mistake with the place to mend it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from yaml import MappingNode, Node, SequenceNode

from pytest_fcall.cases import fields
from pytest_fcall.cases.entries import CaseEntries
from pytest_fcall.cases.extensions import Extensions
from pytest_fcall.cases.faults import Faults, Source, UnreadableFile, did_you_mean
from pytest_fcall.cases.fields import Entries
from pytest_fcall.cases.shared import SHARED_KEYS, Part, Shared, share, shown_path
from pytest_fcall.cases.suite import SUITE_KEYS, suite_cases
from pytest_fcall.cases.yaml.reader import read_text, read_yaml
from pytest_fcall.core import Case, Fault, FaultyCase
from pytest_fcall.core.uncollected import uncollected

_FILE_KEYS = (*SHARED_KEYS, *SUITE_KEYS, "cases")


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
    return _read(read_text(path, shown_path(path, root)), path, root, extensions, now)


def read_case_text(text: str, path: Path, *, root: Path, extensions: Extensions | None = None) -> CaseFile:
    """Read what a file of this path would say, on the terms of `read_case_file`; there need not be one."""
    return _read(Source(shown_path(path, root), text), path, root, extensions, None)


def _read(source: Source, path: Path, root: Path, extensions: Extensions | None, now: datetime | None) -> CaseFile:
    with uncollected():  # nodes refer to no one above them
        reader = _Reader(source, path, root, extensions or Extensions(), now or datetime.now().astimezone())
        return reader.finish(read_yaml(source, reader.take))


class _Reader:
    """Reads one file: its cases as they come, then whatever is left."""

    def __init__(self, source: Source, path: Path, root: Path, extensions: Extensions, now: datetime) -> None:
        self._source = source
        self._path = path
        self._root = root
        self._extensions = extensions
        self._now = now
        self._begun: tuple[Shared, CaseEntries] | None = None
        self._entries: list[Case | FaultyCase] = []

    def take(self, root: Node, case: Node) -> None:
        """Read a case below which stand only cases: `root` holds everything else."""
        if self._begun is None:
            faults = Faults(self._source)
            self._begun = self._begin(fields.entries(root, faults, "a case file"), faults)
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

    def _begin(self, found: Entries, faults: Faults) -> tuple[Shared, CaseEntries]:
        fields.known_only(found, _FILE_KEYS, faults, "a case file")
        shared = share(Part(self._source, self._path, found), self._root, self._extensions, self._now)
        shared.faults += faults.found
        return shared, CaseEntries(self._source, shared)

    def _top_level(self, root: Node | None, faults: Faults) -> Entries:
        if root is None:
            raise UnreadableFile(self._source.fault("no-cases", None, "the file is empty", "give it `cases:`"))
        if not isinstance(root, MappingNode):
            message = f"a case file is a mapping with `cases:`, not {fields.describe(root)}"
            raise UnreadableFile(self._source.fault("no-cases", root, message))
        found = fields.entries(root, faults, "a case file")
        if "cases" not in found and "suite" not in found:
            hint = did_you_mean("cases", found)
            raise UnreadableFile(self._source.fault("no-cases", root, "the file has no `cases:`", hint))
        return found

    def _suite(self, found: Entries, shared: Shared, cases: CaseEntries) -> None:
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

    def _cases(self, node: Node, shared: Shared, cases: CaseEntries) -> None:
        """The cases that were not taken: all of them, or the last one."""
        faults = Faults(self._source)
        nodes = fields.items(node, faults, "`cases`")
        if not nodes and isinstance(node, SequenceNode):
            faults.add("wrong-value", node, "this list of cases is empty")
        shared.faults += faults.found
        for item in nodes:
            self._entries += cases.read(item)

    def _faults(self) -> tuple[Fault, ...]:
        """All faults once, in the order of the file."""
        found = {fault: None for entry in self._entries if isinstance(entry, FaultyCase) for fault in entry.faults}
        return tuple(sorted(found, key=lambda fault: (fault.location.path, fault.location.line, fault.location.column)))
