"""Verdicts on the answers to a case, and on the calls that a baseline keeps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from pytest_fcall.core import Calls, Case, Reply, Verdict
from pytest_fcall.core.app_exchange import why_unread
from pytest_fcall.decoding import decode
from pytest_fcall.matching.context import MatchContexts
from pytest_fcall.matching.reply import judge_turn
from pytest_fcall.session.ask.types import Answer, with_case_decoder
from pytest_fcall.session.judge.samples import JudgedAnswer
from pytest_fcall.session.outcomes import CaseError

if TYPE_CHECKING:
    from concurrent.futures import Future

    from pytest_fcall.core import AppExchange, Transcript, WireExpectation
    from pytest_fcall.core.extension import Comparator
    from pytest_fcall.session.judge.llm_judge import JudgeFunction, JudgeOpinions
    from pytest_fcall.session.session import Session
    from pytest_fcall.tracking.stanza import Stanza

AmendVerdict = Callable[[Reply, Verdict], Verdict]


class _DecodedAnswer(NamedTuple):
    """A reply and its calls, and the whole conversation where it was one."""

    reply: Reply
    calls: Calls
    transcript: Transcript | None = None


class CaseJudge:
    """Judges the answers to one case.

    `opinions` are those of a model that judges, where the case asks for them. `amend` lets other packages change each
    verdict. `contexts` are those of the cases before.
    """

    __slots__ = ("_amend", "_case", "_contexts", "_session", "opinions")

    def __init__(
        self,
        case: Case,
        session: Session,
        opinions: JudgeOpinions | None,
        amend: AmendVerdict | None,
        contexts: MatchContexts,
    ) -> None:
        self._case = case
        self._session = session
        self._amend = amend
        self._contexts = contexts
        self.opinions = opinions

    def check_wire(self, answers: Sequence[Answer]) -> None:
        """Raise CaseError where `wire` of the case cannot be judged: without the proxy, and by half of the requests."""
        case = self._case
        if case.wire is None:
            return
        if not self._session.settings.proxy:
            raise CaseError(f"{case.id}: `wire` needs the proxy, and fc_proxy is off")
        if why := why_unread(exchange for answer in answers for exchange in answer.exchanges or ()):
            message = f"{case.id}: `wire` cannot be judged: {why}; leave `wire` out, or judge what the app returns"
            raise CaseError(message)

    def judge(self, answers: Sequence[Answer]) -> list[JudgedAnswer]:
        """Decode and judge answers."""
        case = self._case
        decoded = [self._decoded(answer) for answer in answers]
        verdicts = self._verdicts(case, decoded)
        if case.wire is not None:
            pairs = zip(answers, verdicts, strict=True)
            verdicts = [self._with_wire(case.wire, answer, verdict) for answer, verdict in pairs]
        return [
            JudgedAnswer(answer, each.reply, each.calls, verdict)
            for answer, each, verdict in zip(answers, decoded, verdicts, strict=True)
        ]

    def ask_ahead(self, answers: Sequence[Answer]) -> list[Future[Reply]]:
        """Ask the model that judges for the opinions that the verdicts will depend on, and do not wait for them."""
        if self.opinions is None:
            return []
        judges = [self._judge_function(self._case, self._decoded(answer)) for answer in answers]
        if (wire := self._case.wire) is not None and self._session.settings.proxy:
            inside = [answer.exchanges for answer in answers if answer.exchanges is not None]
            judges += [self._wire_function(wire, exchanges) for exchanges in inside]
        return self.opinions.ask_ahead(judges, self._session.registry.comparators)

    def rejudge(self, exchanges: Sequence[AppExchange] | None, stanza: Stanza) -> Verdict:
        """The verdict on the calls of a stanza by the case as it is today, as far as the stanza has it.

        `exchanges` are the requests that the app sends to models now.
        """
        from pytest_fcall.session.judge.baseline_wire import wire_reasons
        from pytest_fcall.tracking.stanza import transcript_of

        case = self._case
        *before, last = case.turns
        if stanza.answer is None:
            last = replace(last, answer=None)
        known = replace(case, turns=(*(replace(turn, answer=None) for turn in before), last))
        engine = stanza.provenance.get("engine")
        reply = Reply(stanza.answer or "(not kept)", engine=engine if isinstance(engine, Mapping) else {})
        transcript = transcript_of(stanza, reply) if case.mode == "conversation" else None
        if transcript is not None and stanza.results is None:
            known = replace(known, turns=tuple(replace(turn, result=None) for turn in known.turns))
        (verdict,) = self._verdicts(known, [_DecodedAnswer(reply, Calls(stanza.calls or ()), transcript)])
        if case.wire is None:
            return verdict

        def judge_wire(comparators: Mapping[str, Comparator]) -> Verdict:
            reasons = wire_reasons(case, stanza, exchanges, comparators)
            return Verdict(not reasons, reasons)

        return _with_inside(verdict, self._settled([judge_wire])[0])

    def _decoded(self, answer: Answer) -> _DecodedAnswer:
        case = self._case
        reply = with_case_decoder(case, answer.reply)
        if answer.transcript is None:
            return _DecodedAnswer(reply, decode(reply, case.tools, self._session.registry.decoders))
        steps = answer.transcript.steps
        made = tuple(call for step in steps for call in step.calls.calls)
        notes = dict.fromkeys(note for step in steps for note in step.calls.notes)
        return _DecodedAnswer(reply, Calls(made, steps[-1].calls.malformed, tuple(notes)), answer.transcript)

    def _verdicts(self, case: Case, decoded: Sequence[_DecodedAnswer]) -> list[Verdict]:
        verdicts = self._settled([self._judge_function(case, each) for each in decoded])
        if self._amend is None:
            return verdicts
        return [self._amend(each.reply, verdict) for each, verdict in zip(decoded, verdicts, strict=True)]

    def _settled(self, judges: Sequence[JudgeFunction]) -> list[Verdict]:
        comparators = self._session.registry.comparators
        if self.opinions:
            return self.opinions.settle(judges, comparators)
        return [judge(comparators) for judge in judges]

    def _judge_function(self, case: Case, answer: _DecodedAnswer) -> JudgeFunction:
        if case.conversation_judge is not None and answer.transcript is not None:
            verdict = case.conversation_judge(case, answer.transcript)
            return lambda _: verdict
        if case.judge is not None:
            verdict = case.judge(case, answer.reply, answer.calls)
            return lambda _: verdict

        def judge_by_rules(comparators: Mapping[str, Comparator]) -> Verdict:
            context = self._contexts.of(case.tools, case.rules, comparators)
            if answer.transcript is not None:
                from pytest_fcall.matching.transcript import judge_transcript

                return judge_transcript(answer.transcript, case.turns, context)
            (turn,) = case.turns
            return judge_turn(answer.reply, answer.calls, turn, context)

        return judge_by_rules

    def _with_wire(self, expected: WireExpectation, answer: Answer, verdict: Verdict) -> Verdict:
        """The verdict, with the reasons that the requests of the app give."""
        if answer.exchanges is None:
            note = "`wire` is not judged: it is about the requests of an app, and a model was asked directly"
            return replace(verdict, notes=(*verdict.notes, note))
        return _with_inside(verdict, self._settled([self._wire_function(expected, answer.exchanges)])[0])

    def _wire_function(self, expected: WireExpectation, exchanges: Sequence[AppExchange]) -> JudgeFunction:
        """Judges the requests of the app."""
        from pytest_fcall.matching.app_exchanges import judge_app_exchanges
        from pytest_fcall.session.judge.baseline_wire import answered_requests

        case, registry, costs = self._case, self._session.registry, self._session.costs
        answered = answered_requests(exchanges, registry.decoders, case.decoder)
        decoded = [decode(each.reply, each.request.tools, registry.decoders) for each in answered]
        malformed = decoded[-1].malformed if decoded else None
        calls = Calls(tuple(call for each in decoded for call in each.calls), malformed)
        each_cost = [costs.of(each.priced_as, each.reply.usage) for each in answered]

        def judge_wire(comparators: Mapping[str, Comparator]) -> Verdict:
            context = self._contexts.of(case.tools, case.rules, comparators)
            return judge_app_exchanges(expected, answered, calls, each_cost, context)

        return judge_wire


def _with_inside(verdict: Verdict, inside: Verdict) -> Verdict:
    """The verdict, with that on what happened inside the app."""
    return replace(
        verdict,
        valid=verdict.valid and inside.valid,
        reasons=(*verdict.reasons, *inside.reasons),
        notes=(*verdict.notes, *inside.notes),
        judged=verdict.judged or inside.judged,
    )
