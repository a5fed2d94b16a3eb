"""`suite:`, the cases of a public benchmark, on the terms of the file that names it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from yaml import Node, ScalarNode

from pytest_fcall.cases import fields
from pytest_fcall.cases.case import Ground
from pytest_fcall.cases.faults import Faults, did_you_mean, one_of, shown
from pytest_fcall.cases.fields import Entries
from pytest_fcall.cases.globs import one_or_many
from pytest_fcall.cases.picking import Pick, read_pick
from pytest_fcall.cases.rules import profile
from pytest_fcall.cases.suite_terms import terms_of
from pytest_fcall.core import Case, FaultyCase, Location, Profile
from pytest_fcall.core.extension import Suite
from pytest_fcall.core.fault import Fault

SUITE_KEYS = ("suite", "pick", "path", "profile", "mode")
_MODES = ("native", "prompt")
_Cases: TypeAlias = "Iterable[Case | FaultyCase]"


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What the file says of its suite."""

    parts: Mapping[str, Sequence[str]]
    """By the name of the suite."""
    path: Path | None
    pick: Pick
    profile: Profile | None
    prompted: bool


def suite_cases(found: Entries, ground: Ground, faults: Faults, taken: AbstractSet[str]) -> list[Case | FaultyCase]:
    """The cases of the suite that a file names; none where there are faults. `taken` are ids of other cases."""
    wanted = _wanted(found, ground, faults)
    if faults.found:
        return []
    place = told = found["suite"][1]
    try:
        read = {case.id: case for name in wanted.parts for case in _read(name, wanted, ground)}
        told, ids = found.get("pick", found["suite"])[1], list(read)
        chosen = [read[ids[number]] for number in wanted.pick.chosen(ids)]
    except (ValueError, OSError) as error:
        faults.add("bad-suite", told, str(error))
        return []
    if twice := next((case.id for case in chosen if case.id in taken), None):
        faults.add(
            "duplicate-id", place, f"the suite and the file have a case {shown(twice)}", "rename that in `cases`"
        )
    return list(_on_terms(chosen, wanted, place, ground, faults))


def suite_and_parts(text: str) -> tuple[str, list[str]]:
    """Take `NAME:PART,PART` apart; the part is empty where all are meant."""
    name, _, parts = text.partition(":")
    return name.strip(), [part.strip() for part in parts.split(",")]


def _wanted(found: Entries, ground: Ground, faults: Faults) -> _Wanted:
    parts: dict[str, list[str]] = {}
    for text, node in one_or_many(found["suite"][1], faults, "`suite`"):
        name, named = suite_and_parts(text)
        parts.setdefault(name, []).extend(named)
        _check_known(name, node, ground, faults)
    return _Wanted(
        parts,
        ground.folder / fields.word(found["path"][1], faults, "`path`") if "path" in found else None,
        _pick(found["pick"][1], faults) if "pick" in found else Pick(),
        profile(found["profile"][1], ground.scope(faults)) if "profile" in found else None,
        "mode" in found and fields.choice(found["mode"][1], faults, "`mode`", _MODES) == "prompt",
    )


def _check_known(name: str, node: Node, ground: Ground, faults: Faults) -> None:
    known = ground.extensions.suites
    if name and name not in known:
        hint = did_you_mean(name, known) or (one_of(known) if known else "no suite is installed")
        faults.add("unknown-suite", node, f"there is no suite {shown(name)}", hint)


def _pick(node: Node, faults: Faults) -> Pick:
    nodes = [node] if isinstance(node, ScalarNode) else fields.items(node, faults, "`pick`")
    texts = [str(item.value) for item in nodes if isinstance(item, ScalarNode)]
    if len(texts) < len(nodes) or not all(text.strip() for text in texts):
        faults.add("wrong-value", node, "`pick` takes a number such as 200 or 200@7, an id, a glob, or a list of these")
    try:
        return read_pick(texts)
    except ValueError as error:
        faults.add("wrong-value", node, str(error))
        return Pick()


def _read(name: str, wanted: _Wanted, ground: Ground) -> Iterator[Case | FaultyCase]:
    suite = ground.extensions.suites[name]
    read = _prompted(name, suite) if wanted.prompted else suite.cases
    for part in wanted.parts[name]:
        places: dict[str, Location] = {}
        for case in _apart(read(part, wanted.path), places):
            yield replace(case, suite=name) if isinstance(case, Case) else case
        if not places:
            raise ValueError(f"there is no case in {name}{f':{part}' if part else ''}")


def _apart(cases: _Cases, places: dict[str, Location]) -> Iterator[Case | FaultyCase]:
    """The cases of a part; of two with one id, the second is a fault. Their places are added to `places`."""
    times: Counter[str] = Counter()
    for case in cases:
        times[case.id] += 1
        if case.id not in places:
            places[case.id] = case.location
            yield case
            continue
        first = places[case.id]
        twice = f"the id {shown(case.id)} stands in {first.path}:{first.line}, too"
        own = case.faults if isinstance(case, FaultyCase) else (Fault("bad-row", case.location, twice),)
        yield FaultyCase(f"{case.id} ({times[case.id]})", case.location, own)


def _prompted(name: str, suite: Suite) -> Callable[[str, Path | None], _Cases]:
    read: Callable[[str, Path | None], _Cases] | None = getattr(suite, "prompted", None)
    if read is None:
        raise ValueError(f"the suite {name} has no prompt of its own: leave `mode: prompt` out")
    return read


def _on_terms(
    cases: Iterable[Case | FaultyCase], wanted: _Wanted, place: Node, ground: Ground, faults: Faults
) -> Iterator[Case | FaultyCase]:
    """The cases as the file's defaults and rules have them; they stand where the suite is named."""
    terms, location = terms_of(ground, faults), faults.source.location(place)
    if wanted.profile:
        terms = replace(terms, profile=wanted.profile)
    for case in cases:
        made = terms.on(case, location) if isinstance(case, Case) else case
        if isinstance(made, Case) and made.rules.profile == "bfcl" and (terms.match or terms.never):
            name = "match" if terms.match else "never"
            message = f"`{name}` means nothing under `profile: bfcl`"
            faults.add("beyond-bfcl", place, message, "write `profile: strict` beside `suite`")
            return
        yield made
