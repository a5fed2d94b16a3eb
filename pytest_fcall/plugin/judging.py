"""Answers to a case, read and judged; and those of a baseline, judged once more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from pytest_fcall.core import Calls, Case, Inner, Reply, Transcript, Verdict
from pytest_fcall.decoding import decode
from pytest_fcall.matching import judge_transcript, judge_turn
from pytest_fcall.plugin.answering import Answer
from pytest_fcall.plugin.conversing import as_case_says
from pytest_fcall.plugin.extensions import registry
from pytest_fcall.plugin.inside import with_reasons, with_wire
from pytest_fcall.plugin.opinions import Judging, opinions_of
from pytest_fcall.plugin.sampling import Judged
from pytest_fcall.plugin.standing import engine_of
from pytest_fcall.plugin.wire_kept import wire_reasons
from pytest_fcall.tracking.held import transcript_of
from pytest_fcall.tracking.stanza import Stanza

if TYPE_CHECKING:
    from concurrent.futures import Future

    from pytest_fcall.plugin.item import CaseItem


class _Read(NamedTuple):
    """What is judged: a reply and its calls, and the whole conversation where it was one."""

    reply: Reply
    calls: Calls
    transcript: Transcript | None = None


def judged(item: CaseItem, case: Case, answers: Sequence[Answer]) -> list[Judged]:
    """Read and judge answers."""
    __tracebackhide__ = True
    read = [_read(item, case, answer) for answer in answers]
    verdicts = _verdicts(item, case, read)
    return [
        Judged(answer, each.reply, each.calls, with_wire(item.config, case, answer, verdict))
        for answer, each, verdict in zip(answers, read, verdicts, strict=True)
    ]


def foreseen(item: CaseItem, case: Case, answers: Sequence[Answer]) -> list[Future[Reply]]:
    """Ask the judge for what the verdicts on these answers will depend on, and do not wait for it."""
    opinions = opinions_of(item, case)
    judgings = [_judging(case, _read(item, case, answer)) for answer in answers]
    return opinions.foresee(judgings, registry(item.config).comparators) if opinions else []


def judged_again(item: CaseItem, case: Case, inside: Sequence[Inner] | None, stanza: Stanza) -> Verdict:
    """Judge the calls of the baseline by the case as it is today, as far as what was kept goes.

    `inside` is what the app has asked of models now.
    """
    *before, last = case.turns
    if stanza.answer is None:
        last = replace(last, answer=None)
    kept = replace(case, turns=(*(replace(turn, answer=None) for turn in before), last))
    reply = Reply(stanza.answer or "(not kept)", engine=engine_of(stanza))
    calls = Calls(stanza.calls or ())
    held = transcript_of(stanza, reply) if case.mode == "conversation" else None
    if held is not None and stanza.results is None:
        kept = replace(kept, turns=tuple(replace(turn, result=None) for turn in kept.turns))
    (verdict,) = _verdicts(item, kept, [_Read(reply, calls, held)])
    return with_reasons(verdict, wire_reasons(case, stanza, inside, registry(item.config).comparators))


def _read(item: CaseItem, case: Case, answer: Answer) -> _Read:
    reply = as_case_says(case, answer.reply)
    if answer.transcript is None:
        return _Read(reply, decode(reply, case.tools, registry(item.config).decoders))
    last = answer.transcript.steps[-1].calls
    made = tuple(call for step in answer.transcript.steps for call in step.calls.calls)
    notes = dict.fromkeys(note for step in answer.transcript.steps for note in step.calls.notes)
    return _Read(reply, Calls(made, last.malformed, tuple(notes)), answer.transcript)


def _verdicts(item: CaseItem, case: Case, read: Sequence[_Read]) -> list[Verdict]:
    __tracebackhide__ = True
    comparators = registry(item.config).comparators
    judgings = [_judging(case, each) for each in read]
    if item.opinions:
        verdicts = item.opinions.settle(judgings, comparators)
    else:
        verdicts = [judging(comparators) for judging in judgings]
    hook = item.ihook.pytest_fcall_verdict
    return [
        hook(item=item, case=case, reply=each.reply, verdict=verdict)
        for each, verdict in zip(read, verdicts, strict=True)
    ]


def _judging(case: Case, read: _Read) -> Judging:
    if case.conversation_judge is not None and read.transcript is not None:
        held = case.conversation_judge(case, read.transcript)
        return lambda _: held
    if case.judge is not None:
        verdict = case.judge(case, read.reply, read.calls)
        return lambda _: verdict
    if read.transcript is not None:
        return partial(judge_transcript, read.transcript, case.turns, case.tools, case.rules)
    (turn,) = case.turns
    return partial(judge_turn, read.reply, read.calls, turn, case.tools, case.rules)
