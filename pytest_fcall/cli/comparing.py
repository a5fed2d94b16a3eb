"""Two runs, paired case by case."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from typing import TypeAlias

from pytest_fcall.cli.runs import Run
from pytest_fcall.plugin.scoring import score_rows
from pytest_fcall.reporting.comparison import Comparison, Group
from pytest_fcall.reporting.confusion import confusion
from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.scores import ScoreChange
from pytest_fcall.tracking.change import differs, interval
from pytest_fcall.tracking.holm import holm
from pytest_fcall.tracking.pairs import Pair, Rate

SIGNIFICANT = 0.05
_MIXED = 5
"""So many pairs of tools are told of."""

Both: TypeAlias = tuple[Result, Result]


def compare(before: Run, now: Run) -> Comparison:
    """Pair the cases that both runs have an answer to.

    Where each run asked one model, the two are compared, even if they differ; else each model with itself.
    """
    old, new = before.results.results, now.results.results
    key = _key(old, new)
    olds, news = ({key(result): result for result in results if result.answered} for results in (old, new))
    both = [(olds[name], result) for name, result in news.items() if name in olds]
    return Comparison(
        before=_title(before),
        now=_title(now),
        whole=_group("", "all", both, differs(map(_pair, both))),
        groups=tuple(_groups(both)),
        lost=tuple(new for old, new in both if old.right and not new.right),
        won=tuple(new for old, new in both if new.right and not old.right),
        only_before=len(olds) - len(both),
        only_now=len(news) - len(both),
        scores=tuple(_scores(both)),
        mixed_up=tuple(_mixed_up(both)),
    )


def _mixed_up(both: Sequence[Both]) -> Iterable[tuple[str, str, int, int]]:
    """Tools taken for others more or less often than before, what changed most first."""
    before, now = confusion(old for old, _ in both), confusion(new for _, new in both)
    found = [pair for pair in before | now if all(pair) and pair[0] != pair[1] and before[pair] != now[pair]]
    for pair in sorted(found, key=lambda pair: -abs(now[pair] - before[pair]))[:_MIXED]:
        yield (*pair, before[pair], now[pair])


def _key(old: Iterable[Result], new: Iterable[Result]) -> Callable[[Result], Hashable]:
    if all(len({result.model for result in results if result.answered}) <= 1 for results in (old, new)):
        return lambda result: (result.file, result.case)
    return lambda result: (result.file, result.case, result.model)


def _groups(both: Sequence[Both]) -> Iterable[Group]:
    """Each model, and its categories; the chances of categories are adjusted, since there are many."""
    models = _split(both, lambda pair: _model(*pair))
    for model, whole in models.items():
        if len(models) > 1:
            yield _group(model, "all", whole, differs(map(_pair, whole)))
        categories = _split(whole, lambda pair: pair[1].category)
        chances = holm({name: differs(map(_pair, own)) for name, own in categories.items()})
        if len(categories) > 1:
            yield from (_group(model, name, own, chances[name]) for name, own in categories.items())


def _scores(both: Iterable[Both]) -> Iterable[ScoreChange]:
    """The scores that both runs have, over the cases that have them in both."""
    for model, own in _split(both, lambda pair: _model(*pair)).items():
        before, now = (score_rows(results) for results in zip(*(_alike(*pair) for pair in own), strict=True))
        for old, new in zip(before, now, strict=True):
            if old.value is not None and new.value is not None:
                yield ScoreChange(model, new.tag, new.score, new.cases, old.value, new.value)


def _alike(old: Result, new: Result) -> Both:
    """Both, with those scores that both have."""
    both = set.intersection(*({(each.tag, each.score) for each in of.scores if each.numbers} for of in (old, new)))
    return _only(old, both), _only(new, both)


def _only(result: Result, names: set[tuple[str, str]]) -> Result:
    return replace(result, scores=tuple(each for each in result.scores if (each.tag, each.score) in names))


def _group(model: str, name: str, both: Sequence[Both], chance: float) -> Group:
    pairs = [_pair(each) for each in both]
    return Group(
        model=model,
        name=name,
        cases=len(pairs),
        before=sum(old.right for old, _ in both),
        now=sum(new.right for _, new in both),
        lost=sum(pair.difference < 0 for pair in pairs),
        won=sum(pair.difference > 0 for pair in pairs),
        interval=interval(pairs),
        chance=chance,
    )


def _pair(both: Both) -> Pair:
    return Pair(*(Rate(int(result.right), 1) for result in both))


def _model(old: Result, new: Result) -> str:
    return new.model if old.model == new.model else f"{old.model} → {new.model}"


def _split(both: Iterable[Both], name: Callable[[Both], str]) -> dict[str, list[Both]]:
    parts: dict[str, list[Both]] = {}
    for each in both:
        parts.setdefault(name(each), []).append(each)
    return parts


def _title(run: Run) -> str:
    told = run.file.provenance
    commit, branch = str(told.get("commit") or "")[:10], str(told.get("branch") or "")
    revision = " ".join(word for word in (branch, commit, "with changes" if told.get("dirty") else "") if word)
    models = ", ".join(run.file.models)
    return ", ".join(part for part in (run.file.id, models, revision) if part)
