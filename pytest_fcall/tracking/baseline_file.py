"""Baselines in files for version control: syrupy's amber format, with a stanza for each case.

syrupy reads and writes the format. Its `--snapshot-update` leaves the files alone: they are in `__fcall__`, where it
does not look for snapshots.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from syrupy.data import Snapshot, SnapshotCollection
from syrupy.extensions.amber.serializer import AmberDataSerializer, MalformedAmberFile

from pytest_fcall.core import Fault, Location, Model
from pytest_fcall.core.readable_json import readable_json
from pytest_fcall.tracking.stanza import Stanza, stanza_from_json, stanza_to_json

SUFFIX = ".ambr"

_HINT = "Restore the file from version control, or accept its cases again."
_NAME = "# name: "


class _StanzaSerializer(AmberDataSerializer):
    """Writes a stanza as JSON that can be reviewed line by line."""

    VERSION = "fcall-1"

    @classmethod
    def serialize(cls, data: Stanza, **_: Any) -> str:
        """One line for each field, call and reason; equal stanzas give equal text."""
        fields = (f"  {readable_json(name)}: {_field_text(value)}" for name, value in stanza_to_json(data).items())
        return "{\n" + ",\n".join(fields) + "\n}"


@dataclass(frozen=True, slots=True)
class Baseline:
    """The accepted stanzas of one case file, by case id. With faults it has no stanzas."""

    stanzas: Mapping[str, Stanza] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()


def baseline_path(case_file: Path, model: Model) -> Path:
    """The path of a baseline: `__fcall__/<model>/<file name>.ambr`, beside the case file."""
    return case_file.parent / "__fcall__" / model.folder / f"{case_file.name}{SUFFIX}"


def read_baseline(path: Path, named: Path | None = None) -> Baseline | None:
    """Read a file; None where there is none. Errors become faults, which call the file `named`."""
    try:
        lines = path.read_bytes().split(b"\n")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return Baseline(faults=(_fault(named or path, 1, f"the baseline cannot be read: {error.strerror}"),))
    return _BaselineReader(path, named or path, lines).baseline()


def write_baseline(path: Path, stanzas: Iterable[Stanza]) -> None:
    """Replace the file atomically; equal stanzas give equal bytes. Without stanzas, the file is removed.

    Raises OSError, and ValueError, TypeError or RecursionError for a stanza that is not JSON; the file then stays.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    collection = SnapshotCollection(location=str(draft))
    for stanza in stanzas:
        collection.add(Snapshot(stanza.case, _StanzaSerializer.serialize(stanza)))
    if not collection.has_snapshots:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        _StanzaSerializer.write_file(collection, file_lock=False)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _field_text(value: Any) -> str:
    if isinstance(value, list) and value and isinstance(value[0], list | dict):
        return "[\n" + ",\n".join(f"    {readable_json(each)}" for each in value) + "\n  ]"
    return readable_json(value)


class _BaselineReader:
    """Reads one file. syrupy silently skips what it does not understand; here that is a fault: it may be a verdict."""

    def __init__(self, path: Path, named: Path, lines: list[bytes]) -> None:
        self.path = path
        self.named = named
        self.lines = [line.decode(errors="replace").rstrip("\r") for line in lines]

    def baseline(self) -> Baseline:
        if conflicts := tuple(self._conflicts()):
            return Baseline(faults=conflicts)
        try:
            found = _StanzaSerializer.read_file(str(self.path))
        except (MalformedAmberFile, UnicodeDecodeError):
            return Baseline(faults=(self._fault(1, "not a baseline file, or an incomplete one"),))
        if found.tainted:
            message = f"not a baseline file in the format {_StanzaSerializer.VERSION!r}"
            return Baseline(faults=(self._fault(1, message, self.lines[0]),))
        if faults := tuple(self._skipped(found)):
            return Baseline(faults=faults)
        return self._stanzas(found)

    def _stanzas(self, found: SnapshotCollection) -> Baseline:
        stanzas, faults = {}, []
        for snapshot in found:
            try:
                stanza = stanza_from_json(json.loads(str(snapshot.data)))
            except RecursionError:
                faults.append(self._damaged(snapshot.name, "it is nested too deeply"))
            except ValueError as error:
                faults.append(self._damaged(snapshot.name, str(error)))
            else:
                stanzas[snapshot.name] = stanza
                if stanza.case != snapshot.name:
                    faults.append(self._damaged(snapshot.name, f"it names the case {stanza.case!r}"))
        return Baseline(faults=tuple(faults)) if faults else Baseline(stanzas)

    def _conflicts(self) -> Iterator[Fault]:
        for number, line in enumerate(self.lines, start=1):
            if line.startswith("<<<<<<< "):
                hint = "Resolve it: keep one of the two stanzas of each case, complete from `# name:` to `# ---`."
                where = Location(str(self.named), number)
                yield Fault("merge-conflict", where, "an unresolved merge conflict", line, hint)

    def _skipped(self, found: SnapshotCollection) -> Iterator[Fault]:
        """Faults for the stanzas that syrupy skips silently."""
        seen: dict[str, int] = {}
        for name, number in self._names():
            if (first := seen.setdefault(name, number)) != number:
                yield self._fault(number, f"duplicate case {name!r}, first in line {first}")
            elif found.get(name) is None:
                yield self._fault(number, f"the stanza of {name!r} is incomplete")

    def _names(self) -> Iterator[tuple[str, int]]:
        for number, line in enumerate(self.lines, start=1):
            if line.startswith(_NAME):
                yield line.removeprefix(_NAME).strip(), number

    def _damaged(self, name: str, why: str) -> Fault:
        number = next((number for each, number in self._names() if each == name), 1)
        return self._fault(number, f"the stanza of {name!r} cannot be read: {why}")

    def _fault(self, line: int, message: str, source: str = "") -> Fault:
        return _fault(self.named, line, message, source)


def _fault(path: Path, line: int, message: str, source: str = "") -> Fault:
    return Fault("damaged-baseline", Location(str(path), line), message, source, _HINT)
