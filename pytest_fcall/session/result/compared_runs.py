"""Runs and models paired case by case, with a significance test for each pair."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, compress, pairwise
from typing import Final, TypeAlias

from pytest_fcall.core.reply import Call
from pytest_fcall.reporting.answer_lines import origin_text
from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.run_comparison import ComparedGroup, ModelPair, RunComparison
from pytest_fcall.reporting.run_table import of_model
from pytest_fcall.reporting.score_tables import ScoreChange
from pytest_fcall.reporting.tool_confusion import confusion_counts
from pytest_fcall.session.result.kept_runs import Run
from pytest_fcall.session.result.model_change import answered_rightly, first_answers
from pytest_fcall.session.result.scores import score_rows
from pytest_fcall.tracking.measurement import Key
from pytest_fcall.tracking.question_digests import EXPECTATION
from pytest_fcall.tracking.significance import (
    SIGNIFICANCE_LEVEL,
    RatePair,
    adjust_by_holm,
    difference_interval,
    p_value_different,
)
from pytest_fcall.tracking.stanza import parse_stanza

ResultPair: TypeAlias = tuple[Result, Result]
"""The results of a case: before, now."""
AnsweredCases: TypeAlias = Mapping[str, Mapping[Hashable, Result]]
"""The answered cases of each model."""

_MOST_CONFUSIONS: Final = 5


def answered_pairs(old: Sequence[Result], new: Sequence[Result]) -> list[ResultPair]:
    """The results of the cases that both runs answered."""
    key = _pairing_key(old, new)
    olds = {key(result): result for result in old if result.answered}
    return [(olds[key(result)], result) for result in new if result.answered and key(result) in olds]


def compare_runs(before: Run, now: Run) -> RunComparison:
    """Pair the cases that both runs answered, and that were not edited in between.

    Where each run asked one model, the two models are compared, even if they differ; else each model with itself. What
    two models of one run were asked was not edited in between, even if a model has a prompt of its own.
    """
    old, new = before.results.results, now.results.results
    both = answered_pairs(old, new)
    same = [before.file.id == now.file.id or _is_same_case(*pair) for pair in both]
    pairs = [*compress(both, same)]
    return RunComparison(
        before=_run_title(before),
        now=_run_title(now),
        models=tuple(_models(pairs)),
        categories=tuple(_categories(pairs)),
        lost=tuple(new for old, new in pairs if _is_won(new, old)),
        won=tuple(new for old, new in pairs if _is_won(old, new)),
        edited=tuple(new for (_, new), is_same in zip(both, same, strict=True) if not is_same),
        only_before=sum(result.answered for result in old) - len(both),
        only_now=sum(result.answered for result in new) - len(both),
        scores=tuple(_score_changes(pairs)),
        mixed_up=tuple(_tool_confusions(pairs)),
    )


def of_one_model(run: Run, model: str) -> Run:
    """The run with the results of one model alone."""
    own = tuple(of_model(model, run.results.results))
    return replace(run, file=run.file._replace(models=(model,)), results=replace(run.results, results=own))


def compare_models(results: Iterable[Result], most: int) -> Sequence[ModelPair]:
    """Each model beside each other one, over the cases that both answered; of the first `most` models.

    The p-values are adjusted for the number of pairs.
    """
    answered = _answered_by_model(results)
    return _compared_pairs(answered, combinations([*answered][:most], 2))


def compare_neighbours(results: Iterable[Result], models: Sequence[str]) -> Sequence[ModelPair]:
    """Each of these models, best first, beside the one behind it: how much better it is, over the cases of both.

    The p-values are adjusted for the number of pairs.
    """
    behind = ((worse, better) for better, worse in pairwise(models))
    return _compared_pairs(_answered_by_model(results), behind)


def _answered_by_model(results: Iterable[Result]) -> AnsweredCases:
    """Of a suite's case, whatever file has it, the suite is the name."""
    answered: dict[str, dict[Hashable, Result]] = {}
    for result in results:
        if result.answered and result.model:
            answered.setdefault(result.model, {})[result.suite or result.file, result.case] = result
    return answered


def _compared_pairs(answered: AnsweredCases, pairs: Iterable[tuple[str, str]]) -> Sequence[ModelPair]:
    """The pairs of models that have answered some of the same cases."""
    found = []
    for before, now in pairs:
        own, other = answered.get(before, {}), answered.get(now, {})
        if common := [(old, other[case]) for case, old in own.items() if case in other]:
            found.append(ModelPair(before, now, _group(_model_title(before, now), "all", common)))
    adjusted = _adjusted([pair.group for pair in found])
    return [pair._replace(group=group) for pair, group in zip(found, adjusted, strict=True)]


def _is_same_case(old: Result, new: Result) -> bool:
    """Whether neither the messages nor the expectation of a case differ, as far as both runs say."""
    if old.stanza == new.stanza:
        return True
    before, now = _key_of(old), _key_of(new)
    return before is None or now is None or before.is_same_case(now)


