"""Answers to a case, read and judged; and those of a baseline, judged once more."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_fcall.core import Calls, Case, Reply, Transcript, Verdict
from pytest_fcall.decoding import decode
from pytest_fcall.matching import judge_transcript, judge_turn
from pytest_fcall.plugin.answering import Answer
from pytest_fcall.plugin.conversing import as_case_says
from pytest_fcall.plugin.extensions import registry
from pytest_fcall.plugin.sampling import Judged
from pytest_fcall.plugin.standing import engine_of
from pytest_fcall.tracking.held import transcript_of
from pytest_fcall.tracking.stanza import Stanza

if TYPE_CHECKING:
    from pytest_fcall.plugin.item import CaseItem


def judged(item: CaseItem, case: Case, answer: Answer) -> Judged:
    """Read and judge an answer."""
    reply = as_case_says(case, answer.reply)
    if answer.transcript is not None:
        last = answer.transcript.steps[-1].calls
        made = tuple(call for step in answer.transcript.steps for call in step.calls.calls)
        notes = dict.fromkeys(note for step in answer.transcript.steps for note in step.calls.notes)
        calls = Calls(made, last.malformed, tuple(notes))
    else:
        calls = decode(reply, case.tools, registry(item.config).decoders)
    return Judged(answer, reply, calls, _verdict(item, case, reply, calls, answer.transcript))


def judged_again(item: CaseItem, case: Case, stanza: Stanza) -> Verdict:
    """Judge the calls of the baseline by the case as it is today, as far as what was kept goes."""
    *before, last = case.turns
    if stanza.answer is None:
        last = replace(last, answer=None)
    kept = replace(case, turns=(*(replace(turn, answer=None) for turn in before), last))
    reply = Reply(stanza.answer or "(not kept)", engine=engine_of(stanza))
    calls = Calls(stanza.calls or ())
    if case.mode == "request":
        return _verdict(item, kept, reply, calls)
    if stanza.results is None:
        kept = replace(kept, turns=tuple(replace(turn, result=None) for turn in kept.turns))
    return _verdict(item, kept, reply, calls, transcript_of(stanza, reply))


def _verdict(item: CaseItem, case: Case, reply: Reply, calls: Calls, transcript: Transcript | None = None) -> Verdict:
    comparators = registry(item.config).comparators
    if case.judge is not None:
        verdict = case.judge(case, reply, calls)
    elif transcript is not None:
        verdict = judge_transcript(transcript, case.turns, case.tools, case.rules, comparators)
    else:
        (turn,) = case.turns
        verdict = judge_turn(reply, calls, turn, case.tools, case.rules, comparators)
    heard: Verdict = item.ihook.pytest_fcall_verdict(item=item, case=case, reply=reply, verdict=verdict)
    return heard
