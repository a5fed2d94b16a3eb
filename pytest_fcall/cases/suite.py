"""The cases of a public benchmark that a file names with `suite:`, with the defaults of the file."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from yaml import Node, ScalarNode

from pytest_fcall.cases import node_values
from pytest_fcall.cases.case import FileContext
from pytest_fcall.cases.defaults import Options
from pytest_fcall.cases.faults import Faults, one_of, quote
from pytest_fcall.cases.files import check_reach
from pytest_fcall.cases.node_values import Entries, one_or_many
from pytest_fcall.cases.placeholders import Placeholders
from pytest_fcall.cases.rules import suite_profile
from pytest_fcall.core.bounded_text import glob_matches, is_glob
from pytest_fcall.core.case import Case, Fault, FaultyCase, Location
from pytest_fcall.core.expectation import Profile, Rules
from pytest_fcall.core.extension import Suite
from pytest_fcall.core.message_text import did_you_mean, nearest, suggestion

_COUNT = re.compile(r"([0-9]{1,9})(?:@([0-9]{1,18}))?")
_BAD_COUNT = re.compile(r"-[0-9]+|-?[0-9.]*@.*")
"""A misspelt count. No suite has such an id."""
_MODES = ("native", "prompt")
_Cases: TypeAlias = "Iterable[Case | FaultyCase]"


@dataclass(frozen=True, slots=True)
class Pick:
    """A selection of cases: by ids and globs, or `count` of them: the first, or with a `seed` a sample."""

    ids: tuple[str, ...] = ()
    count: int | None = None
    seed: int | None = None

    def indexes(self, ids: Sequence[str]) -> list[int]:
        """The indexes of the selected ids, in order. Raises ValueError with a message for people for an unknown id.

        A sample depends only on the ids and the seed. A larger sample contains a smaller one.
        """
        if self.ids:
            self._check(ids)
            wanted, globs = frozenset(self.ids), [glob for glob in self.ids if is_glob(glob)]
            return [n for n, id_ in enumerate(ids) if id_ in wanted or any(glob_matches(g, id_) for g in globs)]
        indexes = range(len(ids))
        if self.count is None or self.seed is None:
            return list(indexes[: self.count])
        drawn = sorted(indexes, key=lambda index: hashlib.sha256(f"{self.seed}:{ids[index]}".encode()).digest())
        return sorted(drawn[: self.count])

    def _check(self, ids: Sequence[str]) -> None:
        known = frozenset(ids)
        for wanted in self.ids:
            if wanted not in known and not (is_glob(wanted) and any(glob_matches(wanted, id_) for id_ in ids)):
                near = next((id_ for id_ in ids if id_.startswith(wanted)), None) or nearest(wanted, ids)
                meant = suggestion(near) or f"available: {', '.join(ids[:3])} …"
                raise ValueError(f"no case has the id {wanted!r:.80}; {meant}")


def read_pick(texts: Sequence[str]) -> Pick:
    """Read `200`, `200@7`, or ids and globs. Raises ValueError with a message for people for a bad number."""
    found = _COUNT.fullmatch(texts[0]) if len(texts) == 1 else None
    if len(texts) == 1 and (_BAD_COUNT.fullmatch(texts[0]) if found is None else int(found[1]) == 0):
        raise ValueError(f"{texts[0]!r:.80} selects no case; write a number, or a number and a seed: 200, 200@7")
    if found is None:
        return Pick(ids=tuple(texts))
    return Pick(count=int(found[1]), seed=int(found[2]) if found[2] else None)


@dataclass(frozen=True, slots=True)
class _Selection:
    """The parts of suites that a file names, and how they are read."""

    parts: Mapping[str, Sequence[str]]
    """By the name of the suite."""
    path: Path | None
    pick: Pick
    profile: Profile | None
    prompted: bool


def suite_cases(
    found: Entries, context: FileContext, faults: Faults, taken: AbstractSet[str]
) -> list[Case | FaultyCase]:
    """The cases of the suite that a file names; none if there are faults. `taken` are the ids of its other cases."""
    selection = _selection(found, context, faults)
    if faults:
        return []
    place = at_fault = found["suite"][1]
    try:
        read = {case.id: case for name in selection.parts for case in _read(name, selection, context)}
        at_fault, ids = found.get("pick", found["suite"])[1], list(read)
        cases = [read[ids[index]] for index in selection.pick.indexes(ids)]
    except (ValueError, OSError) as error:
        faults.add("bad-suite", at_fault, str(error))
        return []
    if twice := next((case.id for case in cases if case.id in taken), None):
        message = f"the suite and the file both have a case {quote(twice)}"
        faults.add("duplicate-id", place, message, "rename the one in `cases`")
    return _with_defaults(cases, selection, place, context, faults)


def split_suite_name(text: str) -> tuple[str, list[str]]:
    """Split `NAME:PART,PART`. Without parts, the only part is empty and means all."""
    name, _, parts = text.partition(":")
    return name.strip(), [part.strip() for part in parts.split(",")]


def _selection(found: Entries, context: FileContext, faults: Faults) -> _Selection:
    known = context.extensions.suites
    parts: dict[str, list[str]] = {}
    for text, node in one_or_many(found["suite"][1], faults, "`suite`"):
        name, named = split_suite_name(text)
        parts.setdefault(name, []).extend(named)
        if name and name not in known:
            hint = did_you_mean(name, known) or (one_of(known) if known else "no suite is installed")
            faults.add("unknown-suite", node, f"there is no suite {quote(name)}", hint)
    return _Selection(
        parts,
        found.read("path", _data_path, context, faults),
        found.read("pick", _pick, faults) or Pick(),
        found.read("profile", suite_profile, context.scope(faults)),
        found.read("mode", node_values.choice, faults, "`mode`", _MODES, "native") == "prompt",
    )


def _data_path(node: Node, context: FileContext, faults: Faults) -> Path | None:
    """The path of the suite's data; None for a faulty one."""
    name = node_values.word(node, faults, "`path`")
    path = context.folder / name
    return path if name and check_reach(path, node, context.reach, faults) else None


