"""One case under one model: asked, judged, and compared with the baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from pytest_fcall.core.case import Case
from pytest_fcall.core.request import Request
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import Verdict
from pytest_fcall.session.ask.model import AskModel
from pytest_fcall.session.ask.types import most_notable_way
from pytest_fcall.session.endings import CaseError
from pytest_fcall.session.judge.baseline_comparison import BaselineComparison, failure_way_of_answer, stanza_of
from pytest_fcall.session.judge.samples import (
    CaseAnswers,
    JudgedAnswer,
    SampleResult,
    confirmed_result,
    sample_result,
    samples_of,
)
from pytest_fcall.session.judge.verdict import CaseJudge
from pytest_fcall.tracking.question_digests import SYSTEM

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_fcall.core.verdict import Rate
    from pytest_fcall.session.judge.variants import CaseVariants
    from pytest_fcall.session.session import Session
    from pytest_fcall.tracking.baseline_content import Baseline
    from pytest_fcall.tracking.stanza import Stanza, StanzaRequest


VariantsOf: TypeAlias = "Callable[[CaseAnswers], CaseVariants]"


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

    __slots__ = (
        "_accepted",
        "_baseline",
        "_comparison",
        "_confirmed",
        "_file",
        "_further",
        "_session",
        "answers",
        "is_complete",
        "judge",
        "judged",
        "variants",
    )

    def __init__(
        self,
        session: Session,
        case: Case,
        model: AskModel,
        request: Request,
        baseline: Baseline | None,
        judge: CaseJudge,
        file: Path,
        variants: VariantsOf | None = None,
    ) -> None:
        self._session = session
        self._file = file
        self._further = 0
        self._baseline = baseline
        self._accepted = None if baseline is None else _accepted(baseline, case)
        self.judge = judge
        self._confirmed: SampleResult | None = None
        self._comparison: BaselineComparison | None = None
        """That of a case with a judge model, which was asked for it; others are compared when they are decided."""
        self.answers = CaseAnswers(case, model, request, samples_of(case, session.settings.samples))
        self.variants = variants(self.answers) if variants else None
        """The variants of the case; None where no relation varies it."""
        self.is_complete = False
        """Whether all answers are there."""
        self.judged: JudgedCase | None = None

    @property
    def case(self) -> Case:
        """The case."""
        return self.answers.case

    @property
    def changes(self) -> list[str]:
        """The changes that the backend makes in the request before it sends it."""
        return self.answers.model.changes(self.answers.request)

    def ask(self) -> None:
        """Get all answers. Some are judged here already, where the verdict says whether to ask on.

        Raises CaseEnded where there is no reply, or where what the case expects of the inside of the app is unknown.
        """
        __tracebackhide__ = True
        if self.variants:
            self.variants.start()
        self.answers.ask(self.answers.samples.count)
        self.judge.check_inside(self.answers.answers)
        self._check_way()
        if self._baseline is not None and self._session.settings.confirm.most:
            self._ask_again()
        if self.variants:
            self.variants.ask()
        if self.judge.opinions:  # the model that judges may fail, too
            self._comparison = self._compare(self._confirmed or self._result())
            if self.variants:
                self.variants.decide(self._first_answers)
        self.is_complete = True

    def variants_before(self, stanza: Stanza) -> Mapping[str, Rate]:
        """The answers to variants of the same question by relation, when the baseline was accepted."""
        measured = self._baseline.measured.get(self.case.id) if self._baseline else None
        if measured is None or not measured.variants:
            return {}
        from pytest_fcall.tracking.measurement import Key

        return measured.variants if measured.key == Key.of(stanza.digests) else {}

    @property
    def has_forbidden_call(self) -> bool:
        """Whether there is a call that nothing excuses, in an answer to the case or to a variant of it."""
        if self.judged is not None and self.judged.result.shown.has_forbidden_call:
            return True
        return self.variants is not None and self.variants.forbidden is not None

    @property
    def asks_models(self) -> bool:
        """Whether the model is an app that has asked models before: for another case, or for this one."""
        return self.answers.model.is_known_to_ask or bool(self._accepted and self._accepted.wire)

    @property
    def _may_ask_on(self) -> bool:
        """Whether further answers may be asked for, which would be new: also those of an app that asks no models."""
        if self.answers.model.is_asked:
            return True
        asked_nobody = all(each.asked and each.way == "unseen" and not each.detours for each in self.answers.answers)
        return asked_nobody and self.answers.model.is_app and not self.asks_models

    @property
    def ignores_way(self) -> bool:
        """Whether the settings ignore an app that asked nothing by way of the proxy."""
        return self._session.settings.inside == "ignore"

    def _check_way(self) -> None:
        """Raise CaseError for an answer of an app of which nothing was seen, where the settings want to see it."""
        way = most_notable_way(self.answers.answers)
        if self._session.settings.inside != "required" or way in ("", "proxy"):
            return
        model = self.answers.model.id
        if way == "stored":
            raise CaseError(
                f"{model} was not run: nothing that it asks is recorded for this case, and with fc_inside = required "
                "its stored answer does not stand for it. Record the case with a run that may ask"
            )
        raise CaseError(
            f"{model} sent no request through the proxy, and fc_inside = required: its client may have an address of "
            "its own, or a cache may have answered, or it asked no model"
        )

    def decide(self) -> JudgedCase:
        """Judge the answers, and compare the verdict with the baseline."""
        __tracebackhide__ = True
        result = self._confirmed or self._result()
        self.judged = JudgedCase(result, self._comparison or self._compare(result))
        if self.variants:
            self.variants.decide(self._first_answers)
        return self.judged

    @property
    def _first_answers(self) -> Sequence[JudgedAnswer]:
        """The answers to the case that were asked for whatever the others were."""
        return self.answers.judged[: self.answers.samples.count]

    def _ask_again(self) -> None:
        """Ask again as long as further answers may decide whether the case regressed.

        One answer shows most often that it did not; where it does not, twice as many are asked for at a time.
        """
        __tracebackhide__ = True
        first = self._result()
        if first.passes:
            return
        self._further = self._further_answers()
        portion = 1
        while (found := self._compare(self._confirmed or first).comparison) and found.is_open:
            wanted = min(portion, self.answers.samples.count + self._further - len(self.answers.answers))
            granted = self._session.doubt.grant(wanted) if self._may_ask_on else wanted
            if not granted:
                return
            self.answers.ask(granted)
            self.judge.check_inside(self.answers.answers)
            self._check_way()
            self._confirmed = confirmed_result(self._result().all, first)
            portion *= 2

    def _further_answers(self) -> int:
        """The most further answers there may be. Where the model is not asked, they are those that are recorded."""
        most = self._session.settings.confirm.most
        return most if self._may_ask_on else self.answers.recorded_further(most)

    def _result(self) -> SampleResult:
        """The result of all answers so far. Each is judged once."""
        answers = self.answers
        answers.judged.extend(self.judge.judge(answers.answers[len(answers.judged) :]))
        return sample_result(tuple(answers.judged), answers.samples.rule)

    def _compare(self, result: SampleResult) -> BaselineComparison:
        session, answers, shown = self._session, self.answers, result.shown
        exchanges = shown.answer.exchanges
        wire: tuple[StanzaRequest, ...] | None = None if exchanges is None else ()
        if exchanges:
            from pytest_fcall.session.judge.baseline_wire import wire_of

            wire = wire_of(exchanges, session.registry.decoders, answers.case.decoder)
        stanza = result.stanza(stanza_of(answers.case, answers.request, shown, wire))
        if self._baseline is None:
            return BaselineComparison(stanza, None)
        from pytest_fcall.session.judge.baseline_comparison import compare_with_baseline, with_former_parts
        from pytest_fcall.tracking.comparison import CaseJudgement, EarlierFacts
        from pytest_fcall.tracking.measurement import Key

        case, model, doubt = answers.case, answers.model.id, session.doubt
        known = EarlierFacts(
            self._accepted,
            self._baseline.measured.get(case.id),
            partial(doubt.evidence, self._file, model, case.id, Key.of(stanza.digests)),
        )
        found = compare_with_baseline(
            CaseJudgement(
                stanza,
                shown.verdict,
                frozenset(map(failure_way_of_answer, result.all)),
                is_asked_again=result.first is not None,
                is_replayed=answers.asked < len(answers.answers),
            ),
            known,
            case,
            partial(self.judge.rejudge, exchanges),
            partial(doubt.test, model, answers.samples.count + self._further, is_asked=self._may_ask_on),
            session.settings.baseline,
        )
        return with_former_parts(found, answers.request, self._former_part)

    def _former_part(self, part: str, digest: str) -> Json:
        """The part of a question with this digest, where a recording or the account of an earlier run has it."""
        if part == SYSTEM:
            recorded = self.answers.model.recorded_system_prompts(self.answers.request)
            if digest in recorded:
                return recorded[digest]
        return self._session.former_questions.find(part, digest)


def _accepted(baseline: Baseline, case: Case) -> Stanza | None:
    """The accepted answer to a case. Raises CaseError where that cannot be read."""
    from pytest_fcall.tracking.baseline_content import UnreadableStanza

    try:
        return baseline.stanzas.get(case.id)
    except UnreadableStanza as error:
        raise CaseError(str(error)) from None
