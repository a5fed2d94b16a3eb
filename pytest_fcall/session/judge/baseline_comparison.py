"""The verdict on a case beside its baseline: what changed, and what the settings make of that."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from pytest_fcall.backends.redaction import without_secrets
from pytest_fcall.core.case import Case
from pytest_fcall.core.digests import canonical
from pytest_fcall.core.message_text import clauses, others_text
from pytest_fcall.core.reply import Call
from pytest_fcall.core.request import Request
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import Outcome, reason_pairs
from pytest_fcall.tracking.question_digests import (
    EXPECTATION,
    PROMPT,
    SYSTEM,
    SYSTEM_CHANGED,
    TOOL_PREFIX,
    expectation_digest,
    question_digests,
    system_prompt,
)
from pytest_fcall.tracking.stanza import Stanza, StanzaRequest, call_counts_of, call_results_of, stanza_to_json

if TYPE_CHECKING:
    from pytest_fcall.session.judge.samples import JudgedAnswer
    from pytest_fcall.session.settings import BaselineSettings
    from pytest_fcall.tracking.comparison import CaseJudgement, ChanceTest, Comparison, EarlierFacts, StanzaJudge

_INCOMPLETE = frozenset({"malformed", "truncated", "refused"})
"""Kinds of reasons after which there may have been more calls than were read."""
_WITHOUT_CAUSE = frozenset({Outcome.DRIFTED, Outcome.FIXED, Outcome.EDITED, Outcome.FLAKY})
"""Outcomes that need no cause, or are one."""
_UNSEEN_APP = "nothing visible; the app's code may have changed"
_UNCHANGED = frozenset({Outcome.OK, Outcome.NEW, Outcome.KNOWN_FAILURE})
"""Outcomes for which nobody looks for what changed in the question."""
_MOST_SHOWN = 3
"""Number of differences that are shown for one case."""


class FormerParts(NamedTuple):
    """Parts of the accepted question that are others now, as far as an earlier run has them."""

    system: str | None = None
    prompt: str | None = None
    tools: Mapping[str, Json] = MappingProxyType({})
    """Description and parameters, by name."""


class BaselineComparison(NamedTuple):
    """The stanza of a verdict, and its comparison with the baseline; None where there is no baseline."""

    stanza: Stanza
    comparison: Comparison | None
    difference: str = ""
    """The change against the baseline, in words."""
    changed: tuple[str, ...] = ()
    """Changes in the question, and in the engine that answers: what may have caused a difference."""
    wire: tuple[str, ...] = ()
    """Changes in the requests that the app sends to models."""
    complaint: str | None = None
    """The reason why the test fails although the answer is right."""
    former: FormerParts = FormerParts()

    @property
    def outcome(self) -> Outcome | None:
        """The change in one word."""
        return self.comparison.outcome if self.comparison else None

    @property
    def before(self) -> tuple[int, int] | None:
        """The number of right answers before, and of all."""
        rate = self.comparison.before if self.comparison else None
        return (rate.right, rate.asked) if rate else None

    @property
    def lines(self) -> list[str]:
        """Lines beside a failure."""
        if self.outcome is Outcome.NEW and self.comparison and not self.comparison.baseline and self.rates:
            return [f"not accepted, and wrong before, too: {self.rates}"]
        if not self.difference or self.comparison is None or self.comparison.baseline is None:
            return []
        day = self.comparison.baseline.provenance.get("date")
        of_day = f" of {day}" if isinstance(day, str) else ""
        changed = [f"changed since: {_listed(self.changed)}"] if self.changed else []
        return [*self._doubt_lines, f"baseline{of_day}: {self.difference}", *changed, *self._wire_lines]

    @property
    def since(self) -> tuple[str, ...]:
        """The same, change by change; where nothing else changed, only the requests of the app."""
        rates = (self.rates,) if self._in_doubt and self.rates else ()
        if not self.difference:
            return rates or self.wire
        return (*rates, self.difference, *self._wire_lines)

    @property
    def _in_doubt(self) -> bool:
        return self.outcome in (Outcome.REGRESSED, Outcome.UNDECIDED, Outcome.FLAKY)

    @property
    def _doubt_lines(self) -> list[str]:
        return [f"{self.outcome}: {self.rates}"] if self._in_doubt and self.rates else []

    @property
    def _wire_lines(self) -> list[str]:
        return [f"inside the app: {_listed(self.wire)}"] if self.wire else []

    @property
    def excuse(self) -> str | None:
        """The reason why a wrong answer does not fail the test; None where it does."""
        found = self.comparison
        if found is not None and found.outcome is Outcome.FLAKY:
            return f"flaky: {self.rates}"
        if found is None or found.baseline is None or found.outcome is not Outcome.KNOWN_FAILURE:
            return None
        since = f" since {found.baseline.since}" if found.baseline.since else ""
        return f"known failure{since}: {found.baseline.because or _reasons_text(found.baseline)}"

    @property
    def rates(self) -> str:
        """The rates of right answers before and now, and the chance of that; empty where they were not compared."""
        found = self.comparison
        if found is None or found.before is None or found.now is None:
            return ""
        chance = "" if found.chance is None else f" (p = {found.chance:.2g}{self._level})"
        return (
            f"{found.before.right}/{found.before.asked} right before, {found.now.right}/{found.now.asked} now{chance}"
        )

    @property
    def _level(self) -> str:
        """The chance at which an undecided case counts as regressed."""
        found = self.comparison
        if found is None or found.outcome is not Outcome.UNDECIDED or found.level is None:
            return ""
        return f", decided at {found.level:.2g}"

    @property
    def may_be_chance(self) -> bool:
        """Whether the case counts as regressed although chance may explain it: nothing more could be asked."""
        found = self.comparison
        if found is None or found.outcome is not Outcome.REGRESSED or found.chance is None or found.level is None:
            return False
        return found.chance > found.level

    def text(self) -> str | None:
        """The stanza as JSON in ASCII; None where it cannot be written as JSON."""
        try:
            return canonical(stanza_to_json(self.stanza))
        except (ValueError, TypeError, RecursionError):
            return None


def stanza_of(case: Case, request: Request, judged: JudgedAnswer, wire: tuple[StanzaRequest, ...] | None) -> Stanza:
    """The stanza that a baseline would keep of a verdict, and of the requests that an app sent meanwhile."""
    reply, verdict, transcript = judged.reply, judged.verdict, judged.answer.transcript
    calls, engine = _whole_calls(judged), dict(reply.engine)
    public = replace(request, settings=without_secrets(request.settings)) if request.settings else request
    undated = case.undated or case
    if case.undated and request.messages == case.turns[0].messages:
        public = replace(public, messages=undated.turns[0].messages)
    return Stanza(
        case=case.id,
        valid=verdict.valid,
        reasons=reason_pairs(verdict),
        calls=calls,
        answer=reply.text if case.turns[-1].answer is not None or case.result_fault is not None else None,
        steps=call_counts_of(transcript) if transcript and calls is not None else None,
        results=call_results_of(transcript) if transcript and calls is not None and _needs_results(case) else None,
        wire=wire,
        judged=verdict.judged,
        digests={**question_digests(public), EXPECTATION: expectation_digest(undated)},
        provenance={"engine": engine} if engine else {},
    )


def _whole_calls(judged: JudgedAnswer) -> tuple[Call, ...] | None:
    """The calls, unless there may have been more than were read."""
    whole = judged.calls.malformed is None and not any(each.kind in _INCOMPLETE for each in judged.verdict.reasons)
    return tuple(judged.calls.calls) if whole else None


def _needs_results(case: Case) -> bool:
    """Whether the verdict depends on results of calls."""
    if case.injection is not None or case.result_fault is not None:
        return True
    calls = (call for turn in case.turns if turn.expect for call in turn.expect.all_calls)
    return any(call.name or call.result is not None for call in calls) or any(
        turn.result is not None for turn in case.turns
    )


def failure_way_of_answer(judged: JudgedAnswer) -> str:
    """The way in which one answer fails, as the measurement of a baseline keeps it; empty for a right answer."""
    if judged.verdict.valid:
        return ""
    from pytest_fcall.tracking.measurement import failure_way

    return failure_way(Stanza("", valid=False, reasons=reason_pairs(judged.verdict), calls=_whole_calls(judged)))


def compare_with_baseline(
    now: CaseJudgement,
    known: EarlierFacts,
    case: Case,
    judge: StanzaJudge,
    test: Callable[[], ChanceTest],
    settings: BaselineSettings,
) -> BaselineComparison:
    """Compare a verdict with the baseline, as the settings say."""
    from pytest_fcall.tracking.comparison import compare_verdict
    from pytest_fcall.tracking.differences import wire_differences

    stanza = now.stanza
    found = compare_verdict(now, known, case, judge, test)
    if found.outcome is Outcome.DRIFTED and settings.drift == "ignore":
        found = replace(found, outcome=Outcome.OK, drift=())
    before = found.baseline
    if before is None or found.outcome is Outcome.KNOWN_FAILURE:
        return BaselineComparison(stanza, found)
    both = before.wire is not None and stanza.wire is not None
    wire = tuple(wire_differences(before.wire or (), stanza.wire or ())) if both else ()
    if found.outcome is Outcome.OK:
        return BaselineComparison(stanza, found, wire=() if settings.drift == "ignore" else wire)
    changed = _causes(before, stanza) if found.outcome not in _WITHOUT_CAUSE else ()
    complaint = None if settings.accept else _complaint(found, settings)
    return BaselineComparison(stanza, found, _difference(found, before, stanza), changed, wire, complaint)


def with_former_parts(
    comparison: BaselineComparison, request: Request, former: Callable[[str, str], Json]
) -> BaselineComparison:
    """Show the changed sentences of the system prompt, and keep the accepted question as far as it was another one.

    `former` knows a part of a question by its name and digest.
    """
    found = comparison.comparison
    if found is None or found.baseline is None or found.outcome in _UNCHANGED:
        return comparison
    before, now = found.baseline.digests, comparison.stanza.digests
    parts = {
        name: part
        for name, accepted in before.items()
        if (name in (SYSTEM, PROMPT) or name.startswith(TOOL_PREFIX))
        and now.get(name, accepted) != accepted
        and (part := former(name, accepted))
    }
    system, prompt = parts.pop(SYSTEM, None), parts.pop(PROMPT, None)
    known = FormerParts(
        system if isinstance(system, str) else None,
        prompt if isinstance(prompt, str) else None,
        {name.removeprefix(TOOL_PREFIX): part for name, part in parts.items()},
    )
    return _with_changed_words(comparison._replace(former=known), request)


def _with_changed_words(comparison: BaselineComparison, request: Request) -> BaselineComparison:
    before = comparison.former.system
    if before is None or SYSTEM_CHANGED not in comparison.changed:
        return comparison
    from pytest_fcall.reporting.word_diff import word_diff

    shown = f"{SYSTEM_CHANGED}: {word_diff(before, system_prompt(request)) or 'its words are the same'}"
    changed = tuple(shown if each == SYSTEM_CHANGED else each for each in comparison.changed)
    return comparison._replace(changed=changed)


def _causes(before: Stanza, now: Stanza) -> tuple[str, ...]:
    """The changes in the question, and in what answers it, since the baseline was accepted."""
    from pytest_fcall.tracking.question_digests import provenance_changes, question_changes

    found = (*question_changes(before.digests, now.digests), *provenance_changes(before.provenance, now.provenance))
    return found or ((_UNSEEN_APP,) if now.wire == () and not before.wire else ())


def _complaint(found: Comparison, settings: BaselineSettings) -> str | None:
    if found.outcome is Outcome.DRIFTED and settings.drift == "fail":
        return "drifted: the answer is right, and not the one that was accepted"
    if found.outcome is Outcome.FIXED and settings.fixed == "fail":
        return "fixed: the answer is right, and what is accepted is not"
    return None


def _difference(found: Comparison, before: Stanza, now: Stanza) -> str:
    if found.outcome is Outcome.EDITED and before.wire is None and now.wire is not None:
        return "the answer was right, and what the app asks of models was not kept"
    if found.outcome is Outcome.EDITED:
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
    return clauses(*lines[:_MOST_SHOWN], others_text(lines, _MOST_SHOWN))
