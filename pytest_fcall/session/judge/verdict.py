"""Verdicts on the answers to a case, and on the answers that a baseline keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from pytest_fcall.core import AppExchange, Calls, Case, Reason, Reply, Transcript, Verdict
from pytest_fcall.decoding import decode
from pytest_fcall.matching.app_exchanges import judge_app_exchanges
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.reply import judge_turn
from pytest_fcall.matching.transcript import judge_transcript
from pytest_fcall.plugin.proxy_options import proxy_options
from pytest_fcall.session.ask.conversation import with_case_decoder
from pytest_fcall.session.ask.costs import Costs
from pytest_fcall.session.ask.replies import Answer
from pytest_fcall.session.extensions import registry
from pytest_fcall.session.judge.baseline_comparison import engine_of
from pytest_fcall.session.judge.baseline_wire import wire_reasons
from pytest_fcall.session.judge.llm_judge import JudgeFunction, opinions_of
from pytest_fcall.session.judge.samples import JudgedAnswer
from pytest_fcall.session.outcomes import fail
from pytest_fcall.tracking.stanza import Stanza, transcript_of

if TYPE_CHECKING:
    from concurrent.futures import Future

    import pytest

    from pytest_fcall.core.extension import Comparator
    from pytest_fcall.plugin.item import CaseItem


_NO_APP = "`wire` is not judged: it is about what an app asks, and a model was asked itself"


def with_wire(config: pytest.Config, case: Case, answer: Answer, verdict: Verdict) -> Verdict:
    """The verdict, with what `wire` of the case makes of it. The test ends in words where the proxy is off."""
    __tracebackhide__ = True
    if case.wire is None:
        return verdict
    if not proxy_options(config).on:
        fail(f"{case.id}: `wire` needs the proxy, and fc_proxy is off")
    if answer.inside is None:
        return replace(verdict, notes=(*verdict.notes, _NO_APP))
    asked = [each for each in answer.inside if each.model]
    known = registry(config)
    read = [decode(each.reply, each.request.tools, known.decoders) for each in asked]
    calls = Calls(tuple(call for each in read for call in each.calls), read[-1].malformed if read else None)
    costs = Costs(config)
    each_cost = [costs.of(each.priced_as, each.reply.usage) for each in asked]
    context = MatchContext(case.tools, case.rules, known.comparators)
    reasons = judge_app_exchanges(case.wire, asked, calls, each_cost, context)
    return with_reasons(verdict, reasons)


def with_reasons(verdict: Verdict, reasons: Sequence[Reason]) -> Verdict:
    """The verdict, with more that is wrong, if anything is."""
    return replace(verdict, valid=verdict.valid and not reasons, reasons=(*verdict.reasons, *reasons))


class _DecodedAnswer(NamedTuple):
    """What is judged: a reply and its calls, and the whole conversation where it was one."""

    reply: Reply
    calls: Calls
    transcript: Transcript | None = None


def judge_answers(item: CaseItem, case: Case, answers: Sequence[Answer]) -> list[JudgedAnswer]:
    """Read and judge answers."""
    __tracebackhide__ = True
    read = [_decoded(item, case, answer) for answer in answers]
    verdicts = _verdicts(item, case, read)
    return [
        JudgedAnswer(answer, each.reply, each.calls, with_wire(item.config, case, answer, verdict))
        for answer, each, verdict in zip(answers, read, verdicts, strict=True)
    ]


def ask_judge_ahead(item: CaseItem, case: Case, answers: Sequence[Answer]) -> list[Future[Reply]]:
    """Ask the judge for what the verdicts on these answers will depend on, and do not wait for it."""
    opinions = opinions_of(item, case)
    judgings = [_judge_function(case, _decoded(item, case, answer)) for answer in answers]
    return opinions.foresee(judgings, registry(item.config).comparators) if opinions else []


def rejudge(item: CaseItem, case: Case, inside: Sequence[AppExchange] | None, stanza: Stanza) -> Verdict:
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
    (verdict,) = _verdicts(item, kept, [_DecodedAnswer(reply, calls, held)])
    return with_reasons(verdict, wire_reasons(case, stanza, inside, registry(item.config).comparators))


def _decoded(item: CaseItem, case: Case, answer: Answer) -> _DecodedAnswer:
    reply = with_case_decoder(case, answer.reply)
    if answer.transcript is None:
        return _DecodedAnswer(reply, decode(reply, case.tools, registry(item.config).decoders))
    last = answer.transcript.steps[-1].calls
    made = tuple(call for step in answer.transcript.steps for call in step.calls.calls)
    notes = dict.fromkeys(note for step in answer.transcript.steps for note in step.calls.notes)
    return _DecodedAnswer(reply, Calls(made, last.malformed, tuple(notes)), answer.transcript)


def _verdicts(item: CaseItem, case: Case, read: Sequence[_DecodedAnswer]) -> list[Verdict]:
    __tracebackhide__ = True
    comparators = registry(item.config).comparators
    judgings = [_judge_function(case, each) for each in read]
    if item.opinions:
        verdicts = item.opinions.settle(judgings, comparators)
    else:
        verdicts = [judging(comparators) for judging in judgings]
    hook = item.ihook.pytest_fcall_verdict
    return [
        hook(item=item, case=case, reply=each.reply, verdict=verdict)
        for each, verdict in zip(read, verdicts, strict=True)
    ]


def _judge_function(case: Case, read: _DecodedAnswer) -> JudgeFunction:
    if case.conversation_judge is not None and read.transcript is not None:
        held = case.conversation_judge(case, read.transcript)
        return lambda _: held
    if case.judge is not None:
        verdict = case.judge(case, read.reply, read.calls)
        return lambda _: verdict

    def judge_by_rules(comparators: Mapping[str, Comparator]) -> Verdict:
        context = MatchContext(case.tools, case.rules, comparators)
        if read.transcript is not None:
            return judge_transcript(read.transcript, case.turns, context)
        (turn,) = case.turns
        return judge_turn(read.reply, read.calls, turn, context)

    return judge_by_rules
