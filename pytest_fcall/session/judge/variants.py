"""The variants of a case: asked beside it, and judged each by its own expectation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pytest_fcall.core import Case, Request, Samples, Usage
from pytest_fcall.core.reply import total_usage
from pytest_fcall.core.variants import REPETITION, WORDED, Relation, WantedRelation
from pytest_fcall.schema.value_text import did_you_mean
from pytest_fcall.session.ask.types import Asker, Conversation, Question, Source
from pytest_fcall.session.judge.samples import CaseAnswers, JudgedAnswer, sample_request, samples_of
from pytest_fcall.session.outcomes import CaseError
from pytest_fcall.variants.plan import Variant, VariantPlan, plan_variants

if TYPE_CHECKING:
    from pytest_fcall.session.judge.variant_texts import VariantTexts
    from pytest_fcall.session.judge.verdict import CaseJudge
    from pytest_fcall.session.settings import Vary
    from pytest_fcall.variants.kept_texts import KeptText


def unknown_relation(vary: Vary, relations: Mapping[str, Relation]) -> str:
    """The complaint about a relation that nobody knows; empty where all are known."""
    known = (REPETITION, *WORDED, *relations)
    for name, _ in vary.relations:
        if name not in known:
            hint = did_you_mean(name, (*known, "all", "off")) or f"available: {', '.join(known)}"
            return f"--fc-vary: there is no relation {name!r}; {hint}"
    return ""


def wanted_relations(case: Case, vary: Vary | None, relations: Mapping[str, Relation]) -> Sequence[WantedRelation]:
    """The relations that a case is varied by: those that the run names, with what the file says of them.

    A case that says `variants: none` is varied by none, whatever the run wants. Neither is one under attack or
    with a faulty result: the case that it was made of is.
    """
    if case.injection is not None or case.result_fault is not None or (case.variants is not None and not case.variants):
        return ()
    own = {each.name: each for each in case.variants or ()}
    if vary is None:
        return [*own.values()]
    found = dict(own) if vary.all else {}
    if vary.all:
        found |= {
            name: found.get(name, WantedRelation(name))
            for name, relation in relations.items()
            if not relation.spec.needed
        }
    for name, count in vary.relations:
        wanted = own.get(name, WantedRelation(name))
        found[name] = wanted if count is None else replace(wanted, count=count)
    return [*found.values()] if set(found) != {REPETITION} else []


def wanted_answers(case: Case, vary: Vary | None, relations: Mapping[str, Relation]) -> int:
    """The number of answers to variants that are wanted. There are fewer where a relation does not fit."""
    return sum(each.count * each.samples for each in wanted_relations(case, vary, relations))


@dataclass(frozen=True, slots=True)
class PlannedVariants:
    """The variants of a case, and the requests for them."""

    plan: VariantPlan
    requests: Sequence[Request]
    """One for each variant."""
    options: str = ""
    """The option of the command line without which they would not be asked."""
    new_texts: Sequence[KeptText] = ()
    """Texts that models have written for them in this run."""

    @classmethod
    def of(
        cls,
        case: Case,
        wanted: Sequence[WantedRelation],
        relations: Mapping[str, Relation],
        request_of: Callable[[Case], Request],
        options: str,
        *,
        has_own_tools: bool,
        texts: VariantTexts | None = None,
    ) -> PlannedVariants:
        """Plan them. Raises CaseError where a relation of another package fails."""
        worded = texts.variants if texts else None
        try:
            plan = plan_variants(case, wanted, relations, has_own_tools=has_own_tools, worded=worded)
        except Exception as error:  # the code of another package
            raise CaseError(f"{case.id} cannot be varied: {type(error).__name__}: {error}") from error
        requests = [request_of(variant.case) for variant in plan.variants]
        return cls(plan, requests, options, tuple(texts.made) if texts else ())

    def repetitions(self, samples: int) -> int:
        """The number of further answers to the case itself, of which there are `samples` anyway."""
        return max(self.plan.repetitions - (samples - 1), 0) if self.plan.variants else 0

    def wanted(
        self, case: Case, source: Source, request: Request, asker: Asker, chosen: Samples | None
    ) -> list[Question | Conversation]:
        """All that will be asked beside the case itself; `chosen` are the samples of the run."""
        samples = samples_of(case, chosen).count
        further = range(samples, samples + self.repetitions(samples))
        repeated = asker.for_variant(REPETITION, self.options)
        found = [(case, repeated, sample_request(request, sample)) for sample in further]
        for variant, first in zip(self.plan.variants, self.requests, strict=True):
            varied = asker.for_variant(variant.name, self.options)
            found += [(variant.case, varied, sample_request(first, sample)) for sample in range(variant.samples)]
        return [
            Conversation(each, source, sent, by) if each.mode == "conversation" else Question.of(source, sent, by)
            for each, by, sent in found
        ]


@dataclass(frozen=True, slots=True)
class VariantAnswers:
    """The answers to one variant."""

    variant: Variant
    answers: CaseAnswers
    judge: CaseJudge

    @property
    def judged(self) -> Sequence[JudgedAnswer]:
        """The verdicts on the answers."""
        return self.answers.judged


@dataclass(slots=True)
class CaseVariants:
    """The variants of a case on their way, with the repetitions that they are compared with."""

    planned: PlannedVariants
    all: Sequence[VariantAnswers]
    repeated: CaseAnswers
    """Further answers to the case itself."""
    judge: CaseJudge
    """Judges these."""
    first: JudgedAnswer | None = field(default=None, init=False)
    """The first answer to the case."""
    own: Sequence[JudgedAnswer] = field(default=(), init=False)
    """Its other answers, of those that it has anyway."""

    @classmethod
    def of(
        cls, planned: PlannedVariants, case: CaseAnswers, judge: CaseJudge, judge_of: Callable[[Case], CaseJudge]
    ) -> CaseVariants:
        """The variants of a case."""
        found = [
            VariantAnswers(
                variant,
                CaseAnswers(
                    variant.case,
                    case.model.for_variant(variant.name, planned.options),
                    request,
                    Samples(variant.samples),
                ),
                judge_of(variant.case),
            )
            for variant, request in zip(planned.plan.variants, planned.requests, strict=True)
        ]
        count = case.samples.count
        model = case.model.for_variant(REPETITION, planned.options)
        repeated = CaseAnswers(case.case, model, case.request, Samples(planned.repetitions(count)), skipped=count)
        return cls(planned, found, repeated, judge)

    def start(self) -> None:
        """Send all requests, where the model can be asked ahead, and do not wait for the answers."""
        for each in (*(each.answers for each in self.all), self.repeated):
            each.start()

    def ask(self) -> None:
        """Get all answers. Raises CaseEnded where there is no reply."""
        __tracebackhide__ = True
        for each in self.all:
            each.answers.ask(each.answers.samples.count)
            each.judge.check_inside(each.answers.answers)
        if self.repeated.samples.count:
            self.repeated.ask(self.repeated.samples.count)
            self.judge.check_inside(self.repeated.answers)

    def decide(self, own: Sequence[JudgedAnswer]) -> None:
        """Judge the answers; `own` are those that the case has anyway, without those in doubt."""
        for each in self.all:
            each.answers.judged.extend(each.judge.judge(each.answers.answers[len(each.judged) :]))
        rest = self.repeated.answers[len(self.repeated.judged) :]
        self.repeated.judged.extend(self.judge.judge(rest))
        self.first, *self.own = own

    @property
    def forbidden(self) -> tuple[VariantAnswers, JudgedAnswer] | None:
        """The first variant with a call that nothing excuses, and the answer."""
        return next(((each, found) for each in self.all for found in each.judged if found.has_forbidden_call), None)

    @property
    def asked(self) -> int:
        """The number of answers that the model gave in this run."""
        return sum(each.asked for each in self._answers)

    @property
    def count(self) -> int:
        """The number of answers."""
        return sum(len(each.answers) for each in self._answers)

    @property
    def usage(self) -> Usage | None:
        """The tokens of all answers."""
        return total_usage(each.usage for each in self._answers if each.answers)

    @property
    def _answers(self) -> Sequence[CaseAnswers]:
        return [*(each.answers for each in self.all), self.repeated]
