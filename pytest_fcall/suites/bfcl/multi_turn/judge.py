"""Judges multi-turn conversations: asks the checker's process, and makes a Verdict of its answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from pytest_fcall.conversation.execution.limits import Limits
from pytest_fcall.core.case import Case
from pytest_fcall.core.conversation import CallResult, Step, Transcript, TranscriptTurn
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import Reason, ReasonKind, Verdict
from pytest_fcall.suites.bfcl.answers import Answer, Form
from pytest_fcall.suites.bfcl.call_process import CallProcess
from pytest_fcall.suites.bfcl.call_sources import readable_sources
from pytest_fcall.suites.bfcl.judge import answer_of_reply

CHECKER: Final = "pytest_fcall.suites.bfcl.multi_turn.checker:make"
_STATE_MISMATCH: Final = "instance_state_mismatch"


@dataclass(frozen=True, slots=True)
class ConversationTruth:
    """The official classes of a case, their initial states, and the right calls."""

    classes: Sequence[str]
    config: Mapping[str, Json]
    long_context: bool
    calls: Sequence[Sequence[str]]
    """The right calls of each turn, as source."""

    @property
    def setup(self) -> dict[str, Json]:
        """The arguments that make the instances."""
        return {"classes": self.classes, "config": self.config, "long_context": self.long_context}


class CheckerProcess:
    """The checker in a process of its own. Each question gets new instances."""

    def __init__(self) -> None:
        self._process = CallProcess(CHECKER, Limits(seconds=30.0, result=16 << 20))

    def ask(self, truth: ConversationTruth, turns: Sequence[Sequence[Sequence[str]]]) -> CallResult:
        """Check the calls of a model, as source, by turn and reply.

        Returns the checker's answer, or the error of the checker or its process. Raises EnvironmentFailed without
        classes.
        """
        return self._process.call("check", {**truth.setup, "turns": turns, "truth": truth.calls})


@dataclass(frozen=True, slots=True)
class MultiTurnJudge:
    """Judges conversations of one case, by the same rule in all profiles."""

    row: Mapping[str, Json]
    truth: ConversationTruth
    checker: CheckerProcess

    def __call__(self, case: Case, transcript: Transcript) -> Verdict:
        """Judge a conversation."""
        return self.verdict([turn_answers(case, held) for held in transcript.turns])

    def verdict_on_result(self, result: Json, form: Form) -> Verdict:
        """Judge a stored result: a list of turns, each a list of replies. Any other turn has no replies."""
        if not isinstance(result, list):
            reason = Reason("malformed", "reply", "The answer is not a list of turns, each a list of replies")
            return Verdict(False, (reason,), error_type="multi_turn:inference_error")
        turns = [turn if isinstance(turn, list) else [] for turn in result]
        return self.verdict([[Answer(form, reply) for reply in turn] for turn in turns])

    def verdict(self, turns: Sequence[Sequence[Answer]]) -> Verdict:
        """Judge the answers of each turn."""
        expected = len(self.truth.calls)
        if len(turns) != expected:
            message = f"The conversation ended after {len(turns)} of {expected} turns"
            return _wrong(
                "force_terminated", len(turns), [Reason("step_limit", "steps", message, expected, len(turns))]
            )
        sources = [[calls for answer in turn if (calls := readable_sources(answer))] for turn in turns]
        return _verdict_of(self.checker.ask(self.truth, sources), len(turns))


def with_case_decoder(case: Case, reply: Reply) -> Reply:
    """Return the reply with the decoder of the case."""
    return replace(reply, decoder=case.decoder) if case.decoder else reply


def turn_answers(case: Case, held: TranscriptTurn) -> list[Answer]:
    """Return the answers of a turn, reply by reply."""
    return [*(_answer(case, step) for step in held.steps), *(Answer("fc", text) for text in closing_texts(held))]


def closing_texts(held: TranscriptTurn) -> list[str]:
    """Return the final text of an app that executed its calls itself; this text is not a step of its own."""
    return [step.reply.text for step in held.steps[-1:] if step.reply.trail and step.calls.calls]


def _answer(case: Case, step: Step) -> Answer:
    """The answer of a step. Without a reply, as in a baseline, or with that of an app, the calls are the answer."""
    if step.reply.trail or not step.request.messages:
        return answer_of_reply(Reply("" if step.calls.calls else step.reply.text), step.calls)
    return answer_of_reply(with_case_decoder(case, step.reply), step.calls)


def _verdict_of(checked: CallResult, count: int) -> Verdict:
    if checked.error is not None:
        reason = Reason("malformed", "reply", f"The official checker failed: {checked.error}")
        return Verdict(False, (reason,), error_type=f"case_error:{_exception_name(checked.error)}")
    match checked.value:
        case {"error_type": str(error_type), "turn": int(number), "found": list(found)}:
            missing = Reason("no_call", "calls", "No call was made in this turn; calls were expected")
            return _wrong(error_type, number, [_reason(error_type, each) for each in found] or [missing])
    return Verdict(True, turns=(Verdict(True),) * count)


def _wrong(error_type: str, number: int, reasons: Sequence[Reason]) -> Verdict:
    """The verdict on a conversation that is right before turn `number`."""
    error = f"multi_turn:{error_type}"
    turn = Verdict(False, tuple(reasons), error_type=error)
    in_turn = tuple(replace(reason, path=f"turns[{number}].{reason.path}") for reason in reasons)
    return Verdict(False, in_turn, error_type=error, turns=(*(Verdict(True),) * number, turn))


def _reason(error_type: str, found: Mapping[str, str]) -> Reason:
    kind: ReasonKind = "wrong_state" if error_type == _STATE_MISMATCH else "wrong_result"
    wanted = found.get("wanted", "")
    if kind == "wrong_result":
        return Reason(kind, "calls", f"No call in this turn returned {wanted}", wanted)
    where, got = found.get("where", ""), found.get("got", "")
    return Reason(kind, f"state.{where}", f"`{where}` is {got}; the right calls make it {wanted}", wanted, got)


def _exception_name(error: str) -> str:
    """The name of the exception that an error begins with; Timeout or Killed if the process ended."""
    name = error.partition(":")[0]
    return name if name.isidentifier() else "Timeout" if "longer than" in error else "Killed"
