"""Judges multi-turn conversations: asks the checker's process, and turns its finding into a Verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from pytest_fcall.conversation.execution.limits import Limits
from pytest_fcall.core.case import Case
from pytest_fcall.core.conversation import CallResult, HeldTurn, Step, Transcript
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import Reason, ReasonKind, Verdict
from pytest_fcall.suites.bfcl.answers import Answer, Form
from pytest_fcall.suites.bfcl.call_process import CallProcess
from pytest_fcall.suites.bfcl.call_sources import readable_sources
from pytest_fcall.suites.bfcl.judge import answer_of_reply

CHECKER: Final = "pytest_fcall.suites.bfcl.multi_turn.checker:make"


@dataclass(frozen=True, slots=True)
class CheckedConversation:
    """A conversation, and what would have been right: calls as source, by turns, those of the model by replies, too."""

    classes: Sequence[str]
    config: Mapping[str, Json]
    long_context: bool
    turns: Sequence[Sequence[Sequence[str]]]
    truth: Sequence[Sequence[str]]

    def as_arguments(self) -> dict[str, Json]:
        """As the checker takes it."""
        return {
            "classes": self.classes,
            "config": self.config,
            "long_context": self.long_context,
            "turns": self.turns,
            "truth": self.truth,
        }


class CheckerProcess:
    """Has questions answered by the checker, in a process of its own. Every question gets instances of its own."""

    def __init__(self) -> None:
        self._process = CallProcess(CHECKER, Limits(seconds=30.0, result=16 << 20))

    def ask(self, question: CheckedConversation) -> CallResult:
        """What the checker says, or an error that it, or the process, came to. Raises WorldFailed without classes."""
        return self._process.call("check", question.as_arguments())


_EMPTY_TURN: Final = "empty_turn_model_response"
_STATE_MISMATCH: Final = "instance_state_mismatch"


@dataclass(frozen=True, slots=True)
class ConversationTruth:
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
    truth: ConversationTruth
    bench: CheckerProcess

    def __call__(self, case: Case, transcript: Transcript) -> Verdict:
        """Judge what was held."""
        return self.verdict([turn_answers(case, held) for held in transcript.turns])

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
        sources = [[read for answer in turn if (read := readable_sources(answer))] for turn in turns]
        question = CheckedConversation(truth.classes, truth.config, truth.long_context, sources, truth.calls)
        return _verdict_of(self.bench.ask(question), len(turns))


def with_case_decoder(case: Case, reply: Reply) -> Reply:
    """The reply, to be read as the case says."""
    return replace(reply, decoder=case.decoder) if case.decoder else reply


def turn_answers(case: Case, held: HeldTurn) -> list[Answer]:
    """What was said in a turn, reply by reply."""
    return [*(_answer(case, step) for step in held.steps), *(Answer("fc", text) for text in closing_texts(held))]


def closing_texts(held: HeldTurn) -> list[str]:
    """What an app said when it had carried out its calls itself, which is no step of its own."""
    return [step.reply.text for step in held.steps[-1:] if step.reply.trail and step.calls.calls]


def _answer(case: Case, step: Step) -> Answer:
    """What was said in a step: its calls where a reply is missing, as in a baseline, or is an app's, with all calls."""
    if step.reply.trail or not step.request.messages:
        return answer_of_reply(Reply("" if step.calls.calls else step.reply.text), step.calls)
    return answer_of_reply(with_case_decoder(case, step.reply), step.calls)


def _verdict_of(said: CallResult, count: int) -> Verdict:
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
    kind: ReasonKind = "wrong_state" if error_type == _STATE_MISMATCH else "wrong_result"
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
