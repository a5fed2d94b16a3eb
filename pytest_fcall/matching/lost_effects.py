"""What the state of an environment shows of calls that were carried out, though their results were lost."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from pytest_fcall.core.case import Turn
from pytest_fcall.core.conversation import CallResult, NamedCalls, TranscriptTurn
from pytest_fcall.core.operators import pattern_operators
from pytest_fcall.core.reply import Call
from pytest_fcall.core.verdict import Reason
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.results import judge_state
from pytest_fcall.matching.turn_follower import TurnFollower


def lost_effect_reasons(turn: Turn, held: TranscriptTurn, context: MatchContext) -> tuple[Reason, ...]:
    """Judge the state that a turn left, where it is known and needs no result that may be lost."""
    if turn.state is None or held.state is None or any(each.name == "from" for each in pattern_operators(turn.state)):
        return ()
    return judge_state(turn.state, held.state, context)


def is_carried_out_whole(
    turn: Turn,
    held: TranscriptTurn,
    results: Sequence[Sequence[CallResult]],
    kept: Sequence[Sequence[int]],
    lost: Collection[str],
    context: MatchContext,
    known: NamedCalls,
) -> bool:
    """Whether all required calls were carried out, if each call of the `lost` tools counts where it was made first.

    `results` are marked where they are faulty, and `kept` are the indices of the other calls that count, step by step.
    """
    follower = TurnFollower(turn.expect, context, known)
    before: list[tuple[str, object]] = []
    for step, given, counting in zip(held.steps, results, kept, strict=False):
        first = {*_first_lost(step.calls.calls, given, lost, before)}
        counted = [index for index in range(len(given)) if index in counting or index in first]
        follower.follow(step.reply, [step.calls.calls[index] for index in counted])
        follower.record_results([given[index] for index in counted])
    return follower.is_complete


def _first_lost(
    calls: Sequence[Call], results: Sequence[CallResult], lost: Collection[str], before: list[tuple[str, object]]
) -> Iterator[int]:
    """The calls whose results were lost, and that were not among those before."""
    for index, (call, result) in enumerate(zip(calls, results, strict=False)):
        made = call.name, call.arguments
        if result.fault and call.name in lost and made not in before:
            before.append(made)
            yield index
