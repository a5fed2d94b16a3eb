"""Verdicts become the baseline."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from pytest_fcall.core import Fault, Json
from pytest_fcall.tracking.baseline_file import read_baseline, write_baseline
from pytest_fcall.tracking.revision import revision_of
from pytest_fcall.tracking.stanza import Stanza, stanza_to_json


class DamagedBaseline(Exception):
    """A file that nothing may be written to before a person has mended it."""

    def __init__(self, faults: tuple[Fault, ...]) -> None:
        super().__init__("\n".join(fault.message for fault in faults))
        self.faults = faults


@dataclass(frozen=True, slots=True)
class Acceptance:
    """On which day, and in which state of the project, verdicts are accepted."""

    day: str
    told: Mapping[str, Json]

    @classmethod
    def now(cls, root: Path, version: str) -> Acceptance:
        """Accept today, in the project at `root`, with this version of the plugin."""
        day = datetime.now(UTC).date().isoformat()
        return cls(day, {"date": day, "plugin": version, **revision_of(root)})

    def stanza(self, now: Stanza, before: Stanza | None, because: str | None = None) -> Stanza:
        """What is kept of a verdict from now on: what is kept already, unless something that counts is otherwise."""
        since = known = None
        if not now.valid:
            same = before is not None and not before.valid and sorted(before.reasons) == sorted(now.reasons)
            since = before.since if before and same else self.day
            known = because or (before.because if before and same else None)
        kept = replace(now, since=since, because=known, provenance={**now.provenance, **self.told})
        return before if before and _reviewed_content(before) == _reviewed_content(kept) else kept


def is_acceptable(stanza: Stanza) -> bool:
    """A forbidden call is never excused, so there is nothing to accept."""
    return not any(kind == "forbidden_call" for kind, _ in stanza.reasons)


def accept(path: Path, stanzas: Iterable[Stanza], acceptance: Acceptance, because: str | None = None) -> list[str]:
    """Write verdicts into a baseline, and leave those of other cases as they are.

    Returns the cases of which something else is kept now; without any, the file is not touched. Raises
    DamagedBaseline, and OSError.
    """
    kept = read_stanzas(path)
    taken = {now.case: acceptance.stanza(now, kept.get(now.case), because) for now in stanzas}
    changed = [case for case, stanza in taken.items() if stanza is not kept.get(case)]
    if changed:
        write_baseline(path, {**kept, **taken}.values())
    return changed


def remove_cases(path: Path, gone: Callable[[str], bool]) -> list[str]:
    """Take the cases out of a baseline that are gone, and return them. Raises DamagedBaseline, and OSError."""
    kept = read_stanzas(path)
    forgotten = [case for case in kept if gone(case)]
    if forgotten:
        write_baseline(path, [stanza for case, stanza in kept.items() if case not in forgotten])
    return forgotten


def rename_case(path: Path, old: str, new: str) -> None:
    """Give a case another id. Raises DamagedBaseline, and OSError."""
    kept = read_stanzas(path)
    write_baseline(path, [replace(stanza, case=new) if case == old else stanza for case, stanza in kept.items()])


def read_stanzas(path: Path) -> Mapping[str, Stanza]:
    """What a file keeps; nothing where there is none. Raises DamagedBaseline."""
    found = read_baseline(path)
    if found is None:
        return {}
    if found.faults:
        raise DamagedBaseline(found.faults)
    return found.stanzas


def _reviewed_content(stanza: Stanza) -> dict[str, Json]:
    """All but what is told only; requests that an app sends at the same time come in any order."""
    in_order = None if stanza.wire is None else tuple(sorted(stanza.wire, key=repr))
    return stanza_to_json(replace(stanza, provenance={}, wire=in_order))
