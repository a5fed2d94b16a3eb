"""The measurement of a baseline: how often each case was answered rightly, whatever a person has accepted.

It lies beside the baseline, a line of JSON for each case, and is brought up to date when verdicts are accepted. Runs
since then add to it. Only answers to the same question, judged by the same expectation, are counted together.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

from pytest_fcall.core import Call, Json, digest
from pytest_fcall.core.digests import canonical
from pytest_fcall.core.json_fields import as_mapping, optional_list_of_strings, required_field
from pytest_fcall.core.rate import Rate
from pytest_fcall.core.whole_file import replace_file
from pytest_fcall.tracking.question_digests import EXPECTATION, PROMPT
from pytest_fcall.tracking.stanza import Stanza

SUFFIX = ".measured.jsonl"

_LENGTH = 8
_MOST_WAYS = 20
"""Most ways of failing that are kept of a case. One that fails in more ways fails in any way."""
_MOST_ANSWERS = 10**12
"""A larger number of answers to one case is a damaged one."""

_READING = re.compile(
    r"(.*[._/-]|)(check|count|describe|fetch|find|get|list|look_?up|query|read|retrieve|search|show|view)(?![a-z])",
    re.ASCII,
)
"""Names of tools that change nothing, as people name them: `get_weather`, `jira__search`, `readFile`."""

Standing: TypeAlias = Literal["sound", "undecided", "regressed"]
"""Whether the answers of a run count as those of an unchanged case."""


@dataclass(frozen=True, slots=True)
class Key:
    """What must be equal for answers to be counted together."""

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
    """What one run found of one case."""

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


@dataclass(frozen=True, slots=True)
class Measured:
    """What is measured of one case, up to the run `until`."""

    case: str
    key: Key
    rate: Rate
    ways: frozenset[str] = frozenset()
    """The ways in which it failed."""
    until: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of a case when a run judges it."""

    before: Rate
    """The answers that count as those of an unchanged case."""
    since: Rate
    """The answers of earlier runs that the run continues: to the changed question, or since the case is in doubt."""
    ways: frozenset[str]


def evidence_of(measured: Measured, verdicts: Iterable[RunVerdict], key: Key) -> Evidence:
    """Count the answers of later runs, oldest first, for a case with this key.

    Answers that put a case in doubt count as its own once a later run finds it sound, so that nothing is left out of
    what is compared. Those by which it regressed never do: what a mended app did meanwhile is no measure of it.
    """
    before, ways = measured.rate, set(measured.ways)
    since, doubtful = Rate(0, 0), Rate(0, 0)
    for each in verdicts:
        if each.run <= measured.until or not each.key.is_same_case(measured.key):
            continue
        if each.key == measured.key:
            if each.standing == "sound":
                before = before.plus(doubtful).plus(each.rate)
                ways |= {each.way} if each.is_known else set()
                since = doubtful = Rate(0, 0)
            else:
                since = since.plus(each.rate)
                doubtful = doubtful.plus(each.rate) if each.standing == "undecided" else doubtful
        elif each.key == key:
            since = since.plus(each.rate)
    return Evidence(before, since, frozenset(ways))


def remeasured(
    measured: Measured | None, verdicts: Iterable[RunVerdict], now: RunVerdict, *, accepted: bool, is_app: bool
) -> Measured:
    """The measurement of a case after a run, whose own verdict is `now`, was accepted.

    Where a person does not accept the verdict, the measurement stays one of the accepted question, and what is in
    doubt does not change it. Earlier answers to a new question count too, or the last of several attempts would; those
    of an app only where its code was the same. An answer that is new in no run counts once, so that the same
    recordings do not look like many answers.
    """
    earlier = [each for each in verdicts if each.run < now.run]
    if measured is not None and measured.key == now.key and now.standing == "sound":
        found = evidence_of(measured, [*earlier, now], now.key)
        until = max(measured.until, now.run)
        return replace(_measured(now, found.before, found.ways | ({now.way} - {""})), until=until)
    if measured is not None and not accepted:
        return measured
    rate, ways = now.rate if now.rate.asked else _once(now), {now.way} - {""}
    if measured is None or measured.key != now.key:
        same = [each for each in earlier if each.key == now.key and not (is_app and _may_be_other_code(each, now))]
        for each in same:
            rate, ways = rate.plus(each.rate), ways | ({each.way} - {""})
    return _measured(now, rate, frozenset(ways))