def _is_won(old: Result, new: Result) -> bool:
    return answered_rightly(new) and not answered_rightly(old)


def calls_of(result: Result) -> tuple[Call, ...] | None:
    """The calls of the answer; None where they are not known, or could not be read to their end."""
    try:
        return parse_stanza(result.stanza).calls if result.stanza else None
    except ValueError:
        return None


def _key_of(result: Result) -> Key | None:
    try:
        digests = parse_stanza(result.stanza).digests if result.stanza else {}
    except ValueError:
        return None
    return Key.of(digests) if EXPECTATION in digests else None


def _pairing_key(old: Iterable[Result], new: Iterable[Result]) -> Callable[[Result], Hashable]:
    if all(len({result.model for result in results if result.answered}) <= 1 for results in (old, new)):
        return lambda result: (result.file, result.case)
    return lambda result: (result.file, result.case, result.model)


def _run_title(run: Run) -> str:
    provenance = run.file.provenance
    commit, branch = str(provenance.get("commit") or "")[:10], str(provenance.get("branch") or "")
    revision = " ".join(word for word in (branch, commit, "with changes" if provenance.get("dirty") else "") if word)
    parts = run.file.id, ", ".join(run.file.models), revision, origin_text(run.results)
    return ", ".join(filter(None, parts))


def _models(pairs: Sequence[ResultPair]) -> Iterable[ComparedGroup]:
    """Each model by itself; the p-values are adjusted for the number of models."""
    return _adjusted([_group(model, "all", own) for model, own in _by_model(pairs).items()])


def _adjusted(groups: Iterable[ComparedGroup]) -> Sequence[ComparedGroup]:
    """The groups, with p-values that are adjusted for their number."""
    known = dict(enumerate(groups))
    adjusted = adjust_by_holm({place: group.p_value for place, group in known.items()})
    return [
        replace(group, p_value=adjusted[place], is_significant=adjusted[place] <= SIGNIFICANCE_LEVEL)
        for place, group in known.items()
    ]


def _categories(pairs: Sequence[ResultPair]) -> Iterable[ComparedGroup]:
    """The categories of each model; the p-values are adjusted for their number."""
    for model, own in _by_model(pairs).items():
        categories = _grouped_by(own, lambda pair: pair[1].category)
        if len(categories) > 1:
            yield from _adjusted([_group(model, name, members) for name, members in categories.items()])


def _group(model: str, name: str, pairs: Sequence[ResultPair]) -> ComparedGroup:
    rates = [RatePair(first_answers(old), first_answers(new)) for old, new in pairs]
    return ComparedGroup(
        model=model,
        category=name,
        cases=len(pairs),
        before=sum(rate.before.share for rate in rates),
        now=sum(rate.now.share for rate in rates),
        lost=sum(_is_won(new, old) for old, new in pairs),
        won=sum(_is_won(old, new) for old, new in pairs),
        interval=difference_interval(rates),
        p_value=p_value_different(rates),
    )


def _by_model(pairs: Iterable[ResultPair]) -> dict[str, list[ResultPair]]:
    return _grouped_by(pairs, lambda pair: _model_title(pair[0].model, pair[1].model))


def _model_title(before: str, now: str) -> str:
    return now if before == now else f"{before} → {now}"


def _grouped_by(pairs: Iterable[ResultPair], name: Callable[[ResultPair], str]) -> dict[str, list[ResultPair]]:
    groups: dict[str, list[ResultPair]] = {}
    for pair in pairs:
        groups.setdefault(name(pair), []).append(pair)
    return groups


def _score_changes(pairs: Iterable[ResultPair]) -> Iterable[ScoreChange]:
    """The scores of both runs, over the cases that have them in both."""
    for model, own in _by_model(pairs).items():
        before, now = (
            score_rows(results) for results in zip(*(_with_common_scores(*pair) for pair in own), strict=True)
        )
        for old, new in zip(before, now, strict=True):
            if old.value is not None and new.value is not None:
                yield ScoreChange(model, new.tag, new.score, new.cases, old.value, new.value)


def _with_common_scores(old: Result, new: Result) -> ResultPair:
    """Both results, without the scores that only one of them has."""
    if not (old.scores or new.scores):
        return old, new
    common = set.intersection(*({(each.tag, each.score) for each in of.scores if each.numbers} for of in (old, new)))

    def reduced(result: Result) -> Result:
        return result._replace(scores=tuple(each for each in result.scores if (each.tag, each.score) in common))

    return reduced(old), reduced(new)


def _tool_confusions(pairs: Sequence[ResultPair]) -> Iterable[tuple[str, str, int, int]]:
    """Pairs of tools that are mixed up more or less often than before, largest change first."""
    before, now = confusion_counts(old for old, _ in pairs), confusion_counts(new for _, new in pairs)
    changed = [tools for tools in before | now if all(tools) and tools[0] != tools[1] and before[tools] != now[tools]]
    for tools in sorted(changed, key=lambda tools: -abs(now[tools] - before[tools]))[:_MOST_CONFUSIONS]:
        yield (*tools, before[tools], now[tools])
