"""What a file's defaults and rules mean for the cases of a suite: the suite is silent on them, or the file is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from yaml import Node

from pytest_fcall.cases import fields
from pytest_fcall.cases.calls import call_patterns
from pytest_fcall.cases.case import Ground
from pytest_fcall.cases.clock import clock
from pytest_fcall.cases.conditions import conditions, samples
from pytest_fcall.cases.faults import Faults
from pytest_fcall.cases.filling import Filling
from pytest_fcall.cases.ids import tag
from pytest_fcall.cases.messages import Messages
from pytest_fcall.cases.options import Options, category, decoder
from pytest_fcall.cases.retrieval import retrieval
from pytest_fcall.cases.rules import profile, strings
from pytest_fcall.cases.scope import Scope
from pytest_fcall.cases.settings import settings
from pytest_fcall.core import (
    CallPattern,
    Case,
    Condition,
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


@dataclass(frozen=True, slots=True)
class Terms:
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


def terms_of(ground: Ground, faults: Faults) -> Terms:
    """Read the terms of a file."""
    scope = ground.scope(faults)
    options = Options({}, ground.defaults, scope)
    now = options.one("now", lambda node, within: clock(node, within.faults))
    if now is not None:
        scope.filling = Filling(now, {})
    return Terms(
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
    return tuple(tag(item, scope.faults) for item in fields.items(node, scope.faults, "`tags`"))
