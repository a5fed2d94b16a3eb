"""What a baseline keeps of a case: an accepted verdict, and the calls that led to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from pytest_fcall.core import Call, Json
from pytest_fcall.tracking.fields import Fields
from pytest_fcall.tracking.kept_calls import calls_in, calls_to_json
from pytest_fcall.tracking.wire import WireRequest, wire_in, wire_to_json


@dataclass(frozen=True, slots=True)
class Stanza:
    """The verdict on one case under one model, and everything that is needed to compare another one with it."""

    case: str
    valid: bool
    reasons: tuple[tuple[str, str], ...] = ()
    """(kind, path) of each Reason."""
    calls: tuple[Call, ...] | None = None
    """What was called, without the wire's ids; None where the reply could not be read to its end."""
    steps: tuple[tuple[int, ...], ...] | None = None
    """Of a conversation: how many of the calls were in each reply, turn by turn."""
    results: tuple[Json, ...] | None = None
    """What the calls gave, kept only where the case speaks of it; an error as `{"error": text}`, and a value
    that looks like one as `{"value": value}`."""
    answer: str | None = None
    """The text of the reply, kept only where the case expects something of it."""
    wire: tuple[WireRequest, ...] | None = None
    """What an app asked of models on its way, in order; None where that is not known, or it was no app."""
    samples: tuple[int, int] | None = None
    """How many replies were right, and how many were asked for; None where it was one."""
    because: str | None = None
    """Why a failure was accepted."""
    since: str | None = None
    """The day on which a failure was accepted."""
    judged: bool = False
    """Whether a model had a say in the verdict."""
    digests: Mapping[str, str] = field(default_factory=dict)
    """Short names of what the question consists of, so that what changed since can be told."""
    provenance: Mapping[str, Json] = field(default_factory=dict)
    """What answered, and when: told, never compared."""


def stanza_to_json(stanza: Stanza) -> dict[str, Json]:
    """Give the stanza as what JSON can say, in the order in which it is read best; empty fields are left out."""
    data: dict[str, Json] = {
        "case": stanza.case,
        "valid": stanza.valid,
        "reasons": [list(reason) for reason in stanza.reasons] or None,
        "calls": calls_to_json(stanza.calls),
        "steps": [list(turn) for turn in stanza.steps] if stanza.steps else None,
        "results": list(stanza.results) if stanza.results is not None else None,
        "answer": stanza.answer,
        "wire": wire_to_json(stanza.wire) if stanza.wire is not None else None,
        "samples": list(stanza.samples) if stanza.samples else None,
        "because": stanza.because,
        "since": stanza.since,
        "judged": stanza.judged or None,
        "digests": dict(stanza.digests) or None,
        "provenance": dict(stanza.provenance) or None,
    }
    return {name: value for name, value in data.items() if value is not None}


def stanza_from_json(data: Json) -> Stanza:
    """Read what `stanza_to_json` gave; fields that this version does not know are left out.

    Whatever else it is given is a ValueError that names the field.
    """
    fields = Fields.of(data, "the stanza")
    return Stanza(
        case=fields.required("case", str),
        valid=fields.required("valid", bool),
        reasons=_reasons(fields),
        calls=calls_in(fields),
        steps=_steps(fields),
        results=_results(fields),
        answer=fields.optional("answer", str),
        wire=wire_in(fields),
        samples=_samples(fields),
        because=fields.optional("because", str),
        since=fields.optional("since", str),
        judged=fields.optional("judged", bool) or False,
        digests=fields.texts("digests") or {},
        provenance=fields.optional("provenance", dict) or {},
    )


def _reasons(fields: Fields) -> tuple[tuple[str, str], ...]:
    return tuple(_reason(each) for each in fields.optional("reasons", list) or ())


def _reason(data: Json) -> tuple[str, str]:
    match data:
        case [str(kind), str(path)]:
            return kind, path
    raise ValueError("`reasons` is not a list of pairs of kind and path")


def _steps(fields: Fields) -> tuple[tuple[int, ...], ...] | None:
    found: Sequence[Json] | None = fields.optional("steps", list)
    if found is None:
        return None
    if not all(isinstance(turn, list) and all(type(count) is int and count >= 0 for count in turn) for turn in found):
        raise ValueError("`steps` is not a list of lists of numbers")
    return tuple(tuple(cast("list[int]", turn)) for turn in found)


def _results(fields: Fields) -> tuple[Json, ...] | None:
    found: Sequence[Json] | None = fields.optional("results", list)
    return None if found is None else tuple(found)


def _samples(fields: Fields) -> tuple[int, int] | None:
    match fields.optional("samples", list):
        case None:
            return None
        case [int(right), int(asked)] if type(right) is type(asked) is int and 0 <= right <= asked:
            return right, asked
    raise ValueError("`samples` is not a pair of numbers, right and asked")
