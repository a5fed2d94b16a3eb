"""What is sent to a model first."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from pytest_fcall.core import Case, Json, Request

_NONE: Mapping[str, Json] = MappingProxyType({})


def plan_request(case: Case, settings: Mapping[str, Json] = _NONE, sample: int = 0) -> Request:
    """The first request of a case. Its own settings come before those of the model."""
    first = case.turns[0]
    return Request(
        messages=first.messages,
        tools=() if case.tools_told else first.tools if first.tools is not None else case.tools,
        settings={**settings, **case.settings},
        sample=sample,
        now=case.rules.now,
    )
