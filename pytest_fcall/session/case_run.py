"""One case under one model: asked, judged, and compared with the baseline."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from pytest_fcall.core import Case, Outcome, Request, Verdict
from pytest_fcall.session.ask.model import AskModel
from pytest_fcall.session.judge.baseline_comparison import BaselineComparison, compare_with_baseline, stanza_of
from pytest_fcall.session.judge.samples import (
    ONCE,
    CaseAnswers,
    SampleResult,
    confirmed_result,
    first_portion,
    pass_rule,
    sample_result,
    samples_of,
)
from pytest_fcall.session.judge.verdict import CaseJudge

if TYPE_CHECKING:
    from pytest_fcall.session.session import Session
    from pytest_fcall.tracking.baseline_file import Baseline
    from pytest_fcall.tracking.stanza import WireRequest


class JudgedCase(NamedTuple):
    """The result of a case, and its comparison with the baseline."""

    result: SampleResult
    comparison: BaselineComparison

    @property
    def verdict(self) -> Verdict:
        """The verdict on the answer that is shown."""
        return self.result.shown.verdict


class CaseRun:
    """A case on its way: `ask` gets all answers, then `decide` judges them.

    A missing answer is no verdict, so everything that asks a model happens in `ask`.
    """

    __slots__ = ("_baseline", "_confirmed", "_session", "answers", "is_complete", "judge", "judged")

    def __init__(
        self,
        session: Session,
        case: Case,
        model: AskModel,
        request: Request,
        baseline: Baseline | None,
        judge: CaseJudge,
    ) -> None:
        self._session = session
        self._baseline = baseline
        self.judge = judge
        self._confirmed: SampleResult | None = None
        self.answers = CaseAnswers(case, model, request, samples_of(case, session.settings.samples))
        self.is_complete = False
        """Whether all answers are there."""
        self.judged: JudgedCase | None = None

    @property
    def case(self) -> Case:
        """The case."""
        return self.answers.case

    @property
    def changes(self) -> list[str]:
        """What the backend changes in the request before it sends it."""
        return self.answers.model.changes(self.answers.request)

    def ask(self) -> None:
        """Get all answers. Some are judged here already, where the verdict says whether to ask on.

        Raises CaseEnded where there is no reply.
        """
        __tracebackhide__ = True
        answers, samples = self.answers, self.answers.samples
        answers.ask(first_portion(samples))
        if samples.count is None:
            rule = pass_rule(samples)
            while rule.decide(rate := self._result().rate) is None:
                answers.ask(rule.next_count(rate))
        elif (again := self._session.settings.confirm) and samples == ONCE:
            self._confirmed = self._ask_again(again)
        if self.judge.opinions:  # the model that judges may fail, too
            self._compare(self._confirmed or self._result())
        self.is_complete = True

    def decide(self) -> JudgedCase:
        """Judge the answers, and compare the verdict with the baseline."""
        __tracebackhide__ = True
        result = self._confirmed or self._result()
        self.judged = JudgedCase(result, self._compare(result))
        return self.judged

    def _ask_again(self, times: int) -> SampleResult | None:
        """Ask again where the case seems to have regressed; None where it does not."""
        found = self._compare(self._result())
        if found.outcome is not Outcome.REGRESSED or found.comparison is None or found.comparison.baseline is None:
            return None
        self.answers.ask(times)
        return confirmed_result(self._result().all, found.comparison.baseline)

    def _result(self) -> SampleResult:
        """The result of all answers so far. Each is judged once."""
        answers = self.answers
        answers.judged.extend(self.judge.judge(answers.answers[len(answers.judged) :]))
        return sample_result(answers.judged, answers.samples.rule)

    def _compare(self, result: SampleResult) -> BaselineComparison:
        session, answers, shown = self._session, self.answers, result.shown
        exchanges = shown.answer.exchanges
        wire: tuple[WireRequest, ...] | None = None if exchanges is None else ()
        if exchanges:
            from pytest_fcall.session.judge.baseline_wire import wire_of

            wire = wire_of(exchanges, session.registry.decoders)
        return compare_with_baseline(
            result.stanza(stanza_of(answers.case, answers.request, shown, wire)),
            shown.verdict,
            answers.case,
            self._baseline,
            partial(self.judge.rejudge, exchanges),
            session.settings.baseline,
        )
