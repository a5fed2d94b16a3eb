"""The changes from run to run in the questions, and in what answered, as far as the files of runs show them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Literal, NamedTuple, TypeAlias

from pytest_fcall.core.values import Json
from pytest_fcall.tracking.history import CaseName
from pytest_fcall.tracking.question_digests import (
    EXPECTATION,
    PROMPT,
    SETTINGS,
    SYSTEM,
    TOOL_PREFIX,
    changed_parts,
    provenance_changes,
)
from pytest_fcall.tracking.stanza import Stanza, StanzaRequest, parse_stanza

ChangedSide: TypeAlias = Literal["prompt", "tools", "model", "engine", "cases"]
"""The subject of a change: system prompts, tools, models, what serves them, or case files."""

_SIDES: Final[Mapping[str, ChangedSide]] = {SYSTEM: "prompt", PROMPT: "cases", SETTINGS: "model"}
_MODEL: Final = "engine.model: "
"""Prefix of the line that says that a server names another model."""
_EXPECTATION_CHANGED: Final = "what is expected changed"
_NEW_CASE: Final = "the case is new"


class SideChange(NamedTuple):
    """A change since earlier runs, and the number of cases that it concerns."""

    side: ChangedSide
    text: str
    cases: int


class _Kept:
    """The stanza of a case in a run, read when it is needed: most are the same from run to run."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._stanza: Stanza | None = None

    def read(self) -> Stanza:
        """The stanza. Raises ValueError."""
        if self._stanza is None:
            self._stanza = parse_stanza(self.text)
        return self._stanza


class RunChanges:
    """Finds the changes of each run. Runs are added oldest first.

    A case is compared with the last run that had it, so that a run of a part of the cases hides nothing.
    """

    def __init__(self) -> None:
        self._known: dict[CaseName, _Kept | None] = {}
        """The last stanza of each case; None where no run has kept one."""

    def add(self, cases: Iterable[tuple[CaseName, str | None]]) -> list[SideChange]:
        """The changes of a run of these cases, with the stanzas that it has kept; of the first run, none is known."""
        is_first, models = not self._known, {model for _, model, _ in self._known}
        found: Counter[tuple[ChangedSide, str]] = Counter()
        for name, stanza in cases:
            is_new, before = name not in self._known, self._known.get(name)
            now = before if before and stanza == before.text else _Kept(stanza) if stanza else None
            self._known[name] = now or before
            if is_first:
                continue
            if name[1] not in models:
                found["model", f"{name[1] or 'no model'} is new"] += 1
            elif is_new:
                found["cases", _NEW_CASE] += 1
            elif before and now and before is not now:
                found.update(_changes(before, now))
        return [SideChange(side, text, count) for (side, text), count in found.items()]


def _changes(before: _Kept, now: _Kept) -> list[tuple[ChangedSide, str]]:
    """The changes between two stanzas of a case, each once; those that cannot be read show none."""
    try:
        return [*dict.fromkeys(_differences(before.read(), now.read()))]
    except ValueError:
        return []


def _differences(old: Stanza, new: Stanza) -> Iterator[tuple[ChangedSide, str]]:
    if old.digests != new.digests:
        yield from _question(old.digests, new.digests)
        if old.digests and new.digests and old.digests.get(EXPECTATION) != new.digests.get(EXPECTATION):
            yield "cases", _EXPECTATION_CHANGED
    if old.wire and new.wire:
        for side, line in _question(_inside(old.wire), _inside(new.wire)):
            yield side, f"inside the app: {line}"
        models = [", ".join(sorted({each.model for each in wire})) for wire in (old.wire, new.wire)]
        if models[0] != models[1]:
            yield "model", f"inside the app: {models[0]} → {models[1]}"
    if old.provenance != new.provenance:
        for line in provenance_changes(_engine(old), _engine(new)):
            is_model = line.startswith(_MODEL)
            yield ("model" if is_model else "engine"), line.removeprefix(_MODEL if is_model else "engine.")


def _question(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[tuple[ChangedSide, str]]:
    for part, line in changed_parts(old, new):
        yield _SIDES.get(part, "tools"), line


def _inside(wire: Iterable[StanzaRequest]) -> dict[str, str]:
    """The digests of all requests of an app together, without prompts: these hold what models said before."""
    systems, found = set[str](), dict[str, str]()
    for request in wire:
        systems.add(request.digests.get(SYSTEM, ""))
        found |= {name: each for name, each in request.digests.items() if name.startswith(TOOL_PREFIX)}
    return {**found, SYSTEM: " ".join(sorted(systems))}


def _engine(stanza: Stanza) -> Mapping[str, Json]:
    return {"engine": stanza.provenance["engine"]} if "engine" in stanza.provenance else {}
