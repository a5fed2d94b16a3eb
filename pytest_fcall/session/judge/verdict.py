"""Verdicts on the answers to a case, and on the calls that a baseline keeps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, cast

from pytest_fcall.core.case import Case, Turn, with_case_decoder
from pytest_fcall.core.reply import Calls, Reply
from pytest_fcall.core.verdict import Reason, Verdict
from pytest_fcall.decoding.decoders import decode
from pytest_fcall.matching.context import MatchContexts
from pytest_fcall.matching.reply import judge_turn
from pytest_fcall.session.ask.types import Answer
from pytest_fcall.session.endings import CaseError
from pytest_fcall.session.judge.samples import JudgedAnswer

if TYPE_CHECKING:
    from concurrent.futures import Future

    from pytest_fcall.core.app import AppExchange, AppSpans, SpansExpectation, WireExpectation
    from pytest_fcall.core.conversation import Transcript
    from pytest_fcall.core.extension import Comparator
    from pytest_fcall.core.verdict import ReasonKind
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

    def check_inside(self, answers: Sequence[Answer]) -> None:
        """Raise CaseError where what the case expects of the inside of an app cannot be judged."""
        case = self._case
        if case.wire is None and case.spans is None:
            return
        if case.wire is not None:
            self._check_wire(answers)
        if case.spans is not None:
            self._check_spans(case.spans, answers)
        if any(answer.exchanges is None for answer in answers) and not any(map(_expects_anything, case.turns)):
            raise CaseError(f"{case.id} expects nothing but of the inside of an app, and a model was asked directly")

    def _check_wire(self, answers: Sequence[Answer]) -> None:
        """Raise CaseError without the proxy, and where only a part of the requests is read."""
        case = self._case
        if not self._session.settings.proxy:
            raise CaseError(f"{case.id}: `wire` needs the proxy, and fc_proxy is off")
        from pytest_fcall.core.app import unknown_requests_reason

        if why := unknown_requests_reason(exchange for answer in answers for exchange in answer.exchanges or ()):
            message = f"{case.id}: `wire` cannot be judged: {why}; leave `wire` out, or judge what the app returns"
            raise CaseError(message)

    def _check_spans(self, expected: SpansExpectation, answers: Sequence[Answer]) -> None:
        """Raise CaseError where there are no spans, not all of them, or none that tell what is expected."""
        case, settings = self._case, self._session.settings
        if not settings.proxy or settings.spans == "off":
            setting = "fc_spans" if settings.proxy else "fc_proxy"
            raise CaseError(f"{case.id}: `spans` needs the receiver of spans, and {setting} is off")
        for answer in answers:
            if answer.exchanges is not None and (why := _why_not_judged(case, expected, answer.spans)):
                raise CaseError(f"{case.id}: `spans` cannot be judged: {why}")

    def judge(self, answers: Sequence[Answer]) -> list[JudgedAnswer]:
        """Decode and judge answers."""
        case = self._case
        decoded = [self._decoded(answer) for answer in answers]
        verdicts = self._verdicts(case, decoded)
        if case.wire is not None or case.spans is not None:
            pairs = zip(answers, verdicts, strict=True)
            verdicts = [self._with_app(answer, verdict) for answer, verdict in pairs]
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
        if (expected := self._case.spans) is not None:
            judges += [self._spans_function(expected, spans) for answer in answers if (spans := answer.spans)]
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
        injection = case.injection and replace(case.injection, answer=None)
        known = replace(case, turns=(*(replace(turn, answer=None) for turn in before), last), injection=injection)
        engine = stanza.provenance.get("engine")
        reply = Reply(stanza.answer or "(not kept)", engine=engine if isinstance(engine, Mapping) else {})
        transcript = transcript_of(stanza, reply) if case.mode == "conversation" else None
        if transcript is not None and stanza.results is None:
            known = replace(known, turns=tuple(replace(turn, result=None) for turn in known.turns))
        (verdict,) = self._verdicts(known, [_DecodedAnswer(reply, Calls(stanza.calls or ()), transcript)])
        if case.spans is not None:
            # They are not kept, so of them counts what was found when the stanza was accepted.
            found = [pair for pair in stanza.reasons if pair[1].startswith("spans.")]
            reasons = tuple(Reason(cast("ReasonKind", kind), path, "") for kind, path in found)
            verdict = _with_inside(verdict, Verdict(not reasons, reasons))
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
            if answer.transcript is not None and case.injection is not None:
                from pytest_fcall.matching.attacks import judge_attack

                return judge_attack(answer.transcript, case.turns, case.injection, context)
            if answer.transcript is not None and case.result_fault is not None:
                from pytest_fcall.matching.recovery import judge_recovery

                stubs = case.conversation.stubs if case.conversation else {}
                return judge_recovery(answer.transcript, case.turns, case.result_fault, stubs, context)
            if answer.transcript is not None:
                from pytest_fcall.matching.transcript import judge_transcript

                return judge_transcript(answer.transcript, case.turns, context)
            (turn,) = case.turns
            return judge_turn(answer.reply, answer.calls, turn, context)

        return judge_by_rules

    def _with_app(self, answer: Answer, verdict: Verdict) -> Verdict:
        """The verdict, with the reasons that the requests and the spans of the app give."""
        wire, spans = self._case.wire, self._case.spans
        if answer.exchanges is None:
            what = {"wire": wire and "the requests", "spans": spans and "the spans"}
            notes = [
                f"`{key}` is not judged: it is about {text} of an app, and a model was asked directly"
                for key, text in what.items()
                if text
            ]
            return replace(verdict, notes=(*verdict.notes, *notes))
        judges = [self._wire_function(wire, answer.exchanges)] if wire is not None else []
        if spans is not None and answer.spans is not None:
            judges.append(self._spans_function(spans, answer.spans))
        for inside in self._settled(judges):
            verdict = _with_inside(verdict, inside)
        return verdict

    def _spans_function(self, expected: SpansExpectation, told: AppSpans) -> JudgeFunction:
        """Judges the spans of the app."""
        from pytest_fcall.matching.app import judge_app_spans

        case = self._case

        def judge_spans(comparators: Mapping[str, Comparator]) -> Verdict:
            return judge_app_spans(expected, told, self._contexts.of(case.tools, case.rules, comparators))

        return judge_spans

    def _wire_function(self, expected: WireExpectation, exchanges: Sequence[AppExchange]) -> JudgeFunction:
        """Judges the requests of the app."""
        from pytest_fcall.matching.app import judge_app_exchanges
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


def _expects_anything(turn: Turn) -> bool:
    return turn.expect is not None or turn.answer is not None or turn.state is not None or turn.result is not None


def _why_not_judged(case: Case, expected: SpansExpectation, told: AppSpans | None) -> str:
    """The reason why spans cannot be judged, and what to do; empty where they can."""
    if told is None:
        return "the recorded answer has none; record it again with a run that may ask"
    if told.fault:
        return told.fault
    from pytest_fcall.matching.app import unreported_tool

    if untold := unreported_tool(expected, case.rules, told):
        return (
            f"no span tells the arguments of {untold}; have the library capture content, or expect any arguments: "
            f"`{untold}: {{$ignore: true}}`"
        )
    return ""


def _with_inside(verdict: Verdict, inside: Verdict) -> Verdict:
    """The verdict, with that on what happened inside the app."""
    return replace(
        verdict,
        valid=verdict.valid and inside.valid,
        reasons=(*verdict.reasons, *inside.reasons),
        notes=(*verdict.notes, *inside.notes),
        judged=verdict.judged or inside.judged,
    )
