"""The entries of `cases:`, and the faults that each of them has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from yaml import MappingNode, Node, SequenceNode

from pytest_fcall.cases import fields
from pytest_fcall.cases.case import CASE_KEYS, read_case
from pytest_fcall.cases.expectations import EXPECT_KEYS
from pytest_fcall.cases.faults import Faults, Source, did_you_mean, one_of, shown
from pytest_fcall.cases.fields import Entries, node_at
from pytest_fcall.cases.ids import case_id, stand_in
from pytest_fcall.cases.matrix import rows
from pytest_fcall.cases.settings import KNOWN_SETTINGS
from pytest_fcall.cases.shared import Shared
from pytest_fcall.core import Case, Fault, FaultyCase

_MISPLACED = {name: f"write `settings: {{{name}: …}}`" for name in KNOWN_SETTINGS} | {
    name: f"write `expect: {{{name}: …}}`" for name in EXPECT_KEYS
}


class CaseEntries:
    """Reads entries one by one, and tells them the faults of the file as a whole that touch them."""

    def __init__(self, source: Source, shared: Shared) -> None:
        self._source = source
        self._shared = shared
        self._number = 0
        self._ids: dict[str, int] = {}

    def read(self, node: Node) -> Iterator[Case | FaultyCase]:
        """The case, or the cases of its matrix."""
        self._number += 1
        faults = Faults(self._source)
        entries = fields.entries(node, faults, "a case")
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
        return self.free(stand_in(name, self._number) if len(faults.found) > before else name, line)

    def free(self, name: str, line: int) -> str:
        """The name, or one like it that no case of the file has yet."""
        free = name
        while free in self._ids:
            free = f"{free}@{line}"
        self._ids[free] = line
        return free
