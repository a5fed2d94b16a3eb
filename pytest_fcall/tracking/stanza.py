"""The stanza of a case in a baseline, and its JSON: the accepted verdict, its calls, and an app's requests."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, TypedDict

from pytest_fcall.core.json_data import as_mapping, optional_field, optional_strings, required_field
from pytest_fcall.core.reply import Call, Calls, Reply
from pytest_fcall.core.request import Request
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import MOST_ANSWERS, Rate
from pytest_fcall.tracking.question_digests import TOOL_PREFIX, tools_of

if TYPE_CHECKING:
    from pytest_fcall.core.conversation import CallResult, Transcript


class StanzaRequest(NamedTuple):
    """A request that an app sent to a model, and the calls of the reply."""

    model: str
    calls: tuple[Call, ...] | None = ()
    """The calls without ids; None where the reply could not be read to its end."""
    digests: Mapping[str, str] = MappingProxyType({})
    """Digests of the parts of the request, its tools included."""

    @property
    def tools(self) -> Mapping[str, str]:
        """The digests of the offered tools, by name."""
        return tools_of(self.digests)


class Stanza(NamedTuple):
    """The verdict on one case for one model, with everything that later verdicts are compared with."""

    case: str
    valid: bool
    reasons: tuple[tuple[str, str], ...] = ()
    """The kind and path of each reason."""
    calls: tuple[Call, ...] | None = None
    """The calls without ids; None where the reply could not be read to its end."""
    steps: tuple[tuple[int, ...], ...] | None = None
    """For a conversation, the number of calls in each reply, turn by turn."""
    results: tuple[Json, ...] | None = None
    """The results of the calls, stored only where the case refers to results. An error is `{"error": text}`; a value
    that looks like that is `{"value": value}`."""
    answer: str | None = None
    """The text of the reply, stored only where the case expects something of it."""
    wire: tuple[StanzaRequest, ...] | None = None
    """The requests that an app sent to models, in order; None for a model, or where they are not known."""
    samples: tuple[int, int] | None = None
    """The number of right replies, and of all; None for a single reply."""
    because: str | None = None
    """The reason for which a failure was accepted."""
    since: str | None = None
    """The day on which a failure was accepted."""
    judged: bool = False
    """Whether a judge model took part in the verdict."""
    digests: Mapping[str, str] = MappingProxyType({})
    """Digests of the parts of the question, which show later what changed."""
    provenance: Mapping[str, Json] = MappingProxyType({})
    """The model that answered, and when; for people, never compared."""

    @property
    def rate(self) -> Rate:
        """The rate of right answers."""
        return Rate(*self.samples) if self.samples else Rate(int(self.valid), 1)

    @property
    def has_forbidden_call(self) -> bool:
        """Whether a forbidden call was made: such a failure is never accepted or excused."""
        return any(kind == "forbidden_call" for kind, _ in self.reasons)


def stanza_to_json(stanza: Stanza) -> dict[str, Json]:
    """The stanza as JSON, in an order that reads well; empty fields are left out."""
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


class StanzaFields(TypedDict, total=False):
    """The fields of a stanza that nobody reviews."""

    samples: tuple[int, int] | None
    since: str | None
    judged: bool
    digests: Mapping[str, str]
    provenance: Mapping[str, Json]


def wire_digests_to_json(wire: Iterable[StanzaRequest]) -> list[Json]:
    """The digests of requests as JSON; none where no request has any."""
    found: list[Json] = [
        {name: each[name] for name in ("digests", "tools") if name in each} for each in _requests_to_json(wire)
    ]
    return found if any(found) else []


def unreviewed_from_json(fields: Mapping[str, Json]) -> StanzaFields:
    """Read what nobody reviews of a stanza, but for the requests of an app. Raises ValueError."""
    return {
        "samples": _samples(fields),
        "since": optional_field(fields, "since", str),
        "judged": optional_field(fields, "judged", bool) or False,
        "digests": optional_strings(fields, "digests") or {},
        "provenance": optional_field(fields, "provenance", dict) or {},
    }


def with_wire_digests(stanza: Stanza, kept: Sequence[Json]) -> Stanza:
    """The stanza, whose requests have their digests again. Raises ValueError where those are of more or fewer."""
    found = _requests_from_json([{"model": "", **as_mapping(each, "a request of `wire`")} for each in kept])
    wire = tuple(each._replace(digests=of.digests) for each, of in zip(stanza.wire or (), found, strict=True))
    return stanza._replace(wire=wire)


def parse_stanza(text: str) -> Stanza:
    """Read the JSON text of a stanza; unknown fields are ignored. Raises ValueError, which names the field."""
    try:
        fields = as_mapping(json.loads(text), "the stanza")
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    stanza = Stanza(
        case=required_field(fields, "case", str),
        valid=required_field(fields, "valid", bool),
        reasons=_reasons(fields),
        calls=calls_from_fields(fields),
        steps=_steps(fields),
        results=_results(fields),
        answer=optional_field(fields, "answer", str),
        wire=wire_from_fields(fields),
        because=optional_field(fields, "because", str),
        **unreviewed_from_json(fields),
    )
    made = len(stanza.calls or ())
    if stanza.steps and sum(map(sum, stanza.steps)) != made:
        raise ValueError("`steps` do not count the calls")
    if len(stanza.results or ()) > made:
        raise ValueError("there are more `results` than calls")
    return stanza


def call_to_json(call: Call) -> dict[str, Json]:
    """A call as JSON, without its id, which differs from run to run."""
    return {"name": call.name, "arguments": call.arguments}


def calls_to_json(calls: Sequence[Call] | None) -> list[Json] | None:
    """Calls as JSON; None stays None."""
    return None if calls is None else [call_to_json(call) for call in calls]


def calls_from_fields(fields: Mapping[str, Json]) -> tuple[Call, ...] | None:
    """Read the field `calls`; None where it is missing. Raises ValueError."""
    found: Sequence[Json] | None = optional_field(fields, "calls", list)
    return None if found is None else tuple(_call(as_mapping(each, "a call")) for each in found)


def _call(fields: Mapping[str, Json]) -> Call:
    return Call(required_field(fields, "name", str), required_field(fields, "arguments", dict))


def wire_to_json(wire: Iterable[StanzaRequest]) -> list[Json]:
    """Requests as JSON. Tools are written where they differ from those of the request before."""
    return list(_requests_to_json(wire))


def wire_from_fields(fields: Mapping[str, Json]) -> tuple[StanzaRequest, ...] | None:
    """Read the field `wire`; None where it is missing. Raises ValueError."""
    found: Sequence[Json] | None = optional_field(fields, "wire", list)
    return None if found is None else tuple(_requests_from_json(found))


def _requests_to_json(wire: Iterable[StanzaRequest]) -> Iterator[dict[str, Json]]:
    offered: Mapping[str, str] = {}
    for request in wire:
        digests = {name: short for name, short in request.digests.items() if not name.startswith(TOOL_PREFIX)}
        data: dict[str, Json] = {"model": request.model, "calls": calls_to_json(request.calls)}
        data |= {"digests": digests} if digests else {}
        data |= {"tools": dict(request.tools)} if request.tools != offered else {}
        offered = request.tools
        yield data


def _requests_from_json(found: Sequence[Json]) -> Iterator[StanzaRequest]:
    offered: Mapping[str, str] = {}
    for data in found:
        fields = as_mapping(data, "a request of `wire`")
        named = optional_strings(fields, "tools")
        offered = offered if named is None else named
        digests = {
            **(optional_strings(fields, "digests") or {}),
            **{f"{TOOL_PREFIX}{name}": short for name, short in offered.items()},
        }
        yield StanzaRequest(required_field(fields, "model", str), calls_from_fields(fields), digests)


def _reasons(fields: Mapping[str, Json]) -> tuple[tuple[str, str], ...]:
    return tuple(_reason(each) for each in optional_field(fields, "reasons", list) or ())


def _reason(data: Json) -> tuple[str, str]:
    match data:
        case [str(kind), str(path)]:
            return kind, path
    raise ValueError("`reasons` must be a list of pairs [kind, path]")


def _steps(fields: Mapping[str, Json]) -> tuple[tuple[int, ...], ...] | None:
    found: Sequence[Json] | None = optional_field(fields, "steps", list)
    return None if found is None else tuple(map(_counts, found))


def _counts(turn: Json) -> tuple[int, ...]:
    if isinstance(turn, list):
        counts = tuple(count for count in turn if type(count) is int and count >= 0)
        if len(counts) == len(turn):
            return counts
    raise ValueError("`steps` must be a list of lists of numbers")


def _results(fields: Mapping[str, Json]) -> tuple[Json, ...] | None:
    found: Sequence[Json] | None = optional_field(fields, "results", list)
    return None if found is None else tuple(found)


def _samples(fields: Mapping[str, Json]) -> tuple[int, int] | None:
    match optional_field(fields, "samples", list):
        case None:
            return None
        case [int(right), int(asked)] if type(right) is type(asked) is int and 0 <= right <= asked:
            if 0 < asked <= MOST_ANSWERS:
                return right, asked
    raise ValueError("`samples` must be [right, asked]")


def call_counts_of(transcript: Transcript) -> tuple[tuple[int, ...], ...]:
    """The number of calls in each reply, turn by turn."""
    return tuple(tuple(len(step.calls.calls) for step in turn.steps) for turn in transcript.turns)


def call_results_of(transcript: Transcript) -> tuple[Json, ...]:
    """The results of the calls, as JSON. Unanswered calls come last and have none."""
    return tuple(_result_to_json(result) for step in transcript.steps for result in step.results)


def transcript_of(stanza: Stanza, last: Reply) -> Transcript:
    """The conversation as far as the stanza has it; `last` is the reply that ended it."""
    from pytest_fcall.core.conversation import Step, Transcript, TranscriptTurn

    calls, results = iter(stanza.calls or ()), iter(map(_result_from_json, stanza.results or ()))
    turns = []
    for counts in stanza.steps or ((len(stanza.calls or ()),),):
        steps = [
            Step(Request(()), Reply("", engine=last.engine), Calls(tuple(islice(calls, n))), tuple(islice(results, n)))
            for n in counts or (0,)
        ]
        steps[-1] = replace(steps[-1], reply=last)
        turns.append(TranscriptTurn(tuple(steps), "answered"))
    return Transcript(tuple(turns))


def _result_to_json(result: CallResult) -> Json:
    """An error is `{"error": …}`; a value that looks like that, or like `{"value": …}`, is `{"value": …}`."""
    if result.error is not None:
        return {"error": result.error}
    value = result.value
    return {"value": value} if isinstance(value, Mapping) and value.keys() in ({"error"}, {"value"}) else value


def _result_from_json(data: Json) -> CallResult:
    from pytest_fcall.core.conversation import CallResult

    match data:
        case {"error": str(error), **others} if not others:
            return CallResult(error=error)
        case {"value": value, **others} if not others:
            return CallResult(value)
    return CallResult(data)
