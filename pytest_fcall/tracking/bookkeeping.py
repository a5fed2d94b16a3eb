"""The bookkeeping beside a contract: a line of JSON for each case, which nobody reviews.

It says how often the case was right, and what the question to the accepted answer was. A merge may keep the lines of
both branches, since each names its answer, and the answers that were replaced by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path
from typing import Final, cast

from pytest_fcall.core.digests import canonical, digest
from pytest_fcall.core.files import MOST_KEPT_BYTES, read_regular, refuse_link_out, replace_file
from pytest_fcall.core.json_data import (
    DamagedData,
    optional_field,
    optional_list_of_strings,
    read_own_json,
    required_field,
)
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import MOST_ANSWERS, Rate
from pytest_fcall.tracking.measurement import NOTHING, Key, Measurement
from pytest_fcall.tracking.question_digests import EXPECTATION, PROMPT
from pytest_fcall.tracking.stanza import StanzaFields, unreviewed_from_json

SUFFIX: Final = ".measured.jsonl"

REMOVED: Final = "removed"
"""The digest of no answer. It replaces the answer of a case that was removed, so that no merge brings it back."""
_NO_WAYS: Final[frozenset[str]] = frozenset()
_OWN: Final = frozenset({PROMPT, EXPECTATION})
"""Digests that each case has of its own. Many cases of a file have the others alike."""
_LENGTH: Final = 8
_ID: Final = '"id"'
"""In each line with what many cases have alike."""
_PORTION: Final = 1000
_MOST_BEFORE: Final = 10
"""Most replaced answers that are remembered of a case."""


@dataclass(frozen=True, slots=True)
class AcceptedAnswer:
    """The part of an accepted answer that no person reviews."""

    answer: str
    """The digest of the answer, which its verdict in the contract ends with."""
    before: tuple[str, ...] = ()
    """The digests of the answers that were replaced by it, newest first."""
    unreviewed: StanzaFields = field(default_factory=StanzaFields)
    wire: Sequence[Json] = ()
    """Digests of the requests of an app, as JSON."""

    def replaces(self, older: AcceptedAnswer) -> bool:
        """Whether the older answer is one that this one came from. An answer may have come back meanwhile."""
        line = (older.answer, *older.before)
        places = [place for place, digest in enumerate(self.before) if digest == older.answer]
        whole = len(self.before) < _MOST_BEFORE
        ends = [len(line) if whole else min(len(line), len(self.before) - place) for place in places]
        return any(self.before[place : place + end] == line[:end] for place, end in zip(places, ends, strict=True))

    def instead_of(self, others: Iterable[AcceptedAnswer]) -> AcceptedAnswer:
        """The same answer, which remembers that it replaced others."""
        replaced = (digest for other in others for digest in (other.answer, *other.before))
        return replace(self, before=(*replaced, *self.before)[:_MOST_BEFORE])


@dataclass(frozen=True, slots=True)
class Bookkeeping:
    """The facts about the cases of a file, beside the contract."""

    measured: Mapping[str, Measurement] = field(default_factory=dict)
    """The number of right answers to each case, whether they are accepted or not."""
    accepted: Mapping[str, Mapping[str, AcceptedAnswer]] = field(default_factory=dict)
    """The accepted answers of each case by their digests. Only a merge leaves more than one."""

    @property
    def removed(self) -> frozenset[str]:
        """Cases of which it is remembered that their answers were removed."""
        return frozenset(case for case, answers in self.accepted.items() if REMOVED in answers)

    def answer(self, case: str, digest: str) -> AcceptedAnswer:
        """The part of an answer that is kept, which may be none."""
        return self.accepted.get(case, _NOTHING).get(digest) or AcceptedAnswer(digest)

    def replaces(self, case: str, new: str, old: str) -> bool:
        """Whether an answer to a case is known to have been accepted instead of another one."""
        return new != old and self.answer(case, new).replaces(self.answer(case, old))


_NOTHING: Final[Mapping[str, AcceptedAnswer]] = {}


def measurement_path(baseline: Path) -> Path:
    """The path of the bookkeeping that belongs to a baseline file."""
    return baseline.with_suffix(SUFFIX)


def parse_bookkeeping(content: bytes) -> Bookkeeping:
    """Read a file. A line that cannot be read is passed over, and of two on one case, or one answer, the later counts.

    Nothing is lost with a line but the certainty of counts, and what changed since: the next acceptance writes it anew.
    """
    measured: dict[str, Measurement] = {}
    accepted: dict[str, dict[str, AcceptedAnswer]] = {}
    until: dict[tuple[str, str], str] = {}
    lines = content.decode("utf-8", "replace").splitlines()
    shared = _shared(_rows([line for line in lines if _ID in line]))
    for row in _rows(lines):
        try:
            case = row.get("case")
            if not isinstance(case, str):
                continue
            measurement, answer = _measured(case, row), _accepted(row, shared)
        except ValueError:
            continue
        if measurement and (case not in measured or measured[case].until < measurement.until):
            measured[case] = measurement
        moment = measurement.until if measurement else ""
        if answer and until.get((case, answer.answer), "") <= moment:
            until[case, answer.answer] = moment
            accepted.setdefault(case, {})[answer.answer] = answer
    return Bookkeeping(measured, accepted)


def _rows(lines: Sequence[str]) -> Iterator[Mapping[str, Json]]:
    """The lines, a portion at once where all of it can be read."""
    for first in range(0, len(lines), _PORTION):
        portion = lines[first : first + _PORTION]
        rows = _value(f"[{','.join(portion)}]")
        if not isinstance(rows, list) or len(rows) != len(portion):
            rows = [*map(_value, portion)]
        yield from (row for row in rows if isinstance(row, dict))


def _value(text: str) -> Json:
    """The value of JSON text; None for any other text."""
    try:
        return read_own_json(text)
    except ValueError:
        return None


def _measured(case: str, row: Mapping[str, Json]) -> Measurement | None:
    if "asked" not in row:
        return None
    rate = _rate([row.get("right"), row["asked"]])
    question, prompt, expectation, until = (row.get(name) for name in ("question", "prompt", "expectation", "until"))
    if not (isinstance(question, str) and isinstance(prompt, str) and isinstance(expectation, str)):
        raise DamagedData("no digests")
    if not isinstance(until, str):
        raise DamagedData("no run")
    ways = frozenset(optional_list_of_strings(row, "ways")) if "ways" in row else _NO_WAYS
    again = _again(row, rate) if "again" in row else NOTHING
    variants = _variants(row["variants"]) if "variants" in row else {}
    return Measurement(case, Key(question, prompt, expectation), rate, ways, until, again, variants)


def _variants(data: Json) -> Mapping[str, Rate]:
    if not isinstance(data, dict):
        raise DamagedData("`variants` are no answers by relation")
    return {str(relation): _rate(rate) for relation, rate in data.items()}


def _rate(data: Json) -> Rate:
    match data:
        case [int(right), int(asked)] if type(right) is type(asked) is int:  # no `true`
            if 0 <= right <= asked and 0 < asked <= MOST_ANSWERS:
                return Rate(right, asked)
    raise DamagedData("no numbers of answers")


def _again(row: Mapping[str, Json], rate: Rate) -> Rate:
    match row["again"]:
        case [int(right), int(asked)]:
            first = rate.minus(Rate(right, asked))
            if 0 <= right <= asked and 0 <= first.right <= first.asked:
                return Rate(right, asked)
    raise DamagedData("`again` is no part of the answers")


def _accepted(row: Mapping[str, Json], shared: Mapping[str, Mapping[str, Json]]) -> AcceptedAnswer | None:
    data = row.get("accepted")
    if not isinstance(data, dict):
        return None
    unreviewed = unreviewed_from_json(data)
    if digests := shared.get(str(data.get("digests_of"))):
        unreviewed["digests"] = {**cast("Mapping[str, str]", digests), **unreviewed["digests"]}
    if provenance := shared.get(str(data.get("provenance_of"))):
        unreviewed["provenance"] = provenance
    before = tuple(optional_list_of_strings(data, "before")) if "before" in data else ()
    wire: Sequence[Json] = (optional_field(data, "wire", list) or ()) if "wire" in data else ()
    return AcceptedAnswer(required_field(data, "answer", str), before, unreviewed, wire)


def _shared(rows: Iterable[Mapping[str, Json]]) -> dict[str, Mapping[str, Json]]:
    """Values that many cases have alike, by their ids. Digests are texts."""
    found = {id_: row for row in rows if isinstance(id_ := row.get("id"), str)}
    return {
        id_: value
        for id_, row in found.items()
        if isinstance(value := row.get("provenance", row.get("digests")), dict)
        and ("provenance" in row or all(isinstance(each, str) for each in value.values()))
    }


def read_bookkeeping(path: Path) -> Bookkeeping:
    """Read a file; nothing where there is none. Raises OSError."""
    try:
        return parse_bookkeeping(read_regular(path, MOST_KEPT_BYTES))
    except (FileNotFoundError, NotADirectoryError):
        return Bookkeeping()


def read_measurement(path: Path) -> Mapping[str, Measurement]:
    """Read what is measured, by case; nothing where there is no file. Raises OSError."""
    return read_bookkeeping(path).measured


def bookkeeping_content(kept: Bookkeeping) -> bytes:
    """The content of a file; equal facts give equal bytes. Raises ValueError, TypeError or RecursionError."""
    shared: dict[str, Json] = {}
    own = BytesIO()  # no line is an object of its own: there may be a hundred thousand
    for case in sorted({*kept.measured, *kept.accepted}):
        own.writelines(_line(row) for row in _case_rows(case, kept, shared))
    return b"".join([*(_line(shared[id_]) for id_ in sorted(shared)), own.getbuffer()])


def _line(row: Json) -> bytes:
    return f"{canonical(row)}\n".encode()


def write_bookkeeping(path: Path, kept: Bookkeeping) -> None:
    """Replace the file atomically, if it changes. Without content it is removed. Raises OSError."""
    replace_changed_file(path, bookkeeping_content(kept))


def replace_changed_file(path: Path, content: bytes) -> None:
    """Replace a file whose content is another one; without content it is removed. Raises OSError."""
    refuse_link_out(path)
    if not content:
        path.unlink(missing_ok=True)
    elif not path.exists() or read_regular(path, MOST_KEPT_BYTES) != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, [content])


def write_measurement(path: Path, measured: Iterable[Measurement]) -> None:
    """Write what is measured, and leave what is kept of accepted answers as it is. Raises OSError."""
    write_bookkeeping(path, replace(read_bookkeeping(path), measured={each.case: each for each in measured}))


def _case_rows(case: str, kept: Bookkeeping, shared: dict[str, Json]) -> Iterator[dict[str, Json]]:
    """One line, or one for each answer that waits for a choice. What many cases have alike goes into `shared`."""
    measured = kept.measured.get(case)
    counts: dict[str, Json] = {}
    if measured is not None:
        counts = {
            "right": measured.rate.right,
            "asked": measured.rate.asked,
            "question": measured.key.question,
            "prompt": measured.key.prompt,
            "expectation": measured.key.expectation,
            "until": measured.until,
            **({"ways": sorted(measured.ways)} if measured.ways else {}),
            **({"again": [*measured.again]} if measured.again.asked else {}),
            **({"variants": {name: [*rate] for name, rate in measured.variants.items()}} if measured.variants else {}),
        }
    answers = kept.accepted.get(case, _NOTHING).values()
    for each in answers:
        yield {"case": case, **counts, "accepted": _answer_to_json(each, shared)}
    if not answers:
        yield {"case": case, **counts}


def _answer_to_json(each: AcceptedAnswer, shared: dict[str, Json]) -> dict[str, Json]:
    digests, provenance = each.unreviewed.get("digests", {}), each.unreviewed.get("provenance", {})
    common: dict[str, Json] = {name: value for name, value in digests.items() if name not in _OWN}
    fields: dict[str, Json] = {
        "answer": each.answer,
        "before": each.before,
        "samples": each.unreviewed.get("samples"),
        "since": each.unreviewed.get("since"),
        "judged": each.unreviewed.get("judged"),
        "digests": {name: value for name, value in digests.items() if name in _OWN},
        "digests_of": _share("digests", common, shared),
        "provenance_of": _share("provenance", provenance, shared),
        "wire": each.wire,
    }
    return {name: value for name, value in fields.items() if value}


def _share(name: str, value: Mapping[str, Json], shared: dict[str, Json]) -> str:
    """The id of what many cases have alike."""
    if not value:
        return ""
    id_ = digest([name, value])[:_LENGTH]
    shared[id_] = {"id": id_, name: value}
    return id_
