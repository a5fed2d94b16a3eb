"""The verdict on a case beside its baseline: what changed, and what the settings make of that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from pytest_fcall.backends.redaction import without_secrets
from pytest_fcall.core import Case, Outcome, Request, Verdict, canonical
from pytest_fcall.tracking.question_digests import question_digests
from pytest_fcall.tracking.stanza import Stanza, WireRequest, call_counts_of, call_results_of, stanza_to_json

if TYPE_CHECKING:
    from pytest_fcall.session.judge.samples import JudgedAnswer
    from pytest_fcall.session.settings import BaselineSettings
    from pytest_fcall.tracking.baseline_file import Baseline
    from pytest_fcall.tracking.comparison import Comparison, StanzaJudge

_INCOMPLETE = frozenset({"malformed", "truncated", "refused"})
"""Kinds of reasons after which there may have been more calls than were read."""
_MOST_SHOWN = 3
"""Number of differences that are shown for one case."""


@dataclass(frozen=True, slots=True)
class BaselineComparison:
    """The stanza of a verdict, and its comparison with the baseline; None where there is no baseline."""

    stanza: Stanza
    comparison: Comparison | None
    difference: str = ""
    """The change against the baseline, in words."""
    changed: tuple[str, ...] = ()
    """Changes in the question, and in the engine that answers."""
    wire: tuple[str, ...] = ()
    """Changes in the requests that the app sends to models."""
    complaint: str | None = None
    """The reason why the test fails although the answer is right."""

    @property
    def outcome(self) -> Outcome | None:
        """The change in one word."""
        return self.comparison.outcome if self.comparison else None

    @property
    def before(self) -> tuple[int, int] | None:
        """The number of right answers, and of all, in the baseline."""
        if self.comparison is None or self.comparison.baseline is None:
            return None
        right, asked = self.comparison.baseline.rate
        return right, asked

    @property
    def lines(self) -> list[str]:
        """Lines beside a failure."""
        if not self.difference or self.comparison is None or self.comparison.baseline is None:
            return []
        day = self.comparison.baseline.provenance.get("date")
        of_day = f" of {day}" if isinstance(day, str) else ""
        changed = [f"changed since: {_listed(self.changed)}"] if self.changed else []
        return [f"baseline{of_day}: {self.difference}", *changed, *self._wire_lines]

    @property
    def since(self) -> tuple[str, ...]:
        """The same, change by change; where nothing else changed, only the requests of the app."""
        if not self.difference:
            return self.wire
        return (self.difference, *self.changed, *self._wire_lines)

    @property
    def _wire_lines(self) -> list[str]:
        return [f"inside the app: {_listed(self.wire)}"] if self.wire else []

    @property
    def excuse(self) -> str | None:
        """The reason why a wrong answer is a known failure; None where it is not."""
        if self.comparison is None or self.comparison.outcome is not Outcome.KNOWN_FAILURE:
            return None
        known = self.comparison.baseline or self.stanza
        since = f" since {known.since}" if known.since else ""
        return f"known failure{since}: {known.because or _reasons_text(known)}"

    def text(self) -> str | None:
        """The stanza as JSON in ASCII; None where it cannot be written as JSON."""
        try:
            return canonical(stanza_to_json(self.stanza))
        except (ValueError, TypeError, RecursionError):
            return None


def stanza_of(case: Case, request: Request, judged: JudgedAnswer, wire: tuple[WireRequest, ...] | None) -> Stanza:
    """The stanza that a baseline would keep of a verdict, and of the requests that an app sent meanwhile."""
    reply, calls, verdict, transcript = judged.reply, judged.calls, judged.verdict, judged.answer.transcript
    whole = calls.malformed is None and not any(reason.kind in _INCOMPLETE for reason in verdict.reasons)
    engine = dict(reply.engine)
    public = replace(request, settings=without_secrets(request.settings)) if request.settings else request
    return Stanza(
        case=case.id,
        valid=verdict.valid,
        reasons=tuple((reason.kind, reason.path) for reason in verdict.reasons),
        calls=calls.calls if whole else None,
        answer=reply.text if case.turns[-1].answer is not None else None,
        steps=call_counts_of(transcript) if transcript and whole else None,
        results=call_results_of(transcript) if transcript and whole and _needs_results(case) else None,
        wire=wire,
        judged=verdict.judged,
        digests=question_digests(public),
        provenance={"engine": engine} if engine else {},
    )


def _needs_results(case: Case) -> bool:
    """Whether the verdict depends on results of calls."""
    calls = (call for turn in case.turns if turn.expect for call in turn.expect.all_calls)
    return any(call.name or call.result is not None for call in calls) or any(
        turn.result is not None for turn in case.turns
    )


def compare_with_baseline(
    now: Stanza, verdict: Verdict, case: Case, baseline: Baseline | None, judge: StanzaJudge, settings: BaselineSettings
) -> BaselineComparison:
    """Compare a verdict with the baseline, as the settings say."""
    if baseline is None:
        return BaselineComparison(now, None)
    from pytest_fcall.tracking.comparison import Comparison, compare_verdict
    from pytest_fcall.tracking.differences import wire_differences
    from pytest_fcall.tracking.question_digests import provenance_changes, question_changes

    found = compare_verdict(now, verdict, baseline.stanzas.get(case.id), case, judge)
    if found.outcome is Outcome.DRIFTED and settings.drift == "ignore":
        found = Comparison(Outcome.OK, found.baseline)
    before = found.baseline
    if before is None or found.outcome is Outcome.KNOWN_FAILURE:
        return BaselineComparison(now, found)
    wire = tuple(wire_differences(before.wire, now.wire)) if before.wire is not None and now.wire is not None else ()
    if found.outcome is Outcome.OK:
        return BaselineComparison(now, found, wire=() if settings.drift == "ignore" else wire)
    changed = (*question_changes(before.digests, now.digests), *provenance_changes(before.provenance, now.provenance))
    complaint = None if settings.accept else _complaint(found, settings)
    return BaselineComparison(now, found, _difference(found, before, now), changed, wire, complaint)


def _complaint(found: Comparison, settings: BaselineSettings) -> str | None:
    if found.outcome is Outcome.DRIFTED and settings.drift == "fail":
        return "drifted: the answer is right, and not the one that was accepted"
    if found.outcome is Outcome.FIXED and settings.fixed == "fail":
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
    from pytest_fcall.tracking.differences import call_differences

    lines = call_differences(before.calls, now.calls or ())
    text = "" if now.answer == before.answer else ", and another text"
    return _listed(lines) if lines else f"the same calls{text}"


def _reasons_text(stanza: Stanza) -> str:
    return _listed([f"{kind} at {path}" for kind, path in stanza.reasons]) or "for no reason that was kept"


def _listed(lines: Sequence[str]) -> str:
    more = len(lines) - _MOST_SHOWN
    return "; ".join([*islice(lines, _MOST_SHOWN), *([f"and {more} more"] if more > 0 else [])])
