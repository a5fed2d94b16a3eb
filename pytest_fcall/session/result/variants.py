"""The verdicts on the variants of a case, for its Result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_fcall.reporting.case_difference import difference_text
from pytest_fcall.reporting.results import VariantResult, VariantResults

if TYPE_CHECKING:
    from pytest_fcall.core import Case
    from pytest_fcall.session.case_run import CaseRun
    from pytest_fcall.session.judge.variants import VariantAnswers


def variant_results(run: CaseRun) -> VariantResults | None:
    """The verdicts on all variants; None where they are not judged."""
    variants = run.variants
    if variants is None or variants.first is None:
        return None
    before = run.variants_before(run.judged.comparison.stanza) if run.judged else {}
    first = variants.first.verdict.valid
    repeated = [*variants.own, *variants.repeated.judged]
    return VariantResults(
        first=first,
        repeated=(sum(each.verdict.valid for each in repeated), len(repeated)),
        tried=tuple(_tried(each, run.case, first=first) for each in variants.all),
        unfit=tuple(variants.planned.plan.unfit.items()),
        before=tuple((relation, *rate) for relation, rate in before.items()),
        answers=variants.count,
        replayed=variants.count - variants.asked,
        usage=variants.usage,
    )


def _tried(varied: VariantAnswers, case: Case, *, first: bool) -> VariantResult:
    variant, judged = varied.variant, varied.judged
    reasons: list[tuple[str, str]] = [(reason.kind, reason.path) for each in judged for reason in each.verdict.reasons]
    has_flipped = any(each.verdict.valid is not first for each in judged)
    return VariantResult(
        variant.relation,
        variant.number,
        right=sum(each.verdict.valid for each in judged),
        asked=len(judged),
        reasons=tuple(dict.fromkeys(reasons)),
        difference=difference_text(case, variant.case) if has_flipped else "",
    )
