"""Baselines in files for version control: syrupy's amber format, with a stanza for each case.

syrupy reads and writes the format, and knows nothing of our files: they lie where it does not look, in `__fcall__`,
and no snapshot test owns them. So `--snapshot-update` leaves them alone.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from syrupy.data import Snapshot, SnapshotCollection, SnapshotCollections
from syrupy.extensions.amber import AmberDataSerializer, AmberSnapshotExtension
from syrupy.extensions.amber.serializer import MalformedAmberFile

from pytest_fcall.core import Fault, Location, Model
from pytest_fcall.core.readable_json import readable_json
from pytest_fcall.tracking.stanza import Stanza, stanza_from_json, stanza_to_json

SUFFIX = ".ambr"

_HINT = "Restore the file from version control, or accept its cases again."
_NAME = "# name: "


class StanzaSerializer(AmberDataSerializer):
    """Writes a stanza as JSON that is reviewed line by line."""

    VERSION = "fcall-1"

    @classmethod
    def serialize(cls, data: Stanza, **_: Any) -> str:
        """One field a line, and one call and one reason a line; the same stanza gives the same text.

        Raises ValueError, TypeError or RecursionError where JSON cannot say what is in it.
        """
        fields = (f"  {readable_json(name)}: {_field_text(value)}" for name, value in stanza_to_json(data).items())
        return "{\n" + ",\n".join(fields) + "\n}"


class BaselineExtension(AmberSnapshotExtension):
    """Tells syrupy of the format, and that none of our files is a snapshot that some test has left behind."""

    snapshot_dirname = "__fcall__"
    serializer_class = StanzaSerializer

    def discover_snapshots(self, **_: Any) -> SnapshotCollections:
        """Find nothing: what syrupy discovers and no test of this run used, it deletes."""
        return SnapshotCollections()


@dataclass(frozen=True, slots=True)
class Baseline:
    """What is accepted of the cases of one file. With `faults` nothing in it counts."""

    stanzas: Mapping[str, Stanza] = field(default_factory=dict)
    """By the ids of cases."""
    faults: tuple[Fault, ...] = ()


def baseline_path(case_file: Path, model: Model) -> Path:
    """Name the file: `__fcall__/<model>/<whole name of the case file>.ambr`, beside the case file."""
    return case_file.parent / "__fcall__" / model.folder / f"{case_file.name}{SUFFIX}"


def read_baseline(path: Path, named: Path | None = None) -> Baseline | None:
    """Read the file; None where there is none. What is wrong with it becomes faults, which call it `named`."""
    try:
        lines = path.read_bytes().split(b"\n")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return Baseline(faults=(_fault(named or path, 1, f"the baseline cannot be read: {error.strerror}"),))
    return _BaselineReader(path, named or path, lines).baseline()


def write_baseline(path: Path, stanzas: Iterable[Stanza]) -> None:
    """Replace the file at once; the same stanzas give the same bytes. A file without any is removed.

    Raises what `StanzaSerializer.serialize` raises, and then leaves the file as it is.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    collection = SnapshotCollection(location=str(draft))
    for stanza in stanzas:
        collection.add(Snapshot(stanza.case, BaselineExtension().serialize(stanza)))
    if not collection.has_snapshots:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        StanzaSerializer.write_file(collection, file_lock=False)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _field_text(value: Any) -> str:
    if isinstance(value, list) and value and isinstance(value[0], list | dict):
        return "[\n" + ",\n".join(f"    {readable_json(each)}" for each in value) + "\n  ]"
    return readable_json(value)


class _BaselineReader:
    """One pass over one file. syrupy passes over what it does not understand; we may not: it may be a verdict."""

    def __init__(self, path: Path, named: Path, lines: list[bytes]) -> None:
        self.path = path
        self.named = named
        self.lines = [line.decode(errors="replace").rstrip("\r") for line in lines]

    def baseline(self) -> Baseline:
        if conflicts := tuple(self._conflicts()):
            return Baseline(faults=conflicts)
        try:
            found = BaselineExtension().read_snapshot_collection(str(self.path))
        except (MalformedAmberFile, UnicodeDecodeError):
            return Baseline(faults=(self._fault(1, "this is no baseline, or a part of it is missing"),))
        if found.tainted:
            message = f"this is no baseline in the format {StanzaSerializer.VERSION!r}"
            return Baseline(faults=(self._fault(1, message, self.lines[0]),))
        if faults := tuple(self._lost(found)):
            return Baseline(faults=faults)
        return self._of(found)

    def _of(self, found: SnapshotCollection) -> Baseline:
        stanzas, faults = {}, []
        for snapshot in found:
            try:
                stanza = stanza_from_json(json.loads(str(snapshot.data)))
            except RecursionError:
                faults.append(self._damaged(snapshot.name, "it nests too deeply"))
            except ValueError as error:
                faults.append(self._damaged(snapshot.name, str(error)))
            else:
                stanzas[snapshot.name] = stanza
                if stanza.case != snapshot.name:
                    faults.append(self._damaged(snapshot.name, f"it is about the case {stanza.case!r}"))
        return Baseline(faults=tuple(faults)) if faults else Baseline(stanzas)

    def _conflicts(self) -> Iterator[Fault]:
        for number, line in enumerate(self.lines, start=1):
            if line.startswith("<<<<<<< "):
                hint = "Resolve it: keep one of the two stanzas of each case, whole from `# name:` to `# ---`."
                where = Location(str(self.named), number)
                yield Fault("merge-conflict", where, "an unresolved merge conflict", line, hint)

    def _lost(self, found: SnapshotCollection) -> Iterator[Fault]:
        """The stanzas that syrupy leaves out without a word."""
        seen: dict[str, int] = {}
        for name, number in self._names():
            if (first := seen.setdefault(name, number)) != number:
                yield self._fault(number, f"the case {name!r} stands here a second time, after line {first}")
            elif found.get(name) is None:
                yield self._fault(number, f"the stanza of {name!r} is not whole")

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
