"""A case file: its cases, with the rows of their matrices, and its faults."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from yaml import MappingNode, Node, SequenceNode

from pytest_fcall.cases import node_values
from pytest_fcall.cases.case import CASE_KEYS, read_cases
from pytest_fcall.cases.expectations import EXPECT_KEYS
from pytest_fcall.cases.faults import Faults, SourceFile, UnreadableFile, one_of, quote
from pytest_fcall.cases.files import Reach, display_path
from pytest_fcall.cases.ids import case_id, row_id, substitute_id
from pytest_fcall.cases.node_values import Entries, node_at
from pytest_fcall.cases.option_values import KNOWN_SETTINGS
from pytest_fcall.cases.preamble import PREAMBLE_KEYS, FilePart, Preamble, read_preamble
from pytest_fcall.cases.scope import Extensions
from pytest_fcall.cases.yaml.reader import read_text, read_yaml
from pytest_fcall.core.case import Case, Fault, FaultyCase, Location
from pytest_fcall.core.gc_pause import gc_paused
from pytest_fcall.core.message_text import did_you_mean, nearest

SUITE_KEYS = ("suite", "pick", "path", "profile", "mode")
_FILE_KEYS = (*PREAMBLE_KEYS, *SUITE_KEYS, "cases")
_NO_ROW: Mapping[str, Node] = MappingProxyType({})


class CaseFileContent(NamedTuple):
    """The cases of a file. `faults` are all faults of the file, those of its faulty cases included."""

    path: Path
    entries: tuple[Case | FaultyCase, ...]
    faults: tuple[Fault, ...]
    included: tuple[Path, ...] = ()
    volatile: tuple[str, ...] = ()
    """Patterns of what is no part of the keys of requests."""


def read_case_file(
    path: Path,
    *,
    root: Path,
    outside: Iterable[Path] = (),
    extensions: Extensions | None = None,
    now: datetime | None = None,
) -> CaseFileContent:
    """Read a case file. `now` is the clock of cases that set none; by default the time of the call.

    Files that it names must lie below `root`, or below what `outside` allows. Raises UnreadableFile if nothing can be
    read: broken YAML, not text, no cases.
    """
    source = read_text(path, display_path(path, root))
    return _read(source, path, Reach.of(path, root, outside), extensions, now)


def read_case_text(
    text: str, path: Path, *, root: Path, outside: Iterable[Path] = (), extensions: Extensions | None = None
) -> CaseFileContent:
    """Read `text` as `read_case_file` would read it from a file at `path`, which need not exist."""
    source = SourceFile(display_path(path, root), text)
    return _read(source, path, Reach.of(path, root, outside), extensions, None)


def _read(
    source: SourceFile, path: Path, reach: Reach, extensions: Extensions | None, now: datetime | None
) -> CaseFileContent:
    with gc_paused():  # nodes have no references to their parents, so there is nothing to collect
        reader = _Reader(source, path, reach, extensions or Extensions(), now or datetime.now().astimezone())
        return reader.read_rest(read_yaml(source, reader.read_case))


class _Reader:
    """Reads one file: each case as soon as it is parsed, then the rest."""

    def __init__(self, source: SourceFile, path: Path, reach: Reach, extensions: Extensions, now: datetime) -> None:
        self._source = source
        self._path = path
        self._reach = reach
        self._extensions = extensions
        self._now = now
        self._cases: _CaseReader | None = None
        self._entries: list[Case | FaultyCase] = []

    def read_case(self, root: Node, case: Node) -> None:
        """Read one of the cases that end the file; `root` has everything above them."""
        if self._cases is None:
            faults = Faults(self._source)
            self._cases = self._read_preamble(node_values.entries(root, faults, "a case file"), faults)
        self._entries += self._cases.read(case)

    def read_rest(self, root: Node | None) -> CaseFileContent:
        """Read the cases that are left and the suite, and report the faults that belong to no case."""
        faults = Faults(self._source)
        found = self._top_level(root, faults)
        cases = self._cases or self._read_preamble(found, faults)
        preamble = cases.preamble
        if "cases" in found:
            self._entries += self._last_cases(found["cases"][1], cases)
        self._read_suite(found, cases)
        reported = {fault for entry in self._entries if isinstance(entry, FaultyCase) for fault in entry.faults}
        for name, part in preamble.unreported_faults(reported).items():
            self._entries.append(cases.faulty(name, part))
        return CaseFileContent(
            self._path, tuple(self._entries), self._all_faults(), preamble.included, preamble.volatile
        )

    def _top_level(self, root: Node | None, faults: Faults) -> Entries:
        if root is None:
            raise UnreadableFile(self._source.fault("no-cases", None, "the file is empty", "give it `cases:`"))
        if not isinstance(root, MappingNode):
            message = f"a case file must be a mapping with `cases:`, not {node_values.describe(root)}"
            raise UnreadableFile(self._source.fault("no-cases", root, message))
        found = node_values.entries(root, faults, "a case file")
        if "cases" not in found and "suite" not in found:
            hint = did_you_mean("cases", found)
            raise UnreadableFile(self._source.fault("no-cases", root, "the file has no `cases:`", hint))
        return found

    def _read_preamble(self, found: Entries, faults: Faults) -> _CaseReader:
        node_values.check_keys(found, _FILE_KEYS, faults, "a case file")
        preamble = read_preamble(FilePart(self._source, self._path, found), self._reach, self._extensions, self._now)
        preamble.faults += faults
        return _CaseReader(self._source, preamble)

    def _last_cases(self, node: Node, cases: _CaseReader) -> Iterator[Case | FaultyCase]:
        """The cases that `read_case` was not called for: all of them, or the last one."""
        faults = Faults(self._source)
        nodes = node_values.items(node, faults, "`cases`", "begin each case with `- `")
        if not nodes and isinstance(node, SequenceNode):
            faults.add("wrong-value", node, "`cases` is empty")
        cases.preamble.faults += faults
        for item in nodes:
            yield from cases.read(item)

    def _read_suite(self, found: Entries, cases: _CaseReader) -> None:
        """Read the cases of a suite; if that fails, one faulty case says why."""
        faults = Faults(self._source)
        if "suite" in found:
            faults += [*cases.preamble.faults, *cases.preamble.default_faults]
            if not faults:
                from pytest_fcall.cases.suite import suite_cases

                taken = {entry.id for entry in self._entries}
                self._entries += suite_cases(found, cases.preamble.context, faults, taken)
        else:
            for name in SUITE_KEYS:
                if name in found:
                    faults.add("missing-key", found.key(name), f"`{name}` needs a `suite:`, and the file has none")
        if faults:
            self._entries.append(cases.faulty("suite", tuple(faults)))

    def _all_faults(self) -> tuple[Fault, ...]:
        """All faults, each once, in the order of the file."""
        found = {fault: None for entry in self._entries if isinstance(entry, FaultyCase) for fault in entry.faults}
        return tuple(sorted(found, key=lambda fault: (fault.location.path, fault.location.line, fault.location.column)))


_MISPLACED = {name: f"write `settings: {{{name}: …}}`" for name in KNOWN_SETTINGS} | {
    name: f"write `expect: {{{name}: …}}`" for name in EXPECT_KEYS
}


class _CaseReader:
    """Reads the entries of `cases`, and gives each the faults of the preamble that concern it."""

    def __init__(self, source: SourceFile, preamble: Preamble) -> None:
        self.preamble = preamble
        self._source = source
        self._number = 0
        self._ids: dict[str, int] = {}

    def read(self, node: Node) -> Iterator[Case | FaultyCase]:
        """The case, or the cases of its matrix; each with the same under attack behind it."""
        self._number += 1
        faults = Faults(self._source)
        entries = node_values.entries(node, faults, "a case")
        is_whole = not faults
        for key, (place, _) in entries.items():
            if key not in CASE_KEYS:
                hint = _MISPLACED.get(key) or did_you_mean(key, CASE_KEYS) or one_of(sorted(CASE_KEYS))
                faults.add("unknown-key", place, f"a case has no key {quote(key)}", hint)
        name = self._id(node, entries, faults)
        rows = _rows(entries["matrix"][1], faults) if "matrix" in entries else {"": {}}
        tags = _FaultyTags(self.preamble, entries, is_whole=is_whole)
        if not entries or not rows:
            yield tags.faulty_case(name, self._source.location(node), faults)
            return
        for row, values in rows.items():
            yield from self._cases(f"{name}[{row}]" if row else name, node, entries, values, faults, tags)

    def faulty(self, name: str, faults: tuple[Fault, ...]) -> FaultyCase:
        """A case that reports faults of the file that belong to no case."""
        location = faults[0].location
        tags = _FaultyTags(self.preamble, Entries(), is_whole=False)
        return tags.faulty_case(self._unused_id(name, location.line), location, faults)

    def _cases(
        self,
        name: str,
        node: Node,
        entries: Entries,
        row: Mapping[str, Node],
        entry_faults: Faults,
        tags: _FaultyTags,
    ) -> Sequence[Case | FaultyCase]:
        preamble = self.preamble
        faults = Faults(self._source)
        faults += preamble.faults
        if preamble.tool_faults and not self._needs_only_known_tools(entries):
            faults += preamble.tool_faults
        faults += entry_faults
        cases = read_cases(name, node, entries, row=row, context=preamble.context, faults=faults)
        return [tags.faulty_case(name, cases[0].location, faults, row)] if faults else cases

    def _needs_only_known_tools(self, entries: Entries) -> bool:
        only = node_at(entries["tools"][1], ("only",)) if "tools" in entries else None
        names = [item.value for item in only.value] if isinstance(only, SequenceNode) else []
        known = self.preamble.context.toolbox.tools
        return bool(names) and all(name in known for name in names if isinstance(name, str))

    def _id(self, node: Node, entries: Entries, faults: Faults) -> str:
        line = node.start_mark.line + 1
        if "id" not in entries:
            if isinstance(node, MappingNode):
                faults.add("missing-key", node, "the case has no `id`", "add a short name, unique in this file")
            return self._unused_id(f"case_{self._number}", line)
        place = entries["id"][1]
        before = len(faults)
        name = case_id(place, faults)
        if name in self._ids:
            message = f"duplicate id {quote(name)}, first used in line {self._ids[name]}"
            faults.add("duplicate-id", place, message, "ids must be unique in a file")
        return self._unused_id(substitute_id(name, self._number) if len(faults) > before else name, line)

    def _unused_id(self, name: str, line: int) -> str:
        """The name, made different from all ids of the file."""
        while name in self._ids:
            name = f"{name}@{line}"
        self._ids[name] = line
        return name


_TAGGING = ("tags", "inject", "faults")
"""Keys that give tags to a case, or to those that are made of it."""


class _FaultyTags(NamedTuple):
    """Reads the tags of an entry of `cases` that turns out to be faulty."""

    preamble: Preamble
    entries: Entries
    is_whole: bool
    """Whether all keys of the entry can be read."""

    def faulty_case(
        self, name: str, location: Location, faults: Iterable[Fault], row: Mapping[str, Node] = _NO_ROW
    ) -> FaultyCase:
        """The faulty case, with the tags that can be read."""
        context = self.preamble.context
        scope = context.scope(Faults(context.source), row)
        fill = scope.placeholders.fill_node
        own = {key: (node, fill(value, scope.faults)) for key, (node, value) in self.entries.items() if key == "tags"}
        tags = tuple(filter(None, context.defaults.tags(Entries(own), scope)))
        is_certain = self.is_whole and not (self.preamble.faults or scope.faults or self._may_have_others())
        return FaultyCase(name, location, tuple(dict.fromkeys(faults)), tags, is_certain)

    def _may_have_others(self) -> bool:
        """Whether it stands for cases with further tags, or one of its unknown keys may have meant `tags`."""
        defaults = self.preamble.context.defaults
        if any(key in self.entries or defaults.sets(key) for key in _TAGGING[1:]):
            return True
        meant = [nearest(key, CASE_KEYS) for key in self.entries if key not in CASE_KEYS and key not in _MISPLACED]
        return any(key in _TAGGING or (key is None and "tags" not in self.entries) for key in meant)


def _rows(node: Node, faults: Faults) -> dict[str, Mapping[str, Node]]:
    """The rows of a matrix by their ids or numbers. All must have the columns of the first."""
    nodes = node_values.items(node, faults, "`matrix`", "begin each row with `- `")
    if not nodes and not faults:
        faults.add("wrong-value", node, "`matrix` is empty")
    rows: dict[str, Mapping[str, Node]] = {}
    columns: list[str] = []
    for number, item in enumerate(nodes):
        values = node_values.entries(item, faults, "a row of a matrix")
        columns = columns or list(values)
        _check_columns(item, values, columns, faults)
        name = row_id(values["id"][1], faults) if "id" in values else str(number)
        if name in rows:
            faults.add("duplicate-id", values.node("id") or item, f"two rows have the id {quote(name)}")
        rows[name] = {key: pair[1] for key, pair in values.items()}
    return rows


def _check_columns(node: Node, row: Entries, columns: list[str], faults: Faults) -> None:
    for name, (key, _) in row.items():
        if name == "now":
            faults.add("reserved-name", key, "`now` is the name of the clock", "choose another name")
        elif not name.isidentifier():
            message = f"{quote(name)} is not a valid name of a placeholder"
            faults.add("wrong-value", key, message, "letters, digits and underscores only")
        elif name not in columns:
            message = f"the first row has no column {quote(name)}"
            faults.add("unknown-name", key, message, did_you_mean(name, columns))
    for name in columns:
        if name not in row and row:
            faults.add("missing-key", node, f"this row has no {quote(name)}, which the first row has")
