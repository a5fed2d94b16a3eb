"""The verdicts on variants of cases, and how often they flip in a run, by model and relation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import fsum
from typing import TYPE_CHECKING

from pytest_fcall.core.verdict import Rate, reason_pairs
from pytest_fcall.reporting.case_difference import difference_text
from pytest_fcall.reporting.fragility import FlipRow, ModelFlips, RelationChange, flip_lines
from pytest_fcall.reporting.results import Result, VariantResult, VariantResults
from pytest_fcall.reporting.run_table import models_of, of_model
from pytest_fcall.tracking.flips import RelationFlips, VariedCase, flips_of
from pytest_fcall.tracking.significance import SIGNIFICANCE_LEVEL, RatePair, adjust_by_holm, p_value_different

if TYPE_CHECKING:
    from pytest_fcall.core.case import Case
    from pytest_fcall.session.case_run import CaseRun
    from pytest_fcall.session.judge.variants import VariantAnswers


def flips_by_model(results: Sequence[Result]) -> dict[str, list[RelationFlips]]:
    """The flips of verdicts under each relation, for each model that has varied cases."""
    found = {model: flips_of(_varied_cases(of_model(model, results))) for model in models_of(results)}
    return {model: flips for model, flips in found.items() if flips}


def variant_lines(results: Sequence[Result], width: int, *, fully: bool) -> list[str]:
    """Lines for people on the variants of a run; none where no case was varied."""
    if not any(result.variants for result in results):
        return []
    return [*flip_lines(model_flips(results), results, width, fully=fully)]


def model_flips(results: Sequence[Result]) -> list[ModelFlips]:
    """The same as rows for people, with what did not fit."""
    flips = flips_by_model(results)
    varied = [result for result in results if result.variants]
    return [
        ModelFlips(
            model,
            [_row(each) for each in flips.get(model, ())],
            _unfit(of_model(model, varied)),
            _changes(of_model(model, varied)),
        )
        for model in models_of(varied)
    ]


def _varied_cases(results: Sequence[Result]) -> Mapping[str, Sequence[VariedCase]]:
    """Of each relation, one entry for each case that it varies."""
    found: dict[str, list[VariedCase]] = {}
    for variants in (result.variants for result in results if result.answered and result.variants):
        for relation, rate in _rates(variants).items():
            own = Rate(*variants.repeated).plus(Rate(int(variants.first), 1))
            found.setdefault(relation, []).append(VariedCase(variants.first, own, rate))
    return found


def _rates(variants: VariantResults) -> Mapping[str, Rate]:
    """The answers to all variants of a case by each relation."""
    found: dict[str, Rate] = {}
    for each in variants.tried:
        found[each.relation] = found.get(each.relation, Rate(0, 0)).plus(Rate(each.right, each.asked))
    return found


def _changes(results: Sequence[Result]) -> list[RelationChange]:
    """The verdicts on the variants of each relation when the baseline was accepted, and now."""
    pairs: dict[str, list[RatePair]] = {}
    for variants in (result.variants for result in results if result.answered and result.variants):
        now = _rates(variants)
        for relation, right, asked in variants.before:
            if relation in now:
                pairs.setdefault(relation, []).append(RatePair(Rate(right, asked), now[relation]))
    p_values = adjust_by_holm({relation: p_value_different(each) for relation, each in pairs.items()})
    return [
        RelationChange(
            relation,
            len(each),
            fsum(pair.before.share for pair in each) / len(each),
            fsum(pair.now.share for pair in each) / len(each),
            p_values[relation],
            is_certain=p_values[relation] <= SIGNIFICANCE_LEVEL,
        )
        for relation, each in pairs.items()
    ]


def _row(flips: RelationFlips) -> FlipRow:
    return FlipRow(
        flips.relation,
        flips.cases,
        flips.answers,
        flips.to_wrong,
        flips.to_right,
        flips.rate,
        flips.noise,
        flips.p_value,
        flips.word,
    )


def _unfit(results: Sequence[Result]) -> Mapping[tuple[str, str], int]:
    return Counter(pair for result in results if result.variants for pair in result.variants.unfit)


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
    reasons: list[tuple[str, str]] = [pair for each in judged for pair in reason_pairs(each.verdict)]
    has_flipped = any(each.verdict.valid is not first for each in judged)
    return VariantResult(
        variant.relation,
        variant.number,
        right=sum(each.verdict.valid for each in judged),
        asked=len(judged),
        reasons=tuple(dict.fromkeys(reasons)),
        difference=difference_text(case, variant.case) if has_flipped else "",
    )
