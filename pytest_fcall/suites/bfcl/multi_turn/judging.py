"""Conversations judged by the leaderboard's own rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from pytest_fcall.core.case import Case
from pytest_fcall.core.environment import Executed
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.transcript import Held, Step, Transcript
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import Reason, ReasonKind, Verdict
from pytest_fcall.suites.bfcl.answers import Answer, Form
from pytest_fcall.suites.bfcl.judging import answer_of
from pytest_fcall.suites.bfcl.multi_turn.bench import Bench, Question
from pytest_fcall.suites.bfcl.multi_turn.reading import sources_of

_EMPTY: Final = "empty_turn_model_response"
_STATE: Final = "instance_state_mismatch"


@dataclass(frozen=True, slots=True)
class Truth:
    """What a case is judged by."""

    classes: Sequence[str]
    config: Mapping[str, Json]
    long_context: bool
    calls: Sequence[Sequence[str]]
    """The right calls of each turn, as source."""


@dataclass(frozen=True, slots=True)
class MultiTurnJudge:
    """Judges conversations about one case. There is one rule, whatever the profile."""

    row: Mapping[str, Json]
    truth: Truth
    bench: Bench

    def __call__(self, case: Case, transcript: Transcript) -> Verdict:
        """Judge what was held."""
        return self.verdict([answers_in(case, held) for held in transcript.turns])

    def verdict_on(self, result: Json, form: Form) -> Verdict:
        """Judge a result as a file has it: a list of turns, each a list of replies; any other turn has none."""
        if not isinstance(result, list):
            reason = Reason("malformed", "reply", "The answer is not a list of turns, each a list of replies")
            return Verdict(False, (reason,), error_type="multi_turn:inference_error")
        turns = [turn if isinstance(turn, list) else [] for turn in result]
        return self.verdict([[Answer(form, said) for said in turn] for turn in turns])

    def verdict(self, turns: Sequence[Sequence[Answer]]) -> Verdict:
        """Judge the answers of each turn."""
        truth = self.truth
        if len(turns) != len(truth.calls):
            return _wrong("force_terminated", len(turns), [_terminated(len(turns), len(truth.calls))])
        sources = [[read for answer in turn if (read := sources_of(answer))] for turn in turns]
        question = Question(truth.classes, truth.config, truth.long_context, sources, truth.calls)
        return _in_our_words(self.bench.ask(question), len(turns))


def as_asked(case: Case, reply: Reply) -> Reply:
    """The reply, to be read as the case says."""
    return replace(reply, decoder=case.decoder) if case.decoder else reply


def answers_in(case: Case, held: Held) -> list[Answer]:
    """What was said in a turn, reply by reply."""
    return [*(_answer(case, step) for step in held.steps), *(Answer("fc", text) for text in said_last(held))]


def said_last(held: Held) -> list[str]:
    """What an app said when it had carried out its calls itself, which is no step of its own."""
    return [step.reply.text for step in held.steps[-1:] if step.reply.trail and step.calls.calls]


def _answer(case: Case, step: Step) -> Answer:
    """What was said in a step: its calls where a reply is missing, as in a baseline, or is an app's, with all calls."""
    if step.reply.trail or not step.request.messages:
        return answer_of(Reply("" if step.calls.calls else step.reply.text), step.calls)
    return answer_of(as_asked(case, step.reply), step.calls)


def _in_our_words(said: Executed, count: int) -> Verdict:
    if said.error is not None:
        reason = Reason("malformed", "reply", f"The official check breaks on it: {said.error}")
        return Verdict(False, (reason,), error_type=f"case_error:{_exception(said.error)}")
    match said.value:
        case {"error_type": str(error_type), "turn": int(number), "found": list(found)}:
            return _wrong(error_type, number, [_reason(error_type, each) for each in found] or [_not_called()])
    return Verdict(True, turns=(Verdict(True),) * count)


def _wrong(error_type: str, number: int, reasons: Sequence[Reason]) -> Verdict:
    """The verdict on a conversation that went well up to this turn."""
    error = f"multi_turn:{error_type}"
    turn = Verdict(False, tuple(reasons), error_type=error)
    told = tuple(replace(reason, path=f"turns[{number}].{reason.path}") for reason in reasons)
    return Verdict(False, told, error_type=error, turns=(*(Verdict(True),) * number, turn))


def _reason(error_type: str, found: Mapping[str, str]) -> Reason:
    kind: ReasonKind = "wrong_state" if error_type == _STATE else "wrong_result"
    wanted = found.get("wanted", "")
    if kind == "wrong_result":
        return Reason(kind, "calls", f"No call has come to what is right in this turn: {wanted}", wanted)
    where, got = found.get("where", ""), found.get("got", "")
    return Reason(kind, f"state.{where}", f"`{where}` is {got}, and right calls make it {wanted}", wanted, got)


def _not_called() -> Reason:
    return Reason("no_call", "calls", "No call was made in this turn, and some are right")


def _terminated(held: int, asked: int) -> Reason:
    return Reason("step_limit", "steps", f"The conversation ended after {held} of {asked} turns", asked, held)


def _exception(error: str) -> str:
    """The name of an exception that a message begins with, or what became of the process."""
    name = error.partition(":")[0]
    return name if name.isidentifier() else "Timeout" if "longer than" in error else "Killed"
