"""A whole conversation against what a case expects of each turn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_fcall.core.call import Calls
from pytest_fcall.core.case import Turn
from pytest_fcall.core.expectation import Expectation, ExpectedCall, chosen
from pytest_fcall.core.following import Known
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.rules import Rules
from pytest_fcall.core.tool import Tool
from pytest_fcall.core.transcript import Held, Step, Transcript
from pytest_fcall.core.verdict import Reason, Verdict
from pytest_fcall.matching.following import Exam, Following
from pytest_fcall.matching.references import expectation_with_known, filled
from pytest_fcall.matching.results import judge_call_results, judge_results
from pytest_fcall.matching.state import judge_state
from pytest_fcall.matching.steps import out_of_step
from pytest_fcall.matching.turn import judge_turn
from pytest_fcall.matching.wording import plain_name

if TYPE_CHECKING:
    from pytest_fcall.core.extension import Comparator


def judge_transcript(
    transcript: Transcript,
    turns: Sequence[Turn],
    tools: Sequence[Tool],
    rules: Rules,
    comparators: Mapping[str, Comparator],
) -> Verdict:
    """Judge every turn that was held. Pure and total, as `judge` is.

    What the verdict says of calls counts through its own turn; where there are several, each path begins with
    `turns[i].`.
    """
    exam = Exam(tools, rules, comparators)
    known: Known = {}
    verdicts = []
    for held, turn in zip(transcript.turns, turns, strict=False):
        verdict, known = _judge(held, turn, exam, known)
        verdicts.append(verdict)
    if all(verdict.valid for verdict in verdicts) and len(verdicts) < len(turns):
        verdicts.append(_never_held(len(verdicts)))
    return _joined(verdicts, several=len(turns) > 1)


def _judge(held: Held, turn: Turn, exam: Exam, known: Known) -> tuple[Verdict, Known]:
    known = _known(held.steps, turn, exam, known)
    reply, calls = whole(held)
    verdict = judge_turn(reply, calls, _resolved(held, turn, known), exam.tools, exam.rules, exam.comparators)
    wrong = [*verdict.reasons, *_besides(held, turn, verdict, exam, known)]
    if held.end == "stopped" and not wrong:
        wrong.append(_unanswered(held))
    return replace(verdict, valid=not wrong, reasons=tuple(wrong)), known


def _besides(held: Held, turn: Turn, verdict: Verdict, exam: Exam, known: Known) -> Iterable[Reason]:
    """What is wrong beside calls and answer."""
    if held.end == "step_limit":
        message = f"The model was still calling after {len(held.steps)} steps (`max_steps`), so that there is no answer"
        yield Reason("step_limit", "steps", message, len(held.steps))
    if turn.expect is not None:
        steps = [number for number, step in enumerate(held.steps) for _ in step.calls.calls]
        yield from out_of_step(turn.expect, verdict, held.calls, steps)
        asked = _calls_asked(turn.expect, verdict, known)
        yield from judge_call_results(asked, verdict.pairs, held.results, exam.rules, exam.comparators)
    if held.end != "answered":
        return
    if turn.result is not None:
        yield from judge_results(filled(turn.result, known), held.results, exam.rules, exam.comparators)
    if turn.state is not None and held.state is not None:
        state = {name: filled(value, known) for name, value in turn.state.items()}
        yield from judge_state(state, held.state, exam.rules, exam.comparators)


def _calls_asked(expectation: Expectation, verdict: Verdict, known: Known) -> list[ExpectedCall]:
    """The expected calls that the verdict speaks of, with references in their results resolved."""
    calls = [call for stage in chosen(expectation, verdict.alternative).stages for call in stage]
    return [call if call.result is None else replace(call, result=filled(call.result, known)) for call in calls]


def _known(steps: Sequence[Step], turn: Turn, exam: Exam, known: Known) -> Known:
    """What names stand for after the turn; if it gives any, it is gone through once more."""
    if turn.expect is None or not any(call.name for call in turn.expect.all_calls):
        return known
    following = Following(turn.expect, exam, known)
    for step in steps:
        following.take(step.reply, step.calls.calls)
        following.answered(step.results)
    return following.known


def _resolved(held: Held, turn: Turn, known: Known) -> Turn:
    """The turn as it can be judged; where the model did not come to an end, there is no answer."""
    return replace(
        turn,
        expect=expectation_with_known(turn.expect, known) if turn.expect else None,
        answer=filled(turn.answer, known) if held.end == "answered" else None,
    )


def whole(held: Held) -> tuple[Reply, Calls]:
    """A turn as if it were one reply: all its calls, and what was said last."""
    last = held.steps[-1]
    notes = dict.fromkeys(note for step in held.steps for note in step.calls.notes)
    return last.reply, Calls(held.calls, last.calls.malformed, tuple(notes))


def _unanswered(held: Held) -> Reason:
    """The conversation had to be ended, and there is nothing against its calls themselves."""
    index = len(held.results)
    name = f"`{plain_name(held.calls[index].name)}`" if index < len(held.calls) else "a call"
    message = f"Nothing says what {name} gives, so that the conversation was ended: give it `returns:`, or a stub"
    return Reason("unexpected_call", f"calls[{index}]", message)


def _never_held(number: int) -> Verdict:
    return Verdict(False, (Reason("no_call", "calls", f"Turn {number + 1} was never reached"),))


def _joined(verdicts: Sequence[Verdict], *, several: bool) -> Verdict:
    if len(verdicts) == 1 and not several:
        return replace(verdicts[0], turns=tuple(verdicts))
    reasons = (
        replace(reason, path=f"turns[{number}].{reason.path}")
        for number, verdict in enumerate(verdicts)
        for reason in verdict.reasons
    )
    return Verdict(
        valid=all(verdict.valid for verdict in verdicts),
        reasons=tuple(reasons),
        notes=tuple(dict.fromkeys(note for verdict in verdicts for note in verdict.notes)),
        judged=any(verdict.judged for verdict in verdicts),
        error_type=next((verdict.error_type for verdict in verdicts if verdict.error_type), None),
        turns=tuple(verdicts),
    )
