"""Which tool was called for which, in an answer that was judged."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_fcall.core import Case
from pytest_fcall.plugin.sampling import Judged
from pytest_fcall.reporting.confusion import tools_called


def called_in(case: Case, shown: Judged) -> tuple[tuple[str, str], ...]:
    """Expected tools with those that were called, over all turns that were judged."""
    return tuple(_called(case, shown))


def _called(case: Case, shown: Judged) -> Iterator[tuple[str, str]]:
    transcript, verdict = shown.answer.transcript, shown.verdict
    if transcript is None or not verdict.turns:
        yield from tools_called(case.turns[0].expect, shown.calls.calls, verdict)
        return
    for turn, held, own in zip(case.turns, transcript.turns, verdict.turns, strict=False):
        yield from tools_called(turn.expect, held.calls, own)