def _pick(node: Node, faults: Faults) -> Pick:
    nodes = [node] if isinstance(node, ScalarNode) else node_values.items(node, faults, "`pick`")
    texts = [str(item.value) for item in nodes if isinstance(item, ScalarNode)]
    if len(texts) < len(nodes) or not all(text.strip() for text in texts):
        faults.add(
            "wrong-value", node, "`pick` must be a number such as 200 or 200@7, an id, a glob, or a list of these"
        )
    try:
        return read_pick(texts)
    except ValueError as error:
        faults.add("wrong-value", node, str(error))
        return Pick()


def _read(name: str, selection: _Selection, context: FileContext) -> Iterator[Case | FaultyCase]:
    suite = context.extensions.suites[name]
    read = _prompted_reader(name, suite) if selection.prompted else suite.cases
    for part in selection.parts[name]:
        locations: dict[str, Location] = {}
        for case in _unique(read(part, selection.path), locations):
            yield replace(case, suite=name) if isinstance(case, Case) else case
        if not locations:
            raise ValueError(f"there is no case in {name}{f':{part}' if part else ''}")


def _unique(cases: _Cases, locations: dict[str, Location]) -> Iterator[Case | FaultyCase]:
    """The cases of a part. A repeated id makes a faulty case. The locations of the others are added to `locations`."""
    times: Counter[str] = Counter()
    for case in cases:
        times[case.id] += 1
        if case.id not in locations:
            locations[case.id] = case.location
            yield case
            continue
        first = locations[case.id]
        message = f"duplicate id {quote(case.id)}, first used in {first.path}:{first.line}"
        own = case.faults if isinstance(case, FaultyCase) else (Fault("bad-row", case.location, message),)
        yield FaultyCase(f"{case.id} ({times[case.id]})", case.location, own)


