from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.core import Call, CallResult, Calls, Json, Reply, Request, Step, Transcript, TranscriptTurn
from pytest_fcall.tracking.stanza import Stanza, call_counts_of, call_results_of, transcript_of

VALUES = st.recursive(
    st.none() | st.integers() | st.text(max_size=2),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["error", "value", "x"]), inner),
    max_leaves=4,
)
RESULTS = st.builds(CallResult, VALUES) | st.builds(lambda error: CallResult(error=error), st.text(max_size=3))
LAST = Reply("Done.")


@given(st.lists(st.lists(st.lists(RESULTS, max_size=3), min_size=1, max_size=3), min_size=1, max_size=3))
def test_calls_and_what_they_gave_are_the_same_after_they_were_kept(given_back: list[list[list[CallResult]]]) -> None:
    transcript = Transcript(
        tuple(
            TranscriptTurn(
                tuple(Step(Request(()), LAST, Calls((Call("f", {}),) * len(step)), tuple(step)) for step in turn),
                "answered",
            )
            for turn in given_back
        )
    )
    calls = tuple(call for step in transcript.steps for call in step.calls.calls)
    stanza = Stanza("case", True, calls=calls, steps=call_counts_of(transcript), results=call_results_of(transcript))
    again = transcript_of(stanza, LAST)
    assert [turn.results for turn in again.turns] == [turn.results for turn in transcript.turns]
    assert [turn.calls for turn in again.turns] == [turn.calls for turn in transcript.turns]


@pytest.mark.parametrize(
    ("result", "kept"),
    [
        (CallResult(7), 7),
        (CallResult({"city": "Oslo"}), {"city": "Oslo"}),
        (CallResult({"error": "full", "code": 7}), {"error": "full", "code": 7}),
        (CallResult(error="full"), {"error": "full"}),
        (CallResult({"error": "full"}), {"value": {"error": "full"}}),
        (CallResult({"value": 7}), {"value": {"value": 7}}),
    ],
)
def test_a_value_that_looks_like_an_error_is_told_from_one(result: CallResult, kept: Json) -> None:
    step = Step(Request(()), LAST, Calls((Call("f", {}),)), (result,))
    transcript = Transcript((TranscriptTurn((step,), "answered"),))

    assert call_results_of(transcript) == (kept,)
    stanza = Stanza("case", True, calls=(Call("f", {}),), steps=((1,),), results=(kept,))
    assert transcript_of(stanza, LAST).steps[0].results == (result,)