def _may_be_other_code(one: RunVerdict, other: RunVerdict) -> bool:
    return not one.revision or one.revision != other.revision


def _once(now: RunVerdict) -> Rate:
    return Rate(0 if now.way else 1, 1)


def _measured(now: RunVerdict, rate: Rate, ways: frozenset[str]) -> Measured:
    return Measured(now.case, now.key, rate, frozenset(sorted(ways)[:_MOST_WAYS]), now.run)


def way_of(stanza: Stanza) -> str:
    """A digest of how an answer fails: the kinds and paths of the reasons, and what was called. Empty for a right one.

    The values of arguments count, unless the tool only reads: another city to look up is the same failure, and another
    account to send money to is not.
    """
    if stanza.valid:
        return ""
    failure: Json = [sorted(map(list, stanza.reasons)), None if stanza.calls is None else [*map(_done, stanza.calls)]]
    try:
        return digest(failure)[:_LENGTH]
    except (ValueError, TypeError, RecursionError):
        return "unsayable"


def _done(call: Call) -> Json:
    return [call.name, sorted(call.arguments) if _READING.match(call.name) else call.arguments]


def measurement_path(baseline: Path) -> Path:
    """The path of the measurement that belongs to a baseline file."""
    return baseline.with_suffix(SUFFIX)


def parse_measurement(content: bytes) -> dict[str, Measured]:
    """Read a file, by case. A line that cannot be read is passed over, and of two on one case the later counts.

    Nothing is lost with a line but the certainty of counts: the next acceptance writes it anew.
    """
    found: dict[str, Measured] = {}
    for line in content.decode("utf-8", "replace").splitlines():
        measured = _parse_line(line)
        if measured and (measured.case not in found or found[measured.case].until < measured.until):
            found[measured.case] = measured
    return found


def _parse_line(line: str) -> Measured | None:
    try:
        fields = as_mapping(json.loads(line), "the line")
        rate = Rate(required_field(fields, "right", int), required_field(fields, "asked", int))
        if not (0 <= rate.right <= rate.asked and 0 < rate.asked <= _MOST_ANSWERS):
            return None
        return Measured(
            case=required_field(fields, "case", str),
            key=Key(*(required_field(fields, name, str) for name in ("question", "prompt", "expectation"))),
            rate=rate,
            ways=frozenset(optional_list_of_strings(fields, "ways")),
            until=required_field(fields, "until", str),
        )
    except (ValueError, RecursionError):
        return None


def read_measurement(path: Path) -> dict[str, Measured]:
    """Read a file, by case; nothing where there is none. Raises OSError."""
    try:
        return parse_measurement(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return {}


def write_measurement(path: Path, measured: Iterable[Measured]) -> None:
    """Replace the file atomically; equal measurements give equal bytes. Without any, the file is removed."""
    lines = [f"{canonical(_to_json(each))}\n".encode() for each in sorted(measured, key=lambda each: each.case)]
    if not lines:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, lines)


def _to_json(measured: Measured) -> dict[str, Json]:
    return {
        "case": measured.case,
        "right": measured.rate.right,
        "asked": measured.rate.asked,
        "question": measured.key.question,
        "prompt": measured.key.prompt,
        "expectation": measured.key.expectation,
        "until": measured.until,
        **({"ways": sorted(measured.ways)} if measured.ways else {}),
    }
