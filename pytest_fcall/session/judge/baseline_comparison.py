"""How a verdict stands to what is accepted of its case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from pytest_fcall.backends.redaction import without_secrets
from pytest_fcall.core import Case, Json, Outcome, Request, Verdict, canonical
from pytest_fcall.plugin.baseline_options import BaselineOptions
from pytest_fcall.session.judge.samples import JudgedAnswer
from pytest_fcall.tracking.baseline_file import Baseline
from pytest_fcall.tracking.comparison import Comparison, StanzaJudge, compare_verdict, reason_pairs
from pytest_fcall.tracking.differences import call_differences, wire_differences
from pytest_fcall.tracking.question_digests import provenance_changes, question_changes, question_digests
from pytest_fcall.tracking.stanza import Stanza, WireRequest, call_counts_of, call_results_of, stanza_to_json

_BROKEN = frozenset({"malformed", "truncated", "refused"})
"""Reasons that say that the calls found are not all that there was to read."""
_SHOWN = 3
"""So many differences are told of one case."""


@dataclass(frozen=True, slots=True)
class BaselineComparison:
    """What would be accepted of a verdict, and its comparison with what is; None where nothing is accepted at all."""

    stanza: Stanza
    comparison: Comparison | None
    difference: str = ""
    """What is otherwise than in the baseline, in words."""
    changed: tuple[str, ...] = ()
    """What changed in the question, and in what answers."""
    wire: tuple[str, ...] = ()
    """What the app asks otherwise of models."""
    complaint: str | None = None
    """Why the test fails although the answer is right."""

    @property
    def outcome(self) -> Outcome | None:
        """One word for what changed."""
        return self.comparison.outcome if self.comparison else None

    @property
    def before(self) -> tuple[int, int] | None:
        """How many answers were right when one was accepted, and how many there were."""
        if self.comparison is None or self.comparison.baseline is None:
            return None
        right, asked = self.comparison.baseline.rate
        return right, asked

    @property
    def told(self) -> list[str]:
        """What people read beside a failure."""
        if not self.difference or self.comparison is None or self.comparison.baseline is None:
            return []
        day = self.comparison.baseline.provenance.get("date")
        of_day = f" of {day}" if isinstance(day, str) else ""
        changed = [f"changed since: {_listed(self.changed)}"] if self.changed else []
        return [f"baseline{of_day}: {self.difference}", *changed, *self._inside]

    @property
    def since(self) -> tuple[str, ...]:
        """The same, thing by thing; where nothing else is told, only what an app asks otherwise."""
        if not self.difference:
            return self.wire
        return (self.difference, *self.changed, *self._inside)

    @property
    def _inside(self) -> list[str]:
        return [f"inside the app: {_listed(self.wire)}"] if self.wire else []

    @property
    def excuse(self) -> str | None:
        """Why a wrong answer is no failure: the reason of an expected one."""
        if self.comparison is None or self.comparison.outcome is not Outcome.KNOWN_FAILURE:
            return None
        known = self.comparison.baseline or self.stanza
        since = f" since {known.since}" if known.since else ""
        return f"known failure{since}: {known.because or _reasons_text(known)}"

    def text(self) -> str | None:
        """The stanza as JSON in ASCII, which travels anywhere; None where JSON cannot say it."""
        try:
            return canonical(stanza_to_json(self.stanza))
        except (ValueError, TypeError, RecursionError):
            return None


def stanza_of(case: Case, request: Request, judged: JudgedAnswer, wire: tuple[WireRequest, ...] | None) -> Stanza:
    """What a baseline would keep of a verdict, and of what an app asked on the way."""
    reply, calls, verdict, transcript = judged.reply, judged.calls, judged.verdict, judged.answer.transcript
    whole = calls.malformed is None and not any(reason.kind in _BROKEN for reason in verdict.reasons)
    engine = dict(reply.engine)
    return Stanza(
        case=case.id,
        valid=verdict.valid,
        reasons=reason_pairs(verdict),
        calls=calls.calls if whole else None,
        answer=reply.text if case.turns[-1].answer is not None else None,
        steps=call_counts_of(transcript) if transcript and whole else None,
        results=call_results_of(transcript) if transcript and whole and _needs_results(case) else None,
        wire=wire,
        judged=verdict.judged,
        digests=question_digests(Request(request.messages, request.tools, without_secrets(request.settings))),
        provenance={"engine": engine} if engine else {},
    )


def _needs_results(case: Case) -> bool:
    """Whether the verdict speaks of what calls gave."""
    calls = (call for turn in case.turns if turn.expect for call in turn.expect.all_calls)
    return any(call.name or call.result is not None for call in calls) or any(
        turn.result is not None for turn in case.turns
    )


def compare_with_baseline(
    now: Stanza, verdict: Verdict, case: Case, baseline: Baseline | None, judge: StanzaJudge, options: BaselineOptions
) -> BaselineComparison:
    """Compare a verdict with the baseline, and say what the options make of it."""
    if baseline is None:
        return BaselineComparison(now, None)
    found = compare_verdict(now, verdict, baseline.stanzas.get(case.id), case, judge)
    if found.outcome is Outcome.DRIFTED and options.drift == "ignore":
        found = Comparison(Outcome.OK, found.baseline)
    before = found.baseline
    if before is None or found.outcome is Outcome.KNOWN_FAILURE:
        return BaselineComparison(now, found)
    wire = tuple(wire_differences(before.wire, now.wire)) if before.wire is not None and now.wire is not None else ()
    if found.outcome is Outcome.OK:
        return BaselineComparison(now, found, wire=() if options.drift == "ignore" else wire)
    changed = (*question_changes(before.digests, now.digests), *provenance_changes(before.provenance, now.provenance))
    complaint = None if options.accept else _complaint(found, options)
    return BaselineComparison(now, found, _difference(found, before, now), changed, wire, complaint)


def engine_of(stanza: Stanza) -> Mapping[str, Json]:
    """What answered when the stanza was accepted."""
    engine = stanza.provenance.get("engine")
    return engine if isinstance(engine, Mapping) else {}


def _complaint(found: Comparison, options: BaselineOptions) -> str | None:
    if found.outcome is Outcome.DRIFTED and options.drift == "fail":
        return "drifted: the answer is right, and not the one that was accepted"
    if found.outcome is Outcome.FIXED and options.fixed == "fail":
        return "fixed: the answer is right, and what is accepted is not"
    return None


def _difference(found: Comparison, before: Stanza, now: Stanza) -> str:
    if found.edited and before.wire is None and now.wire is not None:
        return "the answer was right, and what the app asks of models was not kept"
    if found.edited:
        return "the case was edited since, so this is no regression"
    if not before.valid:
        return f"a failure, {_reasons_text(before)}"
    if found.drift:
        return _listed(found.drift)
    if before.calls is None:
        return "the answer was right"
    lines = call_differences(before.calls, now.calls or ())
    text = "" if now.answer == before.answer else ", and another text"
    return _listed(lines) if lines else f"the same calls{text}"


def _reasons_text(stanza: Stanza) -> str:
    return _listed([f"{kind} at {path}" for kind, path in stanza.reasons]) or "for no reason that was kept"


def _listed(lines: Sequence[str]) -> str:
    more = len(lines) - _SHOWN
    return "; ".join([*islice(lines, _SHOWN), *([f"and {more} more"] if more > 0 else [])])
