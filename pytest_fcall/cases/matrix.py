"""`matrix:`, one case a row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from yaml import Node

from pytest_fcall.cases import fields
from pytest_fcall.cases.faults import Faults, did_you_mean, shown
from pytest_fcall.cases.ids import row_id

Row: TypeAlias = "Mapping[str, Node]"


def rows(node: Node, faults: Faults) -> dict[str, Row]:
    """The rows by their ids, or else by their numbers. All have the same names."""
    nodes = fields.items(node, faults, "`matrix`")
    if not nodes and not faults.found:
        faults.add("wrong-value", node, "this matrix has no rows, so that nothing is asked")
    found: dict[str, Row] = {}
    names: list[str] = []
    for number, item in enumerate(nodes):
        pairs = fields.entries(item, faults, "a row of a matrix")
        names = names or list(pairs)
        _same_names(item, pairs, names, faults)
        name = row_id(pairs["id"][1], faults) if "id" in pairs else str(number)
        if name in found:
            faults.add("duplicate-id", pairs["id"][1] if "id" in pairs else item, f"two rows have the id {shown(name)}")
        found[name] = {key: pair[1] for key, pair in pairs.items()}
    return found


def _same_names(node: Node, pairs: fields.Entries, names: list[str], faults: Faults) -> None:
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
