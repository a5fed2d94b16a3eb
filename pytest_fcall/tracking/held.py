"""What a stanza keeps of a conversation, and the conversation that is made of it again."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

from pytest_fcall.core import Calls, Executed, Held, Json, Reply, Request, Step, Transcript
from pytest_fcall.tracking.stanza import Stanza


def steps_of(transcript: Transcript) -> tuple[tuple[int, ...], ...]:
    """How many calls there were in each reply, turn by turn."""
    return tuple(tuple(len(step.calls.calls) for step in turn.steps) for turn in transcript.turns)


def results_of(transcript: Transcript) -> tuple[Json, ...]:
    """What the calls gave; calls that were not answered come last, and have none."""
    return tuple(
        result.value if result.error is None else {"error": result.error}
        for step in transcript.steps
        for result in step.results
    )


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


def _executed(value: Json) -> Executed:
    if isinstance(value, dict) and value.keys() == {"error"} and isinstance(value["error"], str):
        return Executed(error=value["error"])
    return Executed(value)
