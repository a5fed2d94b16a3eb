"""The text of a failed case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from pytest_fcall.core.case import Case, Turn, with_case_decoder
from pytest_fcall.core.conversation import TranscriptTurn
from pytest_fcall.core.reply import Calls, Reply
from pytest_fcall.core.verdict import Verdict
from pytest_fcall.matching.results import state_changes
from pytest_fcall.reporting.case_difference import difference_text
from pytest_fcall.reporting.failure import Failure, failure_text, full_failure_text
from pytest_fcall.reporting.faults import location_text
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.reporting.terminal import Marks
from pytest_fcall.reporting.transcript import first_wrong_turn, last_lines, transcript_lines
from pytest_fcall.session.ask.types import most_notable_way
from pytest_fcall.session.case_run import CaseRun, JudgedCase
from pytest_fcall.session.judge.samples import JudgedAnswer
from pytest_fcall.session.judge.variants import VariantAnswers

_LONGEST_MESSAGE = 20_000
_STORY_LINES = 4
"""Number of lines that are shown of a conversation before the turn at fault."""


def failure_report(run: CaseRun, judged: JudgedCase, marks: Marks, width: int, *, fully: bool) -> str:
    """The text for a wrong answer. `fully` shows all there is, beyond twelve lines."""
    case, result = run.case, judged.result
    context = _failure_context(result.shown, case, marks, fully=fully)
    lines = [*_retrieval_lines(run), *_way_lines(run), *result.lines, *judged.comparison.lines]
    write = full_failure_text if fully else partial(failure_text, width=width)
    return write(Failure(*context.judged, run.answers.model.id, context.story, lines), marks=marks)


def variant_report(
    run: CaseRun, varied: VariantAnswers, answer: JudgedAnswer, marks: Marks, width: int, *, fully: bool
) -> str:
    """The text for a forbidden call in a variant of a case."""
    variant = varied.variant
    context = _failure_context(answer, variant.case, marks, fully=fully)
    lines = [f"in the variant {variant.name}, which no verdict on the case itself excuses"]
    if difference := difference_text(run.case, variant.case):
        lines.append(f"different in it: {difference}")
    write = full_failure_text if fully else partial(failure_text, width=width)
    return write(Failure(*context.judged, run.answers.model.id, context.story, lines), marks=marks)


def complaint_report(case: Case, judged: JudgedCase, complaint: str) -> str:
    """The text for a right answer that fails, since the settings want another one."""
    return "\n".join(
        [
            complaint,
            f"  {location_text(case.location)}{safe_line(case.id)}",
            *(f"  {safe_line(line)}" for line in judged.comparison.lines),
            "  `fcall accept` accepts it",
        ]
    )


class _FailureContext(NamedTuple):
    """The case, calls, verdict and reply to show: of a conversation those of one turn, and the story before it."""

    judged: tuple[Case, Calls, Verdict, Reply]
    story: Sequence[str] = ()


def _failure_context(shown: JudgedAnswer, case: Case, marks: Marks, *, fully: bool) -> _FailureContext:
    transcript, verdict = shown.answer.transcript, shown.verdict
    if transcript is None or not verdict.turns:
        return _FailureContext((case, shown.calls, verdict, shown.reply))
    number = first_wrong_turn(verdict)
    held = transcript.turns[min(number, len(transcript.turns) - 1)]
    calls = Calls(held.calls, held.steps[-1].calls.malformed)
    reply = with_case_decoder(case, held.steps[-1].reply)
    story = transcript_lines(transcript, verdict, marks, *([_LONGEST_MESSAGE] if fully else []))
    story += _state_lines(case.turns[number], held, verdict.turns[number])
    one_turn = replace(case, turns=(case.turns[number],))
    turn_verdict = replace(verdict.turns[number], notes=verdict.notes, recovery=verdict.recovery)
    return _FailureContext(
        (one_turn, calls, turn_verdict, reply), story if fully else last_lines(story, _STORY_LINES, marks)
    )


def _state_lines(turn: Turn, held: TranscriptTurn, verdict: Verdict) -> list[str]:
    """The changes of the state, where it is wrong in more than one place: a single one is in its reason."""
    wrong = [reason for reason in verdict.reasons if reason.kind == "wrong_state"]
    if turn.state is None or held.state is None or len(wrong) < 2:
        return []
    return [f"  {safe_line(line)}" for line in state_changes(turn.state, held.state.value)]


def _way_lines(run: CaseRun) -> list[str]:
    if most_notable_way(run.answers.answers) != "unseen" or run.ignores_way or not run.asks_models:
        return []
    return ["the app sent no request through the proxy, though it is known to call models"]


def _retrieval_lines(run: CaseRun) -> list[str]:
    if run.case.retrieve is None:
        return []
    from pytest_fcall.session.ask.retrieval import missed_by_retrieval

    missed = ", ".join(f"`{name}`" for name in missed_by_retrieval(run.case, run.answers.request))
    return [f"retrieval missed {missed}"] if missed else []
