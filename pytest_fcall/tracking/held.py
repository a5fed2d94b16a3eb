"""What a stanza keeps of a conversation, and the conversation that is made of it again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import islice

from pytest_fcall.core import Calls, Executed, Held, Json, Reply, Request, Step, Transcript
from pytest_fcall.tracking.stanza import Stanza


def steps_of(transcript: Transcript) -> tuple[tuple[int, ...], ...]:
    """How many calls there were in each reply, turn by turn."""
    return tuple(tuple(len(step.calls.calls) for step in turn.steps) for turn in transcript.turns)


def results_of(transcript: Transcript) -> tuple[Json, ...]:
    """What the calls gave; calls that were not answered come last, and have none."""
    return tuple(_kept(result) for step in transcript.steps for result in step.results)


def transcript_of(stanza: Stanza, last: Reply) -> Transcript:
    """The conversation as far as it was kept; `last` is the reply that ended it."""
    calls, results = iter(stanza.calls or ()), iter(map(_executed, stanza.results or ()))
    turns = []
    for counts in stanza.steps or ((len(stanza.calls or ()),),):
        steps = [
            Step(Request(()), Reply("", engine=last.engine), Calls(tuple(islice(calls, n))), tuple(islice(results, n)))
            for n in counts or (0,)
        ]
        steps[-1] = replace(steps[-1], reply=last)
        turns.append(Held(tuple(steps), "answered"))
    return Transcript(tuple(turns))


def _kept(result: Executed) -> Json:
    """An error is `{"error": …}`; a value that looks like one, or like this, is `{"value": …}`."""
    if result.error is not None:
        return {"error": result.error}
    value = result.value
    return {"value": value} if isinstance(value, Mapping) and value.keys() in ({"error"}, {"value"}) else value


def _executed(kept: Json) -> Executed:
    match kept:
        case {"error": str(error), **others} if not others:
            return Executed(error=error)
        case {"value": value, **others} if not others:
            return Executed(value)
    return Executed(kept)
