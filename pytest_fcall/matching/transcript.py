"""A whole conversation, judged turn by turn, with the order of calls across its replies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from pytest_fcall.core.case import Turn
from pytest_fcall.core.conversation import NamedCalls, Step, Transcript, TranscriptTurn
from pytest_fcall.core.expectation import Expectation, ExpectedCall, chosen_alternative
from pytest_fcall.core.reply import Call, Calls, Reply
from pytest_fcall.core.verdict import Reason, Verdict
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.references import resolved_expectation, resolved_pattern
from pytest_fcall.matching.reply import judge_turn
from pytest_fcall.matching.results import judge_call_results, judge_last_result, judge_state
from pytest_fcall.matching.turn_follower import TurnFollower
from pytest_fcall.matching.wording import call_text, printable_name

_PARALLEL_HINT = "`parallel: free` allows it"


def judge_transcript(transcript: Transcript, turns: Sequence[Turn], context: MatchContext) -> Verdict:
    """Judge every turn that was held. Returns a verdict for every transcript and never raises, as `judge`.

    Calls are counted through their own turn; where there are several turns, each path begins with `turns[i].`.
    """
    known: NamedCalls = {}
    verdicts = []
    for held, turn in zip(transcript.turns, turns, strict=False):
        verdict, known = _judge_held_turn(held, turn, context, known)
        verdicts.append(verdict)
    if all(verdict.valid for verdict in verdicts) and len(verdicts) < len(turns):
        verdicts.append(_unreached_verdict(len(verdicts)))
    return joined_verdict(verdicts, several=len(turns) > 1)


def _judge_held_turn(
    held: TranscriptTurn, turn: Turn, context: MatchContext, known: NamedCalls
) -> tuple[Verdict, NamedCalls]:
    known = _named_calls_after(held.steps, turn, context, known)
    reply, calls = _joined_turn(held)
    verdict = judge_turn(reply, calls, _resolved_turn(held, turn, known), context)
    wrong = [*verdict.reasons, *_other_reasons(held, turn, verdict, context, known)]
    if held.end == "stopped" and not wrong:
        wrong.append(_unanswered_reason(held))
    return replace(verdict, valid=not wrong, reasons=tuple(wrong)), known


def _other_reasons(
    held: TranscriptTurn, turn: Turn, verdict: Verdict, context: MatchContext, known: NamedCalls
) -> Iterable[Reason]:
    """Report the step limit, wrong steps, results and state: all beside the calls and the answer."""
    if held.end == "step_limit":
        yield step_limit_reason(held)
    if turn.expect is not None:
        steps = [number for number, step in enumerate(held.steps) for _ in step.calls.calls]
        yield from _step_order_reasons(turn.expect, verdict, held.calls, steps)
        expected = _expected_calls(turn.expect, verdict, known)
        yield from judge_call_results(expected, verdict.pairs, held.results, context)
    if held.end != "answered":
        return
    if turn.result is not None:
        yield from judge_last_result(resolved_pattern(turn.result, known), held.results, context)
    if turn.state is not None and held.state is not None:
        state = {name: resolved_pattern(value, known) for name, value in turn.state.items()}
        yield from judge_state(state, held.state, context)


def step_limit_reason(held: TranscriptTurn) -> Reason:
    """The reason for a turn that was ended before the model answered."""
    message = f"No answer after {len(held.steps)} steps (`max_steps`): the model was still making calls"
    return Reason("step_limit", "steps", message, len(held.steps))


def _expected_calls(expectation: Expectation, verdict: Verdict, known: NamedCalls) -> list[ExpectedCall]:
    """The expected calls of the verdict's alternative, with references in their results resolved."""
    calls = [call for stage in chosen_alternative(expectation, verdict.alternative).stages for call in stage]
    return [replace(call, result=resolved_pattern(call.result, known)) for call in calls]


def _named_calls_after(steps: Sequence[Step], turn: Turn, context: MatchContext, known: NamedCalls) -> NamedCalls:
    """The named calls after the turn. A turn that names calls is followed once more to find them."""
    if turn.expect is None or not any(call.name for call in turn.expect.all_calls):
        return known
    follower = TurnFollower(turn.expect, context, known)
    for step in steps:
        follower.follow(step.reply, step.calls.calls)
        follower.record_results(step.results)
    return follower.known


def _resolved_turn(held: TranscriptTurn, turn: Turn, known: NamedCalls) -> Turn:
    """The turn with references resolved, and without an answer where the model did not finish."""
    return replace(
        turn,
        expect=resolved_expectation(turn.expect, known) if turn.expect else None,
        answer=resolved_pattern(turn.answer, known) if held.end == "answered" else None,
    )


def _joined_turn(held: TranscriptTurn) -> tuple[Reply, Calls]:
    """A turn as if it were one reply: all its calls, and its last text."""
    last = held.steps[-1]
    notes = dict.fromkeys(note for step in held.steps for note in step.calls.notes)
    return last.reply, Calls(held.calls, last.calls.malformed, tuple(notes))


def _step_order_reasons(
    expectation: Expectation, verdict: Verdict, calls: Sequence[Call], step_of: Sequence[int]
) -> tuple[Reason, ...]:
    """Report calls of one stage that are in several replies, and calls of a later stage in the reply of an earlier one.

    In a strict order, calls of one stage may also come one after the other. `step_of` has the number of the reply that
    each call was in. A repeated call counts where it was made first. Nothing is reported where the verdict has already
    found a wrong order.
    """
    expectation = chosen_alternative(expectation, verdict.alternative)
    if expectation.parallel == "free" or any(reason.kind == "wrong_order" for reason in verdict.reasons):
        return ()
    first: dict[int, int] = {}
    for place, index in sorted(verdict.pairs, key=lambda pair: pair[1]):
        first.setdefault(place, index)
    return tuple(_stage_reasons(expectation, first, calls, step_of))


def _stage_reasons(
    expectation: Expectation, first: dict[int, int], calls: Sequence[Call], step_of: Sequence[int]
) -> Iterator[Reason]:
    start, before = 0, None
    for stage in expectation.stages:
        made = sorted(first[place] for place in range(start, start + len(stage)) if place in first)
        start += len(stage)
        if not made:
            continue
        if before is not None and step_of[made[0]] <= step_of[before]:
            yield _step_order_reason(made[0], before, calls, "at once with", "expected after its result")
        for index in made[1:] if expectation.order == "any" else ():
            if step_of[index] != step_of[made[0]]:
                yield _step_order_reason(index, made[0], calls, "in a later reply than", "expected at once with it")
        before = made[-1]


def _step_order_reason(index: int, other: int, calls: Sequence[Call], when: str, expected: str) -> Reason:
    message = f"{call_text(calls[index])} was called {when} {call_text(calls[other])}, {expected}; {_PARALLEL_HINT}"
    return Reason("wrong_order", f"calls[{index}]", message)


def _unanswered_reason(held: TranscriptTurn) -> Reason:
    """The reason for a conversation that had to be stopped although its calls are right."""
    index = len(held.results)
    name = f"`{printable_name(held.calls[index].name)}`" if index < len(held.calls) else "A call"
    message = f"{name} has no result, so the conversation was stopped: add `returns:` or a stub"
    return Reason("unexpected_call", f"calls[{index}]", message)


def _unreached_verdict(number: int) -> Verdict:
    return Verdict(False, (Reason("no_call", "calls", f"Turn {number + 1} was never reached"),))


def joined_verdict(verdicts: Sequence[Verdict], *, several: bool) -> Verdict:
    """One verdict of those on the turns; where there are `several` in the case, each path begins with its turn."""
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
