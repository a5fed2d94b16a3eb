"""The stanza of a case in a baseline: the accepted verdict, its calls, the conversation and an app's requests; and its
JSON.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import cast

from pytest_fcall.core import Call, CallResult, Calls, HeldTurn, Json, Reply, Request, Step, Transcript
from pytest_fcall.core.json_fields import as_mapping, optional_field, optional_strings, required_field
from pytest_fcall.tracking.question_digests import TOOL_PREFIX


def call_to_json(call: Call) -> dict[str, Json]:
    """Give a call as what JSON can say; the wire's id of it differs from run to run and is left out."""
    return {"name": call.name, "arguments": call.arguments}


def calls_to_json(calls: Sequence[Call] | None) -> list[Json] | None:
    """Give calls likewise; None stays None."""
    return None if calls is None else [call_to_json(call) for call in calls]


def calls_from_fields(fields: Mapping[str, Json]) -> tuple[Call, ...] | None:
    """Read the field `calls`; None where there is none. Anything else is a ValueError that names it."""
    found: Sequence[Json] | None = optional_field(fields, "calls", list)
    return None if found is None else tuple(_call(as_mapping(each, "a call")) for each in found)


def _call(fields: Mapping[str, Json]) -> Call:
    return Call(required_field(fields, "name", str), required_field(fields, "arguments", dict))


@dataclass(frozen=True, slots=True)
class WireRequest:
    """One request that an app sent to a model, and what was called in the reply."""

    model: str
    calls: tuple[Call, ...] | None = ()
    """Without the wire's ids; None where the reply could not be read to its end."""
    digests: Mapping[str, str] = field(default_factory=dict)
    """Short names of what the request consists of, the tools that it offers included."""

    @property
    def tools(self) -> Mapping[str, str]:
        """The short names of the tools that it offers, by theirs."""
        return {
            name.removeprefix(TOOL_PREFIX): short
            for name, short in self.digests.items()
            if name.startswith(TOOL_PREFIX)
        }


def wire_to_json(wire: Iterable[WireRequest]) -> list[Json]:
    """Give requests as what JSON can say. Tools are named where they are others than those of the request before."""
    return list(_requests_to_json(wire))


def wire_from_fields(fields: Mapping[str, Json]) -> tuple[WireRequest, ...] | None:
    """Read the field `wire`; None where there is none. Anything else is a ValueError that names it."""
    found: Sequence[Json] | None = optional_field(fields, "wire", list)
    return None if found is None else tuple(_requests_from_json(found))


def _requests_to_json(wire: Iterable[WireRequest]) -> Iterator[dict[str, Json]]:
    offered: Mapping[str, str] = {}
    for request in wire:
        digests = {name: short for name, short in request.digests.items() if not name.startswith(TOOL_PREFIX)}
        data: dict[str, Json] = {"model": request.model, "calls": calls_to_json(request.calls)}
        data |= {"digests": digests} if digests else {}
        data |= {"tools": dict(request.tools)} if request.tools != offered else {}
        offered = request.tools
        yield data


def _requests_from_json(found: Sequence[Json]) -> Iterator[WireRequest]:
    offered: Mapping[str, str] = {}
    for data in found:
        fields = as_mapping(data, "a request of `wire`")
        named = optional_strings(fields, "tools")
        offered = offered if named is None else named
        digests = {
            **(optional_strings(fields, "digests") or {}),
            **{f"{TOOL_PREFIX}{name}": short for name, short in offered.items()},
        }
        yield WireRequest(required_field(fields, "model", str), calls_from_fields(fields), digests)


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
    fields = as_mapping(data, "the stanza")
    return Stanza(
        case=required_field(fields, "case", str),
        valid=required_field(fields, "valid", bool),
        reasons=_reasons(fields),
        calls=calls_from_fields(fields),
        steps=_steps(fields),
        results=_results(fields),
        answer=optional_field(fields, "answer", str),
        wire=wire_from_fields(fields),
        samples=_samples(fields),
        because=optional_field(fields, "because", str),
        since=optional_field(fields, "since", str),
        judged=optional_field(fields, "judged", bool) or False,
        digests=optional_strings(fields, "digests") or {},
        provenance=optional_field(fields, "provenance", dict) or {},
    )


def _reasons(fields: Mapping[str, Json]) -> tuple[tuple[str, str], ...]:
    return tuple(_reason(each) for each in optional_field(fields, "reasons", list) or ())


def _reason(data: Json) -> tuple[str, str]:
    match data:
        case [str(kind), str(path)]:
            return kind, path
    raise ValueError("`reasons` is not a list of pairs of kind and path")


def _steps(fields: Mapping[str, Json]) -> tuple[tuple[int, ...], ...] | None:
    found: Sequence[Json] | None = optional_field(fields, "steps", list)
    if found is None:
        return None
    if not all(isinstance(turn, list) and all(type(count) is int and count >= 0 for count in turn) for turn in found):
        raise ValueError("`steps` is not a list of lists of numbers")
    return tuple(tuple(cast("list[int]", turn)) for turn in found)


def _results(fields: Mapping[str, Json]) -> tuple[Json, ...] | None:
    found: Sequence[Json] | None = optional_field(fields, "results", list)
    return None if found is None else tuple(found)


def _samples(fields: Mapping[str, Json]) -> tuple[int, int] | None:
    match optional_field(fields, "samples", list):
        case None:
            return None
        case [int(right), int(asked)] if type(right) is type(asked) is int and 0 <= right <= asked:
            return right, asked
    raise ValueError("`samples` is not a pair of numbers, right and asked")


def call_counts_of(transcript: Transcript) -> tuple[tuple[int, ...], ...]:
    """How many calls there were in each reply, turn by turn."""
    return tuple(tuple(len(step.calls.calls) for step in turn.steps) for turn in transcript.turns)


def call_results_of(transcript: Transcript) -> tuple[Json, ...]:
    """What the calls gave; calls that were not answered come last, and have none."""
    return tuple(_result_to_json(result) for step in transcript.steps for result in step.results)


def transcript_of(stanza: Stanza, last: Reply) -> Transcript:
    """The conversation as far as it was kept; `last` is the reply that ended it."""
    calls, results = iter(stanza.calls or ()), iter(map(_result_from_json, stanza.results or ()))
    turns = []
    for counts in stanza.steps or ((len(stanza.calls or ()),),):
        steps = [
            Step(Request(()), Reply("", engine=last.engine), Calls(tuple(islice(calls, n))), tuple(islice(results, n)))
            for n in counts or (0,)
        ]
        steps[-1] = replace(steps[-1], reply=last)
        turns.append(HeldTurn(tuple(steps), "answered"))
    return Transcript(tuple(turns))


def _result_to_json(result: CallResult) -> Json:
    """An error is `{"error": …}`; a value that looks like one, or like this, is `{"value": …}`."""
    if result.error is not None:
        return {"error": result.error}
    value = result.value
    return {"value": value} if isinstance(value, Mapping) and value.keys() in ({"error"}, {"value"}) else value


def _result_from_json(kept: Json) -> CallResult:
    match kept:
        case {"error": str(error), **others} if not others:
            return CallResult(error=error)
        case {"value": value, **others} if not others:
            return CallResult(value)
    return CallResult(kept)
