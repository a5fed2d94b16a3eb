"""A conversation in which results were faulty on purpose: did the model recover from it?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from pytest_fcall.core.case import Turn
from pytest_fcall.core.conversation import CallResult, FollowedCall, NamedCalls, Step, Transcript, TranscriptTurn
from pytest_fcall.core.expectation import Expectation
from pytest_fcall.core.message_text import shorten
from pytest_fcall.core.operators import pattern_operators
from pytest_fcall.core.reply import Call
from pytest_fcall.core.result_fault import FaultCount, Recovery, RecoveryResult, ResultFault
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import Reason, Verdict
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.reply import judge_turn
from pytest_fcall.matching.results import judge_state
from pytest_fcall.matching.transcript import joined_verdict, judge_transcript, step_limit_reason
from pytest_fcall.matching.turn_follower import RecoveryFollower, TurnFollower
from pytest_fcall.matching.unread_values import ReadTexts, first_known, mentions_failure, texts_of
from pytest_fcall.matching.values import judge_value
from pytest_fcall.matching.wording import call_text, printable_name

_CALL_PATH: Final = re.compile(r"^calls\[(\d+)\]")
_MISSING: Final = frozenset({"no_call", "wrong_count"})
_UNREADABLE: Final = frozenset({"malformed", "truncated", "refused"})
_REACTIONS: Final[Mapping[Recovery, str]] = {
    "retries": "makes the call again until it has a sound result",
    "tells": "says that it failed",
    "other_tool": "calls another tool",
}


def judge_recovery(
    transcript: Transcript, turns: Sequence[Turn], fault: ResultFault, stubs: Mapping[str, Json], context: MatchContext
) -> Verdict:
    """Judge whether the model recovered from the fault. Never raises.

    Where every call has had a sound result at last, the conversation without the faulty ones is judged as ever. Else
    the model must have done one of the other things that the fault takes as right, and the state of an environment must
    show no effect that is wrong in any case. `stubs` are results by tool.
    """
    judging = _RecoveryJudging(fault, stubs, context, FaultCount(fault))
    known: NamedCalls = {}
    for held, turn in zip(transcript.turns, turns, strict=False):
        known = judging.read_turn(held, turn, known)
    free = [replace(turn, expect=_in_any_reply(turn.expect)) for turn in turns]
    sound = judge_transcript(Transcript(tuple(judging.sound)), free, context).turns
    if any(reason.kind in _MISSING for verdict in sound for reason in verdict.reasons):
        judging.look_for_untold(transcript)
    own, how = judging.found(transcript, turns)
    unharmed = judging.first_outstanding
    verdicts = []
    for number, verdict in enumerate(sound):
        is_held, is_judged = number < len(judging.kept), unharmed is None or number < unharmed
        kept = judging.kept[number] if is_held else []
        counted = [_at_its_place(each, kept) for each in verdict.reasons] if is_judged else []
        reasons = (*(own[number] if is_held else ()), *counted)
        if is_held or is_judged:
            pairs = tuple((place, kept[index]) for place, index in verdict.pairs)
            verdicts.append(replace(verdict, valid=not reasons, reasons=reasons, pairs=pairs))
    joined = joined_verdict(verdicts, several=len(turns) > 1)
    result = RecoveryResult(fault.name, fault.kind, tuple(judging.faulty_tools), how if joined.valid else "")
    return replace(joined, recovery=result)


@dataclass(slots=True)
class _SeenTurn:
    """A turn, step by step."""

    known: NamedCalls
    """The named calls before it."""
    results: list[Sequence[CallResult]] = field(default_factory=list)
    """The results, marked where they are faulty."""
    kept: list[Sequence[int]] = field(default_factory=list)
    """The indices of the calls that had a sound result, and were not made instead of others."""


@dataclass(slots=True)
class _RecoveryJudging:
    """The state of judging a conversation with faulty results: texts read, calls made, reasons found."""

    fault: ResultFault
    stubs: Mapping[str, Json]
    context: MatchContext
    count: FaultCount
    sound: list[TranscriptTurn] = field(default_factory=list)
    """The conversation without the calls that had a faulty result, or were made instead."""
    kept: list[list[int]] = field(default_factory=list)
    """For each turn, the indices of the calls that are left."""
    reasons: list[list[Reason]] = field(default_factory=list)
    """The reasons that hold, whatever the model does next."""
    lost: list[list[Reason]] = field(default_factory=list)
    """The reasons that hold unless the model got sound results at last: else all calls are judged as ever."""
    faulty_tools: dict[str, None] = field(default_factory=dict)
    outstanding: dict[str, int] = field(default_factory=dict)
    """By tool, the turn with a faulty result, where no sound one of the tool followed."""
    unrepeated: list[tuple[Call, int]] = field(default_factory=list)
    """Calls with faulty results that were not made again with the same arguments, and their turns."""
    seen: list[_SeenTurn] = field(default_factory=list)
    missed: list[Json] = field(default_factory=list)
    """The sound results in whose place the model got faulty ones."""
    read: ReadTexts = field(default_factory=ReadTexts)
    blind: set[str] = field(default_factory=set)
    """The tools of which nobody knows whether their last call had its effect."""
    repeats: Counter[str] = field(default_factory=Counter)
    called_instead: bool = False

    def read_turn(self, held: TranscriptTurn, turn: Turn, known: NamedCalls) -> NamedCalls:
        """Read a turn, step by step; gives the named calls after it."""
        for message in turn.messages:
            self.read.add(dict(message))
        follower = RecoveryFollower(lambda: TurnFollower(turn.expect, self.context, known), self.fault)
        self.reasons.append([])
        self.lost.append([])
        kept: list[int] = []
        seen = _SeenTurn(known)
        self.seen.append(seen)
        steps = []
        first = 0
        for step in held.steps:
            calls = step.calls.calls
            pairs = zip(calls, step.results, strict=False)
            results = [self.count.marked(call.name, result) for call, result in pairs]
            followed = follower.follow(step.reply, calls)
            self._judge_step(step, followed, first)
            here = follower.keep(results)
            self._read_results(followed, results, len(self.reasons) - 1)
            seen.results.append(results)
            seen.kept.append(here)
            steps.append(_without_others(step, results, here))
            kept += [first + index for index in here]
            first += len(calls)
        if held.end == "step_limit":
            self.lost[-1].append(step_limit_reason(held))
        self.sound.append(replace(held, steps=tuple(steps)))
        self.kept.append(kept)
        return follower.known

    @property
    def first_outstanding(self) -> int | None:
        """The first turn that lacks a sound result."""
        return min(self.outstanding.values(), default=None)

    def look_for_untold(self, transcript: Transcript) -> None:
        """Find out whether the model told of calls that it did not make again, and made others of the same tools.

        So a search for Oslo that failed is not got over by one for Rome.
        """
        if not self.outstanding and self.unrepeated:
            self.outstanding = {call.name: turn for call, turn in self.unrepeated}
            if self._reaction(transcript)[1]:
                self.outstanding = {}

    def found(self, transcript: Transcript, turns: Sequence[Turn]) -> tuple[list[list[Reason]], str]:
        """The reasons of each turn, and what the model did."""
        if not self.faulty_tools:
            self.reasons[-1].append(self._no_fault(transcript))
            return self.reasons, ""
        if not self.outstanding:
            if "retries" not in self.fault.recovery:
                self.reasons[-1].append(self._no_recovery("calls", "The model made the call again"))
            return self.reasons, "retries"
        how, why = self._reaction(transcript)
        joined = [[*own, *lost] for own, lost in zip(self.reasons, self.lost, strict=True)]
        joined[-1] += why
        for number, (held, turn) in enumerate(zip(transcript.turns, turns, strict=False)):
            if number >= min(self.outstanding.values()) and self._must_hold_state(number, held, turn, how):
                joined[number] += _lost_effect_reasons(turn, held, self.context)
        return joined, how

    def _must_hold_state(self, number: int, held: TranscriptTurn, turn: Turn, how: str) -> bool:
        """Whether the state must be as the case says, though the model got no sound result."""
        if how == "other_tool" and self.fault.answer is None and not mentions_failure(held.steps[-1].reply.text):
            return True
        if turn.state is None or not self.fault.is_carried_out:
            return False
        seen = self.seen[number]
        return _is_carried_out_whole(turn, held, seen.results, seen.kept, self.outstanding, self.context, seen.known)

    def _reaction(self, transcript: Transcript) -> tuple[str, list[Reason]]:
        """The reaction of a model that got no sound result (`tells` or `other_tool`), and the reasons against it."""
        number = max(self.outstanding.values())
        turn = transcript.turns[number]
        text = turn.steps[-1].reply.text
        if turn.end != "answered" or not text.strip():
            told = [self._no_recovery("answer", "The model gave no answer")]
        elif self.fault.answer is not None:
            told = list(judge_value(self.fault.answer, text, "no_recovery", ("answer",), self.context))
        else:
            told = self._untold(text)
        if self.called_instead and (self.fault.answer is None or not told):
            return "other_tool", [] if text.strip() else told
        if "tells" not in self.fault.recovery and not told:
            told = [self._no_recovery("answer", f"The model said {shorten(repr(text))}")]
        return "tells", told

    def _untold(self, text: str) -> list[Reason]:
        """The reasons why a text does not tell of the failure, as far as they can be known without a judge."""
        if not mentions_failure(text):
            message = f"The model does not say that anything failed: {shorten(repr(text))}"
            return [self._no_recovery("answer", message)]
        if (figure := self.read.unread_figure(text)) is None:
            return []
        message = f"The answer says {shorten(repr(figure))}, which the model was never given"
        return [Reason("invented_result", "answer", message, got=figure)]

    def _judge_step(self, step: Step, followed: Sequence[FollowedCall], first: int) -> None:
        """Judge the calls and the text of a reply by the results before it."""
        reasons, lost = self.reasons[-1], self.lost[-1]
        broken = judge_turn(step.reply, step.calls, Turn(()), self.context)
        lost += [each for each in broken.reasons if each.kind in _UNREADABLE]
        unread = self.read.unread(self.missed)
        for index, each in enumerate(followed, first):
            path, call = f"calls[{index}]", each.call
            if each.forbidden:
                lost.append(Reason("forbidden_call", path, f"{call_text(call)} is forbidden", got=call.name))
            elif not each.expected:
                lost.append(Reason("unexpected_call", path, f"{call_text(call)} is not expected", got=call.name))
            reasons += self._wrong_repetition(call, path)
            reasons += self._invented_arguments(call, path, unread)
        if (value := first_known(unread, step.reply.text)) is not None:
            message = f"The answer says {shorten(repr(value))}, which only the sound result would have contained"
            reasons.append(Reason("invented_result", "answer", message, got=value))

    def _wrong_repetition(self, call: Call, path: str) -> Iterator[Reason]:
        if call.name in self.blind:
            message = (
                f"{call_text(call)} was made again, and it is unknown whether it had its effect: "
                "another tool must be asked first, or the user"
            )
            yield Reason("blind_repeat", path, message, got=call.name)
        if call.name in self.outstanding:
            self.repeats[call.name] += 1
            if self.repeats[call.name] == self.fault.most + 1:
                name = printable_name(call.name)
                message = f"`{name}` was called again more than {self.fault.most} times (`retries`)"
                yield Reason("too_many_retries", path, message, self.fault.most)

    def _invented_arguments(self, call: Call, path: str, unread: Sequence[str]) -> Iterator[Reason]:
        for name, argument in call.arguments.items():
            for text in texts_of(argument):
                if (value := first_known(unread, text)) is not None:
                    message = f"`{name}` is {shorten(repr(text))}, and {shorten(repr(value))} only the sound result of "
                    message += f"`{printable_name(next(iter(self.faulty_tools)))}` would have contained"
                    yield Reason("invented_result", f"{path}.args.{name}", message, got=text)

    def _read_results(self, followed: Sequence[FollowedCall], results: Sequence[CallResult], turn: int) -> None:
        pairs = list(zip(followed, results, strict=False))
        for each, result in pairs:
            name = each.call.name
            self.read.add(dict(each.call.arguments))
            self.read.add(result.value if result.error is None else result.error)
            if not result.fault:
                self.outstanding.pop(name, None)
                self.unrepeated = [(call, at) for call, at in self.unrepeated if not _is_same(call, each.call)]
                self.repeats.pop(name, None)
                self.called_instead |= bool(self.outstanding) and name in self.fault.other_tools
                if any(other != name for other in self.blind):
                    self.blind.clear()
        for each, result in pairs:
            if result.fault:
                self.faulty_tools[each.call.name] = None
                self.outstanding[each.call.name] = turn
                self.unrepeated.append((each.call, turn))
                self.missed += self._sound_values(each)
                if self.fault.effect and self.fault.is_carried_out:
                    self.blind.add(each.call.name)

    def _sound_values(self, each: FollowedCall) -> Sequence[Json]:
        """The values of the case that the sound result has."""
        if each.stub is not None:
            if each.stub.returns:
                return [each.stub.returns[min(each.result_index, len(each.stub.returns) - 1)]]
            return [each.stub.raises]
        return [self.stubs[each.call.name]] if each.call.name in self.stubs else []

    def _no_recovery(self, path: str, what: str) -> Reason:
        wanted = [
            f"{_REACTIONS[each]} ({', '.join(self.fault.other_tools)})" if each == "other_tool" else _REACTIONS[each]
            for each in self.fault.recovery
        ]
        tools = " and ".join(f"`{printable_name(tool)}`" for tool in self.faulty_tools)
        message = f"{what}; after the faulty result of {tools} ({self.fault.kind}) it is right that it "
        return Reason("no_recovery", path, message + " or ".join(wanted))

    def _no_fault(self, transcript: Transcript) -> Reason:
        """The reason why nothing is known about a fault that did not come up."""
        tools = " or ".join(f"`{glob}`" for glob in self.fault.tools)
        if any(step.reply.trail for step in transcript.steps):
            why = "the app carries out its calls itself: break its tools there"
        else:
            why = f"no call of {tools} had a result"
        return Reason("no_fault", "results", f"The faulty result did not reach the model: {why}")


def _is_same(call: Call, other: Call) -> bool:
    return (call.name, call.arguments) == (other.name, other.arguments)


def _without_others(step: Step, results: Sequence[CallResult], kept: Sequence[int]) -> Step:
    """The step with the calls that are kept alone."""
    calls = tuple(step.calls.calls[index] for index in kept)
    given = tuple(results[index] for index in kept if index < len(results))
    return replace(step, calls=replace(step.calls, calls=calls), results=given)


def _in_any_reply(expect: Expectation | None) -> Expectation | None:
    """The expectation for calls in any replies: a call that is made again comes in a later one."""
    if expect is None:
        return None
    alternatives = tuple(filter(None, map(_in_any_reply, expect.alternatives)))
    return replace(expect, parallel="free", alternatives=alternatives)


def _at_its_place(reason: Reason, kept: Sequence[int]) -> Reason:
    """The reason with the number that its call has among all calls of the turn."""
    found = _CALL_PATH.match(reason.path)
    if found is None or int(found[1]) >= len(kept):
        return reason
    return replace(reason, path=f"calls[{kept[int(found[1])]}]{reason.path[found.end() :]}")


def _lost_effect_reasons(turn: Turn, held: TranscriptTurn, context: MatchContext) -> tuple[Reason, ...]:
    """Judge the state that a turn left, where it is known and needs no result that may be lost."""
    if turn.state is None or held.state is None or any(each.name == "from" for each in pattern_operators(turn.state)):
        return ()
    return judge_state(turn.state, held.state, context)


def _is_carried_out_whole(
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
