"""The trace of a case, as W3C's trace context names it: the token of its run is the id of its trace."""

from __future__ import annotations


def span_of_case(trace: str) -> str:
    """The id of the span that an app finds as the parent of its own, and that nobody exports: half of the trace's."""
    return trace[:16]


def traceparent(trace: str) -> str:
    """The header, or the variable, that has what an app does belong to the trace."""
    return f"00-{trace}-{span_of_case(trace)}-01"