def _prompted_reader(name: str, suite: Suite) -> Callable[[str, Path | None], _Cases]:
    read: Callable[[str, Path | None], _Cases] | None = getattr(suite, "prompted", None)
    if read is None:
        raise ValueError(f"the suite {name} does not support `mode: prompt`: leave it out")
    return read


def _with_defaults(
    cases: Sequence[Case | FaultyCase], selection: _Selection, place: Node, context: FileContext, faults: Faults
) -> list[Case | FaultyCase]:
    """The cases with the file's defaults and match rules. Their location is that of `suite:`."""
    scope = context.scope(faults)
    no_entries = Entries()
    clock = context.defaults.clock(no_entries, lambda: scope)
    if clock is not None:
        scope.placeholders = Placeholders(clock, {})
    options = context.defaults.options(no_entries, scope)
    location = faults.source.location(place)
    ruled = {case.suite for case in cases if isinstance(case, Case) and _has_own_rules(case)}
    # With the key's object, so that its id stays taken.
    all_rules: dict[tuple[int, bool], tuple[Rules, Rules]] = {}
    changed: list[Case | FaultyCase] = []
    for case in cases:
        if isinstance(case, FaultyCase):
            changed.append(case._replace(tags=tuple(dict.fromkeys((*options.tags, *case.tags)))))
            continue
        key = id(case.rules), case.suite in ruled
        if key not in all_rules:
            all_rules[key] = case.rules, _with_file_rules(case.rules, options, selection.profile, ruled=key[1])
        rules = all_rules[key][1]
        if rules.profile == "original" and case.suite not in ruled:
            message = f"the suite {case.suite} has no rules of its own, as `profile: original` asks for"
            faults.add("contradiction", place, message, "leave `profile` out, or name this suite apart")
            break
        if rules.profile != "strict" and (options.rules.match or options.never):
            unsupported = "match" if options.rules.match else "never"
            message = f"`{unsupported}` is not supported by `profile: {rules.profile}`"
            faults.add("beyond-bfcl", place, message, "write `profile: strict` beside `suite`")
            break
        changed.append(_with_options(case, options, rules, location))
    return changed


def _has_own_rules(case: Case) -> bool:
    return case.judge is not None or case.conversation_judge is not None or case.rules.profile != "strict"


def _meant_profile(asked: Profile, own: Profile, *, ruled: bool) -> Profile:
    """The profile that is meant: the leaderboard's `original` is `bfcl`, and so others' `original` was once called."""
    if asked == "original" and own == "bfcl":
        return "bfcl"
    return "original" if asked == "bfcl" and own != "bfcl" and ruled else asked


def _with_file_rules(rules: Rules, options: Options, profile: Profile | None, *, ruled: bool) -> Rules:
    return rules._replace(
        profile=_meant_profile(profile or options.profile or rules.profile, rules.profile, ruled=ruled),
        strings=options.strings or rules.strings,
        match=(*options.rules.match, *rules.match),
        never=(*options.never, *rules.never),
        now=rules.now or options.rules.now,
    )


def _with_options(case: Case, options: Options, rules: Rules, location: Location) -> Case:
    """The case with the options of the file."""
    turn = case.turns[0]
    if options.system_message and not (turn.messages and turn.messages[0].get("role") in {"system", "developer"}):
        turn = replace(turn, messages=(*options.system_message, *turn.messages))
    return replace(
        case,
        location=location,
        turns=case.turns if turn is case.turns[0] else (turn, *case.turns[1:]),
        rules=rules,
        settings={**options.settings, **case.settings} if options.settings else case.settings,
        tags=tuple(dict.fromkeys((*options.tags, *case.tags))) if options.tags else case.tags,
        skip=(*options.skip, *case.skip),
        xfail=(*options.xfail, *case.xfail),
        samples=options.samples or case.samples,
        category=options.category or case.category,
        decoder=options.decoder or case.decoder,
        retrieve=options.retrieve or case.retrieve,
    )
