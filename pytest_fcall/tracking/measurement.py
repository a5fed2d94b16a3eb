"""The measurement of a baseline: how often each case was answered rightly, whatever a person has accepted.

It is brought up to date when verdicts are accepted, and runs since then add to it. Only answers to the same question,
judged by the same expectation, are counted together.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from pytest_fcall.core.digests import digest
from pytest_fcall.core.reply import Call
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import Rate
from pytest_fcall.tracking.question_digests import EXPECTATION, PROMPT
from pytest_fcall.tracking.stanza import Stanza

_LENGTH = 8
_MOST_WAYS = 20
"""Most ways of failing that are kept of a case. One that fails in more ways fails in any way."""

_READING = re.compile(
    r"(.*[._/-]|)(check|count|describe|fetch|find|get|list|look_?up|query|read|retrieve|search|show|view)(?![a-z])",
    re.ASCII,
)
"""Names of tools that change nothing, as people name them: `get_weather`, `jira__search`, `readFile`."""

NOTHING = Rate(0, 0)

Standing: TypeAlias = Literal["sound", "undecided", "regressed", "edited"]
"""Whether the answers of a run count as those of an unchanged case."""


@dataclass(frozen=True, slots=True)
class Key:
    """The values that must be equal for answers to be counted together."""

    question: str
    """Digest of everything that the model was given."""
    prompt: str
    """Digest of the case's own messages."""
    expectation: str

    @classmethod
    def of(cls, digests: Mapping[str, str]) -> Key:
        """The key that follows from the digests of a stanza."""
        given = {name: value for name, value in digests.items() if name != EXPECTATION}
        return cls(digest(given)[:_LENGTH], digests.get(PROMPT, ""), digests.get(EXPECTATION, ""))

    def is_same_case(self, other: Key) -> bool:
        """Whether neither the case's own messages nor its expectation differ."""
        return (self.prompt, self.expectation) == (other.prompt, other.expectation)


@dataclass(frozen=True, slots=True)
class RunVerdict:
    """The finding of one run about one case."""

    case: str
    key: Key
    rate: Rate
    """The number of right answers, and of all that were new in the run."""
    standing: Standing = "sound"
    way: str = ""
    """The way of failing; empty where the answers are right."""
    is_known: bool = False
    """Whether the run excused its way of failing."""
    run: str = ""
    """The moment of the run, as its id begins. Moments sort by time."""
    revision: str = ""
    """The commit of the project; empty where files differed from it, or where it is unknown."""
    again: Rate = NOTHING
    """The answers of `rate` that were asked for since the first ones were wrong."""
    variants: Mapping[str, Rate] = field(default_factory=dict)
    """The answers to variants of the case, by relation."""

    @property
    def first(self) -> Rate:
        """The answers that were asked for whatever the others were."""
        return self.rate.minus(self.again)


@dataclass(frozen=True, slots=True)
class Measurement:
    """The measurement of one case, up to the run `until`."""

    case: str
    key: Key
    rate: Rate
    ways: frozenset[str] = frozenset()
    """The ways in which it failed."""
    until: str = ""
    again: Rate = NOTHING
    """The answers of `rate` that were asked for since others were wrong."""
    variants: Mapping[str, Rate] = field(default_factory=dict)
    """The answers to variants of the case by relation, in the last accepted run that asked any."""

    @property
    def first(self) -> Rate:
        """The answers that were asked for whatever the others were."""
        return self.rate.minus(self.again)


@dataclass(frozen=True, slots=True)
class CaseEvidence:
    """The facts about a case when a run judges it."""

    before: Rate
    """The answers that count as those of an unchanged case."""
    since: Rate
    """The answers of earlier runs that the run continues: to the changed question, or since the case is in doubt."""
    ways: frozenset[str]
    first: Rate
    """The first answers of each run, also of those that left the case in doubt.

    Further answers were asked for since the first were wrong, and end with a right one. So they show how often the case
    is right, and with them no test is exact that takes all orders of answers as equally likely."""


