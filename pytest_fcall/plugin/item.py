"""One case as a pytest item."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest
from pluggy import HookRelay

from pytest_fcall.cases.case import plan_request
from pytest_fcall.core import Case, Condition, FaultyCase, Json, Model, Outcome, Request, Verdict
from pytest_fcall.core.case import judge_fault
from pytest_fcall.core.glob import glob_matches
from pytest_fcall.plugin.judge_model import lacks_judge
from pytest_fcall.plugin.models import NamedModel
from pytest_fcall.plugin.options import options
from pytest_fcall.reporting.failure import Failure, failure_text, full_failure_text
from pytest_fcall.reporting.faults import fault_text, location_text
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.reporting.terminal import encodable_text, marks_for
from pytest_fcall.session.ask.model import AskModel
from pytest_fcall.session.ask.replies import replies
from pytest_fcall.session.ask.retrieval import as_offered, missed_told
from pytest_fcall.session.extensions import registry
from pytest_fcall.session.judge.baseline_comparison import BaselineComparison, compare_with_baseline, stanza_of
from pytest_fcall.session.judge.baseline_wire import wire_of
from pytest_fcall.session.judge.baselines import baselines
from pytest_fcall.session.judge.llm_judge import JudgeOpinions, opinions_of
from pytest_fcall.session.judge.samples import (
    ONCE,
    CaseAnswers,
    SampleResult,
    confirmed_result,
    first_portion,
    sample_result,
    samples_of,
)
from pytest_fcall.session.judge.verdict import judge_answers, rejudge
from pytest_fcall.session.outcomes import fail, terminal_encoding
from pytest_fcall.session.result.failure import failure_context
from pytest_fcall.tracking.samples import PassRule

if TYPE_CHECKING:
    from _pytest._code.code import TerminalRepr

HOOKS = pytest.StashKey[dict[Path, HookRelay]]()
"""The hooks of each file, from when all conftest files are read: pytest looks for them eleven times a test."""


class CaseFailed(AssertionError):
    """The reply was judged, and is not valid."""


class NotAccepted(AssertionError):
    """The reply is valid, and not what is accepted; the options want that to fail."""


def case(fc_model: AskModel) -> None:
    """Name, by its signature, the fixtures that every case needs; the item itself does the rest."""


class CaseItem(pytest.Function):
    """A case under one model. The model is asked in the set-up, so that its failure is an error, not a verdict."""

    def __init__(self, *, entry: Case | FaultyCase, named: NamedModel | None, **kwargs: object) -> None:
        self.case = entry
        self.named = named
        self.asked: CaseAnswers | None = None
        self.verdict: Verdict | None = None
        self.sampled: SampleResult | None = None
        self.standing: BaselineComparison | None = None
        self.opinions: JudgeOpinions | None = None
        self.planned: Request | None = None
        super().__init__(callobj=case, **kwargs)  # type: ignore[arg-type]  # what from_parent passes on
        if isinstance(entry, Case):
            for tag in entry.tags:
                self.add_marker(tag)

    @property
    def ihook(self) -> HookRelay:
        """The hooks of the folder. pytest asks by the file, and finds none where a suite has no file."""
        known = self.session.stash.get(HOOKS, None)
        if known is None:
            return self.session.gethookproxy(self.path.parent)
        if self.path not in known:
            known[self.path] = self.session.gethookproxy(self.path.parent)
        return known[self.path]

    @property
    def lacks_recording(self) -> bool:
        """Whether there was no reply because none is recorded."""
        return self.nodeid in replies(self.config).lacking.missing

    @property
    def lacks_reply(self) -> bool:
        """Whether there was no reply because of a server, the network or the model's entry."""
        return self.nodeid in replies(self.config).lacking.unanswered

    @property
    def changes(self) -> list[str]:
        """What was sent otherwise than the case has it."""
        return self.asked.model.changes(self.asked.request) if self.asked else []

    @property
    def is_skipped(self) -> bool:
        """Whether a mark or the case itself may keep it from running, as far as can be told before it starts."""
        marked = any(self.iter_markers("skip")) or any(self.iter_markers("skipif"))
        named = self.named.model.id if self.named else ""
        skipped = isinstance(self.case, Case) and _first_for(self.case.skip, named) is not None
        return marked or skipped or lacks_judge(self.case, self.config)

    def forget(self) -> None:
        """Let go of what was asked and found, which the reports have told: of thousands of cases it would pile up."""
        self.asked = self.verdict = self.sampled = self.standing = self.opinions = self.planned = None

    def reportinfo(self) -> tuple[PathLike[str] | str, int | None, str]:
        """The line of the YAML file, so that editors and reports lead to it."""
        return self.path, self.case.location.line - 1, self.name

    def setup(self) -> None:
        """Set up the fixtures, then get the reply."""
        __tracebackhide__ = True
        self.asked = self.verdict = self.sampled = self.standing = None
        case = self.case
        if isinstance(case, FaultyCase):
            fail("\n".join(fault_text(fault, self.config.rootpath) for fault in case.faults))
        if fault := judge_fault(case):
            fail(fault_text(fault, self.config.rootpath))
        super().setup()
        model = cast("AskModel", self.funcargs["fc_model"])
        self._skip_or_excuse(case, model.id)
        self._refuse_damaged_baseline(model.id)
        self.opinions = opinions_of(self, case)
        request = self.ihook.pytest_fcall_request(
            item=self, case=case, request=planned_request(self, case, model.settings)
        )
        self.asked = self._ask(case, model, request)

    def _ask(self, case: Case, model: AskModel, request: Request) -> CaseAnswers:
        """Get all replies here, since a server's failure is no verdict; so some are judged here already."""
        __tracebackhide__ = True
        samples = samples_of(case, self.config)
        asked = CaseAnswers(case, model, request, samples)
        asked.more(first_portion(samples))
        if samples.count is None:
            deciding = PassRule.by_rule(samples.rule)
            while deciding.passes(rate := self._sampled(asked).rate) is None:
                asked.more(deciding.portion(rate))
        elif samples == ONCE and (again := options(self.config).confirm):
            self.sampled = self._confirmed(asked, again)
        if self.opinions:  # a model that judges is a model, too
            self._standing(asked, self.sampled or self._sampled(asked))
        return asked

    def _confirmed(self, asked: CaseAnswers, again: int) -> SampleResult | None:
        """Ask again where an answer that was right is wrong now; None where it is not."""
        __tracebackhide__ = True
        seen = self._standing(asked, self._sampled(asked))
        if seen.outcome is not Outcome.REGRESSED or seen.comparison is None or seen.comparison.baseline is None:
            return None
        asked.more(again)
        return confirmed_result(self._sampled(asked).all, seen.comparison.baseline)

    def runtest(self) -> None:
        """Decode and judge the replies. Raises CaseFailed with the text that people read."""
        __tracebackhide__ = True
        if self.asked is not None:
            self._judge(self.asked)

    def _judge(self, asked: CaseAnswers) -> None:
        __tracebackhide__ = True
        whole = self.sampled = self.sampled or self._sampled(asked)
        self.verdict = whole.shown.verdict
        found = self.standing = self._standing(asked, whole)
        if not self.verdict.valid:
            if found.excuse:
                pytest.xfail(encodable_text(terminal_encoding(), safe_line(found.excuse)))
            raise CaseFailed(self._failure(asked, whole))
        if found.complaint:
            raise NotAccepted(self._complaint(asked.case, found.complaint))

    def _sampled(self, asked: CaseAnswers) -> SampleResult:
        """All answers so far. Each is judged once."""
        __tracebackhide__ = True
        asked.judged.extend(judge_answers(self, asked.case, asked.answers[len(asked.judged) :]))
        return sample_result(asked.judged, asked.samples.rule)

    def _standing(self, asked: CaseAnswers, whole: SampleResult) -> BaselineComparison:
        case, shown, kept = asked.case, whole.shown, baselines(self.config)
        inside = shown.answer.inside
        return compare_with_baseline(
            whole.stanza(stanza_of(case, asked.request, shown, wire_of(inside, registry(self.config).decoders))),
            shown.verdict,
            case,
            kept.of(self.path, Model.by_id(asked.model.id)),
            partial(rejudge, self, case, inside),
            kept.options,
        )

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> str | TerminalRepr:  # type: ignore[override]
        """A judged failure is its own text; what a fixture or an app raised is pytest's to show."""
        if isinstance(excinfo.value, CaseFailed | NotAccepted):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

    def _failure(self, asked: CaseAnswers, whole: SampleResult) -> str:
        case, shown, encoding = asked.case, whole.shown, terminal_encoding()
        told = [*missed_told(case, asked.request), *whole.told, *(self.standing.told if self.standing else ())]
        width = self.config.get_terminal_writer().fullwidth
        fully = self.config.get_verbosity() > 1
        write = full_failure_text if fully else partial(failure_text, width=width)
        marks = marks_for(encoding)
        part = failure_context(shown, case, marks, fully=fully)
        text = write(Failure(*part.judged, asked.model.id, part.story, told), marks=marks)
        return encodable_text(encoding, text)

    def _complaint(self, case: Case, complaint: str) -> str:
        """What is shown where a right answer fails."""
        told = self.standing.told if self.standing else ()
        lines = [
            complaint,
            f"  {location_text(case.location)}{safe_line(case.id)}",
            *(f"  {safe_line(line)}" for line in told),
            "  `fcall accept` accepts it",
        ]
        return encodable_text(terminal_encoding(), "\n".join(lines))

    def _refuse_damaged_baseline(self, model: str) -> None:
        """Ask nothing for a verdict that nobody could compare."""
        __tracebackhide__ = True
        kept = baselines(self.config).of(self.path, Model.by_id(model))
        if kept and kept.faults:
            fail("\n".join(fault_text(fault, self.config.rootpath) for fault in kept.faults))

    def _skip_or_excuse(self, case: Case, model: str) -> None:
        """Skip now; an expected failure is a verdict, so only a judged reply counts as one."""
        __tracebackhide__ = True
        if skip := _first_for(case.skip, model):
            pytest.skip(skip.reason)
        if xfail := _first_for(case.xfail, model):
            self.add_marker(pytest.mark.xfail(reason=xfail.reason, raises=CaseFailed))


def planned_request(item: CaseItem, case: Case, settings: Mapping[str, Json]) -> Request:
    """The request of a case as its file says it; fixtures have no part in it. Made once."""
    if item.planned is None:
        item.planned = plan_request(as_offered(case, item.config.rootpath), settings)
    return item.planned


def _first_for(conditions: tuple[Condition, ...], model: str) -> Condition | None:
    return next((c for c in conditions if not c.models or any(glob_matches(glob, model) for glob in c.models)), None)
