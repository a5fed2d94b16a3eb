"""What of an answer is told where it fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from pytest_fcall.core import Calls, Case, HeldTurn, Reply, Turn, Verdict
from pytest_fcall.matching.results import state_changes
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.reporting.terminal import Marks
from pytest_fcall.reporting.transcript import first_wrong_turn, last_lines, transcript_lines
from pytest_fcall.session.ask.conversation import with_case_decoder
from pytest_fcall.session.judge.samples import JudgedAnswer

_LONGEST = 20_000
_LINES = 4
"""So many lines of what went before are shown of a conversation."""


class FailureContext(NamedTuple):
    """The case, calls, verdict and reply to speak of: of a conversation those of one turn, and what went before."""

    judged: tuple[Case, Calls, Verdict, Reply]
    story: Sequence[str] = ()


def failure_context(shown: JudgedAnswer, case: Case, marks: Marks, *, fully: bool) -> FailureContext:
    """The whole answer; of a conversation the turn at fault, and what went before it."""
    transcript, verdict = shown.answer.transcript, shown.verdict
    if transcript is None or not verdict.turns:
        return FailureContext((case, shown.calls, verdict, shown.reply))
    number = first_wrong_turn(verdict)
    held = transcript.turns[min(number, len(transcript.turns) - 1)]
    calls = Calls(held.calls, held.steps[-1].calls.malformed)
    reply = with_case_decoder(case, held.steps[-1].reply)
    story = transcript_lines(transcript, verdict, marks, *([_LONGEST] if fully else []))
    story += _state(case.turns[number], held, verdict.turns[number])
    one = replace(case, turns=(case.turns[number],))
    told = replace(verdict.turns[number], notes=verdict.notes)
    return FailureContext((one, calls, told, reply), story if fully else last_lines(story, _LINES, marks))


def _state(turn: Turn, held: HeldTurn, verdict: Verdict) -> list[str]:
    """What became of the state, where it is wrong in more than one place: one is told by its reason."""
    wrong = [reason for reason in verdict.reasons if reason.kind == "wrong_state"]
    if turn.state is None or held.state is None or len(wrong) < 2:
        return []
    return [f"  {safe_line(line)}" for line in state_changes(turn.state, held.state.value)]