def evidence_of(measured: Measurement, verdicts: Iterable[RunVerdict], key: Key) -> CaseEvidence:
    """Count the answers of later runs, oldest first, for a case with this key.

    Answers that put a case in doubt count as its own once a later run finds it sound, so that nothing is left out of
    what is compared. Those by which it regressed never do: what a mended app did meanwhile is no measure of it. Nor do
    those of a run that judged the accepted answer otherwise.
    """
    before, first, ways = measured.rate, measured.first, set(measured.ways)
    since, doubtful = Rate(0, 0), Rate(0, 0)
    for each in verdicts:
        if each.run <= measured.until or not each.key.is_same_case(measured.key):
            continue
        if each.key == measured.key:
            first = first if each.standing in ("regressed", "edited") else first.plus(each.first)
            if each.standing == "sound":
                before = before.plus(doubtful).plus(each.rate)
                ways |= {each.way} if each.is_known else set()
                since = doubtful = Rate(0, 0)
            else:
                since = since.plus(each.rate)
                doubtful = doubtful.plus(each.rate) if each.standing == "undecided" else doubtful
        elif each.key == key:
            since = since.plus(each.rate)
    return CaseEvidence(before, since, frozenset(ways), first)


def updated_measurement(
    measured: Measurement | None, verdicts: Iterable[RunVerdict], now: RunVerdict, *, accepted: bool, is_app: bool
) -> Measurement:
    """The measurement of a case after a run, whose own verdict is `now`, was accepted.

    Where a person does not accept the verdict, the measurement stays one of the accepted question, and what is in
    doubt does not change it. Earlier answers to a new question count too, or the last of several attempts would; those
    of an app only where its code was the same. An answer that is new in no run counts once, so that the same
    recordings do not look like many answers. Answers to variants are those of the last accepted run that asked any.
    """
    found = _remeasured(
        measured, [each for each in verdicts if each.run < now.run], now, accepted=accepted, is_app=is_app
    )
    if accepted and now.variants:
        return replace(found, variants=now.variants)
    kept = measured.variants if measured is not None and measured.key == found.key else {}
    return replace(found, variants=kept) if found.variants != kept else found


def _remeasured(
    measured: Measurement | None, earlier: Sequence[RunVerdict], now: RunVerdict, *, accepted: bool, is_app: bool
) -> Measurement:
    if measured is not None and measured.key == now.key and now.standing == "sound":
        found = evidence_of(measured, [*earlier, now], now.key)
        until = max(measured.until, now.run)
        again = found.before.minus(found.first)
        return replace(_measured(now, found.before, again, found.ways | ({now.way} - {""})), until=until)
    if measured is not None and not accepted:
        return measured
    rate, again, ways = now.rate if now.rate.asked else _once(now), now.again, {now.way} - {""}
    if measured is None or measured.key != now.key:
        same = [each for each in earlier if each.key == now.key and not (is_app and _may_be_other_code(each, now))]
        for each in same:
            rate, again, ways = rate.plus(each.rate), again.plus(each.again), ways | ({each.way} - {""})
    return _measured(now, rate, again, frozenset(ways))


def _may_be_other_code(one: RunVerdict, other: RunVerdict) -> bool:
    return not one.revision or one.revision != other.revision


def _once(now: RunVerdict) -> Rate:
    return Rate(0 if now.way else 1, 1)


def _measured(now: RunVerdict, rate: Rate, again: Rate, ways: frozenset[str]) -> Measurement:
    return Measurement(now.case, now.key, rate, frozenset(sorted(ways)[:_MOST_WAYS]), now.run, again)


def failure_way(stanza: Stanza) -> str:
    """A digest of how an answer fails: the kinds and paths of the reasons, and what was called. Empty for a right one.

    The values of arguments count, unless the tool only reads: another city to look up is the same failure, and another
    account to send money to is not.
    """
    if stanza.valid:
        return ""
    failure: Json = [
        sorted(map(list, stanza.reasons)),
        None if stanza.calls is None else [*map(_counted_part, stanza.calls)],
    ]
    try:
        return digest(failure)[:_LENGTH]
    except (ValueError, TypeError, RecursionError):
        return "unsayable"


def _counted_part(call: Call) -> Json:
    return [call.name, sorted(call.arguments) if _READING.match(call.name) else call.arguments]
