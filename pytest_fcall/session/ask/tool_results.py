"""What servers said to calls of conversations, kept beside the replies of models."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from pytest_fcall.core import CallResult, Json, Reply, Request, canonical
from pytest_fcall.session.outcomes import fail

if TYPE_CHECKING:
    from pytest_fcall.session.ask.recordings import SessionRecordings
    from pytest_fcall.session.ask.source import Question


_NO_SAMPLE: Final = -(2**31)
"""Far from every sample of a reply, so that no result is taken for what a model was asked before."""


class KeptResults:
    """Results of one conversation, which begins with the question `first`. They are kept like its replies."""

    def __init__(self, kept: SessionRecordings, first: Question, *, offline: bool) -> None:
        self._kept = kept
        self._first = first
        self.offline = offline
        self.conversation_key = first.digest

    def find(self, key: str) -> CallResult | None:
        """What the call of this key came to, if that is kept and may stand for asking again."""
        question = self._question(key, {})
        recorded = self._kept.find(question, live=not self.offline)
        if recorded is None:
            return None
        self._kept.used(question)
        return _executed(recorded.reply.text)

    def keep(self, key: str, call: Mapping[str, Json], result: CallResult) -> None:
        """Keep what a call came to; the test ends in words where that cannot be done."""
        from pytest_fcall.backends.store import StoreError

        text = json.dumps({"value": result.value} if result.error is None else {"error": result.error})
        try:
            self._kept.keep([(self._question(key, call), Reply(text))])
        except StoreError as error:
            fail(str(error))

    def _question(self, key: str, call: Mapping[str, Json]) -> Question:
        request = Request(({"role": "tool", "content": canonical(call)},), sample=_NO_SAMPLE)
        return self._first._replace(request=request, digest=key)


def _executed(text: str) -> CallResult | None:
    """What was kept; None where the file was changed by hand into something else."""
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
