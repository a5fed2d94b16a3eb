"""Stanzas for tests, of any kind."""

from __future__ import annotations

from hypothesis import strategies as st

from pytest_fcall.core import Call, Json
from pytest_fcall.tracking.stanza import Stanza, StanzaRequest

JSON: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(st.text(), JSON, max_size=3)
CALLS = st.lists(st.builds(Call, name=st.text(), arguments=OBJECTS, id=st.none()), max_size=3).map(tuple)
DIGESTS = st.dictionaries(st.sampled_from(["system", "prompt", "tool:a", "tool:b"]), st.text(max_size=3), max_size=3)
WIRE = st.lists(st.builds(StanzaRequest, st.text(), st.none() | CALLS, DIGESTS), max_size=3).map(tuple)
STANZAS = st.builds(
    Stanza,
    case=st.text(min_size=1, max_size=20),
    valid=st.booleans(),
    reasons=st.lists(st.tuples(st.text(), st.text()), max_size=2).map(tuple),
    calls=st.none() | CALLS,
    wire=st.none() | WIRE,
    samples=st.none() | st.integers(0, 9).map(lambda right: (right, 9)),
    judged=st.booleans(),
    digests=st.dictionaries(st.text(), st.text(), max_size=2),
    provenance=OBJECTS,
    steps=st.none(),
    results=st.none(),
    answer=st.none(),
    because=st.none(),
    since=st.none(),
)


@st.composite
def _conversation(draw: st.DrawFn) -> Stanza:
    """The stanza of a conversation, with the results of its first calls."""
    turns = draw(st.lists(st.lists(st.integers(0, 2), max_size=3).map(tuple), min_size=1, max_size=3).map(tuple))
    made = sum(map(sum, turns))
    calls = draw(
        st.lists(st.builds(Call, name=st.text(), arguments=OBJECTS, id=st.none()), min_size=made, max_size=made)
    )
    results = draw(st.none() | st.lists(JSON, min_size=1, max_size=made).map(tuple)) if made else None
    texts = st.none() | st.text()
    return draw(STANZAS)._replace(
        calls=tuple(calls), steps=turns, results=results, answer=draw(texts), because=draw(texts)
    )


CONVERSATIONS = _conversation()
