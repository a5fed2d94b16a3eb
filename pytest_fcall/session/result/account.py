"""The account of a case, from its answers and their verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

from pytest_fcall.backends.redaction import without_secrets
from pytest_fcall.reporting.account import (
    AcceptedAccount,
    Account,
    AccountAnswer,
    AnsweredTurn,
    AskedStep,
    ExpectedTurn,
)

if TYPE_CHECKING:
    from pytest_fcall.backends.recordings.volatile import LeftOut
    from pytest_fcall.core.app import AppExchange
    from pytest_fcall.core.conversation import Transcript
    from pytest_fcall.core.extension import Decoder
    from pytest_fcall.core.reply import Calls, Reply
    from pytest_fcall.core.request import Request
    from pytest_fcall.core.values import Message
    from pytest_fcall.session.case_run import CaseRun
    from pytest_fcall.session.judge.baseline_comparison import BaselineComparison
    from pytest_fcall.session.judge.samples import JudgedAnswer


_USUAL_ENDS = ("stop", "tool_calls")
_NAME = attrgetter("name")
_REASON = attrgetter("kind", "path", "message")


def account_of(
    nodeid: str, run: CaseRun | None, error: str, decoders: Mapping[str, Decoder], left_out: LeftOut, offered: str
) -> Account:
    """The account of a case. `run` is None where the case was not asked; `error` says why there is no verdict.

    `left_out` is what of its requests was no part of their keys; `offered` is the name of the set of its tools.
    """
    if run is None:
        return Account(nodeid, error=error, left_out=left_out, offered=offered)
    request, result = run.answers.request, run.judged.result if run.judged else None
    if result:
        answers = tuple([_answer(request, each, decoders) for each in result.all])
    else:
        answers = (AccountAnswer(valid=False, steps=(AskedStep(request.messages),)),)
    return Account(
        nodeid,
        answers,
        result.place if result else 0,
        tuple(map(_NAME, request.tools)),
        without_secrets(request.settings) if request.settings else request.settings,
        error,
        left_out,
        tuple([ExpectedTurn(turn.expect, turn.answer) for turn in run.case.turns]),
        _accepted(run.judged.comparison) if run.judged else None,
        offered,
    )


def _accepted(comparison: BaselineComparison) -> AcceptedAccount | None:
    """The accepted answer to the case; None where none was."""
    baseline = comparison.comparison.baseline if comparison.comparison else None
    if baseline is None:
        return None
    date, former = baseline.provenance.get("date"), comparison.former
    return AcceptedAccount(
        baseline.valid,
        baseline.calls or (),
        tuple(map(sum, baseline.steps)) if baseline.steps else (),
        date if isinstance(date, str) else "",
        former.system,
        former.prompt,
        former.tools,
    )


def _answer(request: Request, judged: JudgedAnswer, decoders: Mapping[str, Decoder]) -> AccountAnswer:
    transcript, verdict = judged.answer.transcript, judged.verdict
    steps = tuple(_steps(transcript)) if transcript else (_step(request.messages, judged.reply, judged.calls),)
    return AccountAnswer(
        valid=verdict.valid,
        steps=steps,
        reasons=tuple(map(_REASON, verdict.reasons)),
        notes=tuple(dict.fromkeys((*judged.calls.notes, *verdict.notes))),
        inside=tuple(_inside(exchanges, decoders)) if (exchanges := judged.answer.exchanges) else (),
        turns=_turns(judged),
    )


def _turns(judged: JudgedAnswer) -> tuple[AnsweredTurn, ...]:
    transcript, verdict = judged.answer.transcript, judged.verdict
    if transcript is None or not verdict.turns:
        return (AnsweredTurn(len(judged.calls.calls), verdict.pairs, verdict.alternative),)
    turns = zip(transcript.turns, verdict.turns, strict=False)
    return tuple(AnsweredTurn(len(held.calls), own.pairs, own.alternative) for held, own in turns)


def _steps(transcript: Transcript) -> Iterator[AskedStep]:
    """The steps of a conversation. What the model said before is in the steps before, and not repeated."""
    seen = 0
    for step in transcript.steps:
        new = step.request.messages[seen:]
        own = new if seen == 0 else tuple(each for each in new if each.get("role") not in ("assistant", "tool"))
        seen = len(step.request.messages)
        found = _step(own, step.reply, step.calls)
        yield AskedStep(found.messages, found.calls, step.results, found.text, found.remark)


def _inside(exchanges: Sequence[AppExchange], decoders: Mapping[str, Decoder]) -> Iterator[AskedStep]:
    """The requests of an app. Messages that it has sent with the request before are not repeated."""
    before: Sequence[Message] = ()
    for exchange in exchanges:
        from pytest_fcall.decoding.decoders import decode

        messages = exchange.request.messages
        is_continued = len(before) < len(messages) and tuple(messages[: len(before)]) == tuple(before)
        found = _step(
            tuple(messages[len(before) :] if is_continued else messages),
            exchange.reply,
            decode(exchange.reply, exchange.request.tools, decoders),
        )
        yield AskedStep(found.messages, found.calls, (), found.text, found.remark, exchange.model)
        before = messages


def _step(messages: tuple[Message, ...], reply: Reply, calls: Calls) -> AskedStep:
    return AskedStep(messages, tuple(calls.calls), (), reply.text, "; ".join(_remarks(reply, calls)))


def _remarks(reply: Reply, calls: Calls) -> Iterator[str]:
    if reply.refusal:
        yield f"refused: {reply.refusal}"
    if calls.malformed:
        yield f"malformed: {calls.malformed}"
    if reply.finish not in _USUAL_ENDS:
        yield f"ended by: {reply.finish}"
