"""One case as a pytest item: set up, run and reported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, cast

import pytest

from pytest_fcall.cases.case import plan_request
from pytest_fcall.core.bounded_text import glob_matches
from pytest_fcall.core.case import Case, Condition, FaultyCase, asks_judge_model, judge_fault
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.request import Request
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import Verdict
from pytest_fcall.plugin.report import CALLS_TITLE, CaseReport, attach
from pytest_fcall.plugin.terminal import end_test, printable, terminal_encoding, terminal_width, verbosity
from pytest_fcall.reporting.account import Account, account_to_json
from pytest_fcall.reporting.results import Status
from pytest_fcall.reporting.terminal import marks_for
from pytest_fcall.session.ask.model import AskModel
from pytest_fcall.session.ask.types import Asker
from pytest_fcall.session.case_run import CaseRun, JudgedCase
from pytest_fcall.session.endings import CaseEnded, CaseError
from pytest_fcall.session.judge.verdict import CaseJudge
from pytest_fcall.session.models import NamedModel
from pytest_fcall.session.result.account import account_of
from pytest_fcall.session.result.result import CaseItemFacts, result_of, result_properties
from pytest_fcall.tracking.run_accounts import account_line

if TYPE_CHECKING:
    from _pytest._code.code import TerminalRepr
    from pluggy import HookRelay

    from pytest_fcall.core.variants import WantedRelation
    from pytest_fcall.plugin.file_context import ItemsContext
    from pytest_fcall.session.judge.samples import CaseAnswers, JudgedAnswer
    from pytest_fcall.session.judge.variants import CaseVariants, PlannedVariants, VariantAnswers, VariantTexts


class CaseFailed(AssertionError):
    """The reply was judged, and is not valid."""


class NotAccepted(AssertionError):
    """The reply is valid, but is not the accepted one, and the settings want that to fail."""


class CaseItem(pytest.Function):
    """A case under one model. The model is asked in the set-up, so that its failure is an error, not a verdict."""

    def __init__(
        self,
        *,
        entry: Case | FaultyCase,
        named: NamedModel | None,
        context: ItemsContext,
        place: int,
        **kwargs: object,
    ) -> None:
        self.case = entry
        self.named = named
        self.context = context
        self.place = place
        """Its number among all cases, the same whichever of them this run builds."""
        self.run: CaseRun | None = None
        """The case on its way, from its set-up until its reports are made."""
        self._planned: Request | None = None
        self._planned_variants: PlannedVariants | None = None
        super().__init__(**kwargs)  # type: ignore[arg-type]  # what from_parent passes on
        for tag in entry.tags:
            self.add_marker(tag)

    @property
    def ihook(self) -> HookRelay:
        """The hooks of the file's folder, which are the same for all its items."""
        return self.context.file.hooks

    def reportinfo(self) -> tuple[PathLike[str] | str, int | None, str]:
        """The line of the YAML file, so that editors and reports lead to it."""
        return self.path, self.case.location.line - 1, self.name

    def setup(self) -> None:
        """Set up the fixtures, then get the reply."""
        __tracebackhide__ = True
        self.run = None
        self.context.session.replies.no_replies.forget(self.nodeid)  # of an attempt before
        self.context.session.replies.let_variables_stay(stay=True)
        try:
            case = self._sound_case()
            super().setup()
            self._ask(case)
        except CaseEnded as ended:
            end_test(ended)

    def runtest(self) -> None:
        """Judge the reply. Raises CaseFailed with the text for people."""
        __tracebackhide__ = True
        run = self.run
        if run is None:
            return
        try:
            judged = run.decide()
        except CaseEnded as ended:
            end_test(ended)
        if run.variants and run.variants.forbidden:
            self._fail_for_variant(run, *run.variants.forbidden)
        if not judged.verdict.valid:
            self._fail(run, judged)
        if judged.comparison.complaint:
            from pytest_fcall.session.result.failure import complaint_report

            raise NotAccepted(printable(complaint_report(run.case, judged, judged.comparison.complaint)))

    def add_result(self, report: pytest.TestReport) -> None:
        """Attach the result to the report that decides it: the call, or a set-up that did not lead to one."""
        run = self.run
        status = _status(report, run)
        if status is None:
            return
        if report.skipped and isinstance(report.longrepr, tuple):
            report.longrepr = str(self.path), self.case.location.line, report.longrepr[2]
        session, nodeid = self.context.session, self.nodeid
        no_replies = session.replies.no_replies
        missing, unanswered = no_replies.missing.get(nodeid), nodeid in no_replies.unanswered
        no_reply = missing is not None or unanswered
        shows_calls = report.passed and self.context.shows_passed_calls
        account, tools = self._account(report, nodeid) if session.settings.keeps_run or shows_calls else (None, ())
        result = result_of(session, self.case, self._facts(run, nodeid), status, run, no_reply=no_reply)
        if self.context.measures_strength and isinstance(self.case, Case):
            result = result._replace(strength=self.context.strength(self.case, result.model))
        self.user_properties += result_properties(result, run, session.settings.started)
        judged = run.judged if run else None
        attached = CaseReport(
            result,
            missing,
            unanswered,
            judged=judged is not None and report.when == "call",
            reused=self._reused(run, session.settings.clock_lead),
            changes=tuple(run.changes) if run and self.context.shows_changes else (),
            account=_account_lines(account, tools) if account and session.settings.keeps_run else "",
            texts=self._new_texts(),
        )
        if account and shows_calls:
            from pytest_fcall.reporting.account_text import passed_text

            text = passed_text(account, result, marks_for(terminal_encoding()))
            report.sections.append((CALLS_TITLE, printable(text)))
        attach(report, attached)

    @staticmethod
    def _reused(run: CaseRun | None, clock_lead: float) -> tuple[float, float] | None:
        """The times of the oldest and the newest recording that was used, by the clock where results arrive."""
        if run is None or not run.is_complete or run.answers.reused is None:
            return None
        oldest, newest = (moment - clock_lead if moment else moment for moment in run.answers.reused)
        return oldest, newest

    # The override is that of pytest's Function, which leaves out a parameter of Node.
    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> str | TerminalRepr:  # type: ignore[override]
        """A judged failure is its own text; exceptions of fixtures and apps are pytest's to show."""
        if isinstance(excinfo.value, CaseFailed | NotAccepted):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

    def forget(self) -> None:
        """Free answers and verdict once they are reported: those of thousands of cases would fill the memory."""
        self.run = self._planned = self._planned_variants = None

    @property
    def is_skipped(self) -> bool:
        """Whether a mark or the case itself may keep it from running, as far as is known before it starts."""
        if any(self.iter_markers("skip")) or any(self.iter_markers("skipif")):
            return True
        case = self.case
        if not isinstance(case, Case):
            return False
        named = self.named.model.id if self.named else ""
        return _first_for(case.skip, named) is not None or (
            self.context.session.settings.judge is None and self.asks_judge_model
        )

    @property
    def asks_judge_model(self) -> bool:
        """Whether a model that judges may be asked about its answers."""
        return isinstance(self.case, Case) and asks_judge_model(self.case)

    @property
    def asker(self) -> Asker:
        """The test that asks. It is named without the model, as in recordings and in a run of one model."""
        again = f"{self.context.file.nodeid}::{self.case.id}"
        wants_spans = isinstance(self.case, Case) and self.case.spans is not None
        return Asker(self.path, self.case.id, self.nodeid, again, self.context.volatile, wants_spans)

    def planned_request(self, settings: Mapping[str, Json]) -> Request:
        """The request as the file of the case says it; fixtures have no part in it. Made once."""
        if self._planned is None:
            self._planned = self._request_of(cast("Case", self.case), settings)  # a case without faults
        return self._planned

    def _request_of(self, case: Case, settings: Mapping[str, Json]) -> Request:
        if case.retrieve is not None:
            from pytest_fcall.session.ask.retrieval import with_chosen_tools

            case = with_chosen_tools(case, case.retrieve, self.config.rootpath)
        return plan_request(case, settings)

    def planned_variants(
        self, settings: Mapping[str, Json], *, has_own_tools: bool, makes_texts: bool = False
    ) -> PlannedVariants | None:
        """The variants of the case as its file and the run want them; None where none is wanted. Made once.

        With `makes_texts`, models are asked for texts of variants that are not kept, where the run may ask.
        """
        session, case = self.context.session, self.case
        if not isinstance(case, Case) or not (case.variants or session.settings.vary):
            return None
        if self._planned_variants is None:
            from pytest_fcall.session.judge.variants import PlannedVariants, wanted_relations

            vary = session.settings.vary
            wanted = wanted_relations(case, vary, session.relations)
            if not wanted:
                return None
            texts = self._texts(case, wanted, makes_texts=makes_texts)
            planned = PlannedVariants.of(
                case,
                wanted,
                session.relations,
                partial(self._request_of, settings=settings),
                vary.option if vary else "",
                has_own_tools=has_own_tools,
                texts=texts,
            )
            if texts and not makes_texts:
                return planned
            self._planned_variants = planned
        return self._planned_variants

    def _texts(self, case: Case, wanted: Sequence[WantedRelation], *, makes_texts: bool) -> VariantTexts | None:
        """The texts of variants that models write; None where no relation has any."""
        from pytest_fcall.core.variants import WORDED

        if not any(each.name in WORDED for each in wanted):
            return None
        from pytest_fcall.session.judge.variants import VariantTexts

        session = self.context.session
        may_ask = self.named is not None and self.named.live and not session.settings.replay
        texts = VariantTexts(session, case, self.path, self.asker, may_ask and makes_texts)
        texts.make(wanted)
        return texts

    def _sound_case(self) -> Case:
        """The case. Raises CaseError for one with faults."""
        case = self.case
        if isinstance(case, FaultyCase):
            faults = case.faults
        elif case.judge is not None and (fault := judge_fault(case)):
            faults = (fault,)
        else:
            return case
        from pytest_fcall.reporting.faults import fault_text

        raise CaseError("\n".join(fault_text(fault, self.config.rootpath) for fault in faults))

    def _ask(self, case: Case) -> None:
        __tracebackhide__ = True
        context, session = self.context, self.context.session
        model = cast("AskModel | None", self.funcargs.get("fc_model"))  # our hook around fixtures has made it one
        if model is None:
            model = session.model(self.named, self.asker)
        self._skip_or_excuse(case, model.id)
        baseline = context.baseline(model.id, case.id)
        judge = self.judge_of(case)
        planned = self.planned_variants(model.settings, has_own_tools=model.has_own_tools, makes_texts=True)
        variants = partial(self._variants_of, planned, judge) if planned else None
        request = self.final_request(model.settings)
        self.run = CaseRun(session, case, model, request, baseline, judge, self.path, variants)
        self.run.ask()

    def final_request(self, settings: Mapping[str, Json]) -> Request:
        """The request as it is asked, after other packages have changed it."""
        return self._changed_request(cast("Case", self.case), self.planned_request(settings))

    def _variants_of(self, planned: PlannedVariants, judge: CaseJudge, answers: CaseAnswers) -> CaseVariants:
        from pytest_fcall.session.judge.variants import CaseVariants

        cases = (variant.case for variant in planned.plan.variants)
        requests = [self._changed_request(*pair) for pair in zip(cases, planned.requests, strict=True)]
        return CaseVariants.of(replace(planned, requests=requests), answers, judge, self.judge_of)

    def judge_of(self, case: Case) -> CaseJudge:
        """The judge of answers to the case, to a variant of it, or to one with another question."""
        context = self.context
        opinions = context.session.opinions(case, self.asker) if self.asks_judge_model else None
        amend = partial(self._amended_verdict, case) if context.changes_verdicts else None
        return CaseJudge(case, context.session, opinions, amend, context.match_contexts)

    def _changed_request(self, case: Case, request: Request) -> Request:
        """The request as other packages change it."""
        if self.context.changes_requests:
            request = self.ihook.pytest_fcall_request(item=self, case=case, request=request)
        return request

    def _amended_verdict(self, case: Case, reply: Reply, verdict: Verdict) -> Verdict:
        amended: Verdict = self.ihook.pytest_fcall_verdict(item=self, case=case, reply=reply, verdict=verdict)
        return amended

    def _skip_or_excuse(self, case: Case, model: str) -> None:
        """Skip now. An expected failure is a verdict, so only a judged reply counts as one."""
        if case.skip and (skip := _first_for(case.skip, model)):
            pytest.skip(skip.reason)
        if case.xfail and (xfail := _first_for(case.xfail, model)):
            self.add_marker(pytest.mark.xfail(reason=xfail.reason, raises=CaseFailed))

    def _fail(self, run: CaseRun, judged: JudgedCase) -> None:
        __tracebackhide__ = True
        from pytest_fcall.reporting.safe_text import safe_line
        from pytest_fcall.session.result.failure import failure_report

        if judged.comparison.excuse:
            pytest.xfail(printable(safe_line(judged.comparison.excuse)))
        width, fully = terminal_width(self.config), verbosity(self.config) > 1
        raise CaseFailed(printable(failure_report(run, judged, marks_for(terminal_encoding()), width, fully=fully)))

    def _fail_for_variant(self, run: CaseRun, varied: VariantAnswers, answer: JudgedAnswer) -> None:
        """Fail the case for a forbidden call in a variant, whatever its own verdict is."""
        __tracebackhide__ = True
        if run.judged and run.judged.result.shown.has_forbidden_call:
            return
        from pytest_fcall.session.result.failure import variant_report

        width, fully = terminal_width(self.config), verbosity(self.config) > 1
        text = variant_report(run, varied, answer, marks_for(terminal_encoding()), width, fully=fully)
        raise CaseFailed(printable(text))

    def _new_texts(self) -> tuple[str, ...]:
        """The texts that models wrote for variants of the case in this run, as they are kept."""
        if self._planned_variants is None or not self._planned_variants.new_texts:
            return ()
        from pytest_fcall.variants.kept_texts import text_line

        return tuple(map(text_line, self._planned_variants.new_texts))

    def _account(self, report: pytest.TestReport, nodeid: str) -> tuple[Account, Sequence[str]]:
        """The account, and the lines of tools that it names and nobody has written yet."""
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        error = "" if self.run and self.run.judged else reason
        session = self.context.session
        left_out = session.replies.left_out(nodeid)
        offered, tools = session.offered_tools.name(self.run.answers.request.tools if self.run else ())
        return account_of(nodeid, self.run, error, session.registry.decoders, left_out, offered), tools

    def _facts(self, run: CaseRun | None, nodeid: str) -> CaseItemFacts:
        file, line, _ = self.location
        model = self.named.model.id if self.named else ""
        if run is not None and run.is_complete:
            model = run.answers.model.id
        return CaseItemFacts(nodeid, file, (line or 0) + 1, model, self.place, self.context.own_volatile)


def _account_lines(account: Account, tools: Sequence[str]) -> str:
    """The account, behind its tools."""
    return "\n".join(filter(None, (*tools, account_line(account_to_json(account)))))


def _status(report: pytest.TestReport, run: CaseRun | None) -> Status | None:
    if report.when == "call":
        return _status_of_call(report, run)
    if report.when == "setup" and not report.passed:
        return "skipped" if report.skipped else "error"
    return None


def _status_of_call(report: pytest.TestReport, run: CaseRun | None) -> Status:
    if run is None or run.judged is None:  # a hook or a plugin ended the test before there was a verdict
        return "error" if report.failed else "skipped"
    is_forbidden = run.variants is not None and run.variants.forbidden is not None
    if run.judged.verdict.valid and not is_forbidden:
        # Where a right answer fails, a strict xfail was wrong, or the settings want another answer.
        complained = run.judged.comparison.complaint is not None
        return "xpassed" if hasattr(report, "wasxfail") or (report.failed and not complained) else "passed"
    return "xfailed" if report.skipped else "failed"


def _first_for(conditions: tuple[Condition, ...], model: str) -> Condition | None:
    return next((c for c in conditions if not c.models or any(glob_matches(glob, model) for glob in c.models)), None)
