"""The sources that a case file's tools are locked from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pytest_fcall.cases import fields
from pytest_fcall.cases.extensions import Extensions
from pytest_fcall.cases.faults import Faults
from pytest_fcall.cases.shared import Part, Parts, shown_path
from pytest_fcall.cases.tool_entries import is_locked, lock_key, source_kind
from pytest_fcall.cases.yaml.reader import read_text, read_yaml
from pytest_fcall.core import Json


def tool_sources(path: Path, *, root: Path) -> list[dict[str, Json]]:
    """The MCP servers and addresses that a case file and what it includes name, as a lock file is asked for them.

    A file without cases names none. Entries with a mistake are left out: reading the cases tells of them. Raises
    UnreadableFile where nothing can be read.
    """
    source = read_text(path, shown_path(path, root))
    node = read_yaml(source)
    entries = {} if node is None else fields.entries(node, Faults(source), "a case file")
    if "cases" not in entries:
        return []
    parts = Parts(root)
    parts.add(Part(source, path, entries))
    return [key for part in parts.found for key in _locked(part)]


def _locked(part: Part) -> Iterator[dict[str, Json]]:
    if "tools" not in part.entries:
        return
    for node in fields.items(part.entries["tools"][1], Faults(part.source), "`tools`"):
        faults = Faults(part.source)
        found = fields.entries(node, faults, "an entry of `tools`")
        kind = source_kind(found, Extensions())
        if kind is None or not is_locked(kind, found[kind][1]):
            continue
        key = lock_key(kind, found[kind][1], found, faults)
        if not faults.found:
            yield key
