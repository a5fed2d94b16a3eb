"""`suite:` and `pick:`: the cases of a public benchmark, with the defaults of the file applied."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

from yaml import Node, ScalarNode

from pytest_fcall.cases import node_values
from pytest_fcall.cases.calls import call_patterns
from pytest_fcall.cases.case import FileContext
from pytest_fcall.cases.faults import Faults, did_you_mean, one_of, shown
from pytest_fcall.cases.ids import tag
from pytest_fcall.cases.messages import Messages
from pytest_fcall.cases.node_values import Entries, one_or_many
from pytest_fcall.cases.option_values import conditions, retrieval, samples, settings
from pytest_fcall.cases.options import Options, category, decoder
from pytest_fcall.cases.placeholders import Placeholders, read_clock
from pytest_fcall.cases.rules import profile, strings
from pytest_fcall.cases.scope import Scope
from pytest_fcall.core import (
    CallPattern,
    Case,
    Condition,
    FaultyCase,
    Json,
    Location,
    MatchRule,
    Profile,
    Retrieval,
    Rules,
    Samples,
    Strings,
    Turn,
)
from pytest_fcall.core.extension import Suite
from pytest_fcall.core.fault import Fault
from pytest_fcall.core.glob import glob_matches, is_glob

_COUNT = re.compile(r"([0-9]{1,9})(?:@([0-9]{1,18}))?")
_NO_COUNT = re.compile(r"-[0-9]+|-?[0-9.]*@.*")
"""Was meant for one; no suite calls cases so."""


@dataclass(frozen=True, slots=True)
class Pick:
    """A choice among cases. Without ids, `count` of them: the first, or with a `seed` a sample."""

    ids: tuple[str, ...] = ()
    count: int | None = None
    seed: int | None = None

    def chosen(self, ids: Sequence[str]) -> list[int]:
        """The places of those that are taken, in order. Raises ValueError, in words, for an id that is not there.

        A sample depends on nothing but the ids and the seed, and a larger one holds a smaller one.
        """
        if self.ids:
            self._check(ids)
            wanted, globs = frozenset(self.ids), [glob for glob in self.ids if is_glob(glob)]
            return [n for n, id_ in enumerate(ids) if id_ in wanted or any(glob_matches(g, id_) for g in globs)]
        places = range(len(ids))
        if self.count is None or self.seed is None:
            return list(places[: self.count])
        drawn = sorted(places, key=lambda place: hashlib.sha256(f"{self.seed}:{ids[place]}".encode()).digest())
        return sorted(drawn[: self.count])

    def _check(self, ids: Sequence[str]) -> None:
        known = frozenset(ids)
        for wanted in self.ids:
            if wanted not in known and not (is_glob(wanted) and any(glob_matches(wanted, id_) for id_ in ids)):
                from difflib import get_close_matches

                near = [id_ for id_ in ids if id_.startswith(wanted)] or get_close_matches(wanted[:200], ids, n=1)
                meant = f"did you mean {near[0]!r}?" if near else f"there is {', '.join(ids[:3])} …"
                raise ValueError(f"no case has the id {wanted!r:.80}; {meant}")


def read_pick(texts: Sequence[str]) -> Pick:
    """Read `200`, `200@7`, or ids and globs. Raises ValueError, in words, for a number that picks nothing."""
    found = _COUNT.fullmatch(texts[0]) if len(texts) == 1 else None
    if len(texts) == 1 and (_NO_COUNT.fullmatch(texts[0]) if found is None else int(found[1]) == 0):
        told = f"{texts[0]!r:.80} picks nothing"
        raise ValueError(f"{told}; write how many, or with a seed how many at random: 200, 200@7")
    if found is None:
        return Pick(ids=tuple(texts))
    return Pick(count=int(found[1]), seed=int(found[2]) if found[2] else None)


@dataclass(frozen=True, slots=True)
class SuiteDefaults:
    """The terms of one file. What is None or empty leaves a case as its suite has it."""

    system: str | None
    settings: Mapping[str, Json]
    tags: tuple[str, ...]
    skip: tuple[Condition, ...]
    xfail: tuple[Condition, ...]
    samples: Samples | None
    category: str | None
    decoder: str | None
    retrieve: Retrieval | None
    strings: Strings | None
    profile: Profile | None
    match: tuple[MatchRule, ...]
    never: tuple[CallPattern, ...]
    now: datetime

    def on(self, case: Case, place: Location) -> Case:
        """The case on these terms, standing at `place`."""
        return replace(
            case,
            location=place,
            turns=(self._first(case), *case.turns[1:]),
            rules=self._rules(case.rules),
            settings={**self.settings, **case.settings},
            tags=tuple(dict.fromkeys((*self.tags, *case.tags))),
            skip=(*self.skip, *case.skip),
            xfail=(*self.xfail, *case.xfail),
            samples=self.samples or case.samples,
            category=self.category or case.category,
            decoder=self.decoder or case.decoder,
            retrieve=self.retrieve or case.retrieve,
        )

    def _first(self, case: Case) -> Turn:
        """The first turn, below a system message if it has none."""
        turn = case.turns[0]
        if not self.system or (turn.messages and turn.messages[0].get("role") in {"system", "developer"}):
            return turn
        return replace(turn, messages=({"role": "system", "content": self.system}, *turn.messages))

    def _rules(self, rules: Rules) -> Rules:
        return replace(
            rules,
            profile=self.profile or rules.profile,
            strings=self.strings or rules.strings,
            match=(*self.match, *rules.match),
            never=(*self.never, *rules.never),
            now=rules.now or self.now,
        )


def read_suite_defaults(ground: FileContext, faults: Faults) -> SuiteDefaults:
    """Read the terms of a file."""
    scope = ground.scope(faults)
    options = Options({}, ground.defaults, scope)
    now = options.one("now", lambda node, within: read_clock(node, within.faults))
    if now is not None:
        scope.filling = Placeholders(now, {})
    return SuiteDefaults(
        system=options.one("system", lambda node, within: Messages(within).text(node, "`system`")),
        settings=options.merged("settings", settings),
        tags=options.joined("tags", _tags),
        skip=options.joined("skip", lambda node, within: conditions(node, within.faults, "`skip`")),
        xfail=options.joined("xfail", lambda node, within: conditions(node, within.faults, "`xfail`")),
        samples=options.one("samples", lambda node, within: samples(node, within.faults)),
        category=options.one("category", category),
        decoder=options.one("decoder", decoder),
        retrieve=options.one("retrieve", retrieval),
        strings=options.one("strings", strings),
        profile=options.one("profile", profile),
        match=scope.match,
        never=options.joined("never", lambda node, within: call_patterns(node, within, "`never`")),
        now=scope.filling.now,
    )


def _tags(node: Node, scope: Scope) -> tuple[str, ...]:
    return tuple(tag(item, scope.faults) for item in node_values.items(node, scope.faults, "`tags`"))


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


def suite_cases(
    found: Entries, ground: FileContext, faults: Faults, taken: AbstractSet[str]
) -> list[Case | FaultyCase]:
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


def split_suite_name(text: str) -> tuple[str, list[str]]:
    """Take `NAME:PART,PART` apart; the part is empty where all are meant."""
    name, _, parts = text.partition(":")
    return name.strip(), [part.strip() for part in parts.split(",")]


def _wanted(found: Entries, ground: FileContext, faults: Faults) -> _Wanted:
    parts: dict[str, list[str]] = {}
    for text, node in one_or_many(found["suite"][1], faults, "`suite`"):
        name, named = split_suite_name(text)
        parts.setdefault(name, []).extend(named)
        _check_known(name, node, ground, faults)
    return _Wanted(
        parts,
        ground.folder / node_values.word(found["path"][1], faults, "`path`") if "path" in found else None,
        _pick(found["pick"][1], faults) if "pick" in found else Pick(),
        profile(found["profile"][1], ground.scope(faults)) if "profile" in found else None,
        "mode" in found and node_values.choice(found["mode"][1], faults, "`mode`", _MODES) == "prompt",
    )


def _check_known(name: str, node: Node, ground: FileContext, faults: Faults) -> None:
    known = ground.extensions.suites
    if name and name not in known:
        hint = did_you_mean(name, known) or (one_of(known) if known else "no suite is installed")
        faults.add("unknown-suite", node, f"there is no suite {shown(name)}", hint)


def _pick(node: Node, faults: Faults) -> Pick:
    nodes = [node] if isinstance(node, ScalarNode) else node_values.items(node, faults, "`pick`")
    texts = [str(item.value) for item in nodes if isinstance(item, ScalarNode)]
    if len(texts) < len(nodes) or not all(text.strip() for text in texts):
        faults.add("wrong-value", node, "`pick` takes a number such as 200 or 200@7, an id, a glob, or a list of these")
    try:
        return read_pick(texts)
    except ValueError as error:
        faults.add("wrong-value", node, str(error))
        return Pick()


def _read(name: str, wanted: _Wanted, ground: FileContext) -> Iterator[Case | FaultyCase]:
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
    cases: Iterable[Case | FaultyCase], wanted: _Wanted, place: Node, ground: FileContext, faults: Faults
) -> Iterator[Case | FaultyCase]:
    """The cases as the file's defaults and rules have them; they stand where the suite is named."""
    terms, location = read_suite_defaults(ground, faults), faults.source.location(place)
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
