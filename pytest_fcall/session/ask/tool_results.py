"""Results of calls that servers have carried out, recorded beside the replies of models."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from pytest_fcall.core import CallResult, Json, Reply, Request, canonical

if TYPE_CHECKING:
    from pytest_fcall.session.ask.recordings import SessionRecordings
    from pytest_fcall.session.ask.types import Question

_NO_SAMPLE: Final = -(2**31)
"""Far from every sample of a reply, so that a result is never taken for the nearest reply."""


class RecordedResults:
    """The results of one conversation, which begins with the question `first`."""

    def __init__(self, recordings: SessionRecordings, first: Question, *, offline: bool) -> None:
        self._recordings = recordings
        self._first = first
        self.offline = offline
        self.conversation_key = first.digest

    def find(self, key: str) -> CallResult | None:
        """The recorded result of the call with this key, if it may stand for calling again."""
        question = self._question(key, {})
        recorded = self._recordings.find_result(question, live=not self.offline)
        if recorded is None:
            return None
        self._recordings.mark_used(question)
        return _result(recorded.reply.text)

    def keep(self, key: str, call: Mapping[str, Json], result: CallResult) -> None:
        """Record the result of a call."""
        text = json.dumps({"value": result.value} if result.error is None else {"error": result.error})
        self._recordings.record([(self._question(key, call), Reply(text))])

    def _question(self, key: str, call: Mapping[str, Json]) -> Question:
        request = Request(({"role": "tool", "content": canonical(call)},), sample=_NO_SAMPLE)
        return self._first._replace(request=request, digest=key)


def _result(text: str) -> CallResult | None:
    """The result in a recording; None where the file was changed by hand into something else."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    match data:
        case {"value": value}:
            return CallResult(value)
        case {"error": str(error)}:
            return CallResult(error=error)
    return None
