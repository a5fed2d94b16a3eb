"""`fcall compare`: two runs paired case by case, what changed, and whether chance explains it."""

from __future__ import annotations

import shutil
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from typing import TypeAlias

from pytest_fcall.cli.runs import Run, open_runs
from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.run_comparison import ComparedGroup, RunComparison, comparison_lines
from pytest_fcall.reporting.score_tables import ScoreChange
from pytest_fcall.reporting.tool_confusion import confusion_counts
from pytest_fcall.session.result.scores import score_rows
from pytest_fcall.tracking.significance import Rate, RatePair, adjust_by_holm, difference_interval, p_value_different

SIGNIFICANT = 0.05
_MOST_CONFUSIONS = 5
"""So many pairs of tools are told of."""

ResultPair: TypeAlias = tuple[Result, Result]


def compare(before: Run, now: Run) -> RunComparison:
    """Pair the cases that both runs have an answer to.

    Where each run asked one model, the two are compared, even if they differ; else each model with itself.
    """
    old, new = before.results.results, now.results.results
    key = _pairing_key(old, new)
    olds, news = ({key(result): result for result in results if result.answered} for results in (old, new))
    both = [(olds[name], result) for name, result in news.items() if name in olds]
    return RunComparison(
        before=_run_title(before),
        now=_run_title(now),
        whole=_group("", "all", both, p_value_different(map(_rate_pair, both))),
        groups=tuple(_groups(both)),
        lost=tuple(new for old, new in both if old.right and not new.right),
        won=tuple(new for old, new in both if new.right and not old.right),
        only_before=len(olds) - len(both),
        only_now=len(news) - len(both),
        scores=tuple(_scores(both)),
        mixed_up=tuple(_tool_confusions(both)),
    )


def _tool_confusions(both: Sequence[ResultPair]) -> Iterable[tuple[str, str, int, int]]:
    """Tools taken for others more or less often than before, what changed most first."""
    before, now = confusion_counts(old for old, _ in both), confusion_counts(new for _, new in both)
    found = [pair for pair in before | now if all(pair) and pair[0] != pair[1] and before[pair] != now[pair]]
    for pair in sorted(found, key=lambda pair: -abs(now[pair] - before[pair]))[:_MOST_CONFUSIONS]:
        yield (*pair, before[pair], now[pair])


def _pairing_key(old: Iterable[Result], new: Iterable[Result]) -> Callable[[Result], Hashable]:
    if all(len({result.model for result in results if result.answered}) <= 1 for results in (old, new)):
        return lambda result: (result.file, result.case)
    return lambda result: (result.file, result.case, result.model)


def _groups(both: Sequence[ResultPair]) -> Iterable[ComparedGroup]:
    """Each model, and its categories; the chances of categories are adjusted, since there are many."""
    models = _grouped_by(both, lambda pair: _model_title(*pair))
    for model, whole in models.items():
        if len(models) > 1:
            yield _group(model, "all", whole, p_value_different(map(_rate_pair, whole)))
        categories = _grouped_by(whole, lambda pair: pair[1].category)
        chances = adjust_by_holm({name: p_value_different(map(_rate_pair, own)) for name, own in categories.items()})
        if len(categories) > 1:
            yield from (_group(model, name, own, chances[name]) for name, own in categories.items())


def _scores(both: Iterable[ResultPair]) -> Iterable[ScoreChange]:
    """The scores that both runs have, over the cases that have them in both."""
    for model, own in _grouped_by(both, lambda pair: _model_title(*pair)).items():
        before, now = (
            score_rows(results) for results in zip(*(_with_common_scores(*pair) for pair in own), strict=True)
        )
        for old, new in zip(before, now, strict=True):
            if old.value is not None and new.value is not None:
                yield ScoreChange(model, new.tag, new.score, new.cases, old.value, new.value)


def _with_common_scores(old: Result, new: Result) -> ResultPair:
    """Both, with those scores that both have."""
    both = set.intersection(*({(each.tag, each.score) for each in of.scores if each.numbers} for of in (old, new)))
    return _with_scores(old, both), _with_scores(new, both)


def _with_scores(result: Result, names: set[tuple[str, str]]) -> Result:
    return replace(result, scores=tuple(each for each in result.scores if (each.tag, each.score) in names))


def _group(model: str, name: str, both: Sequence[ResultPair], chance: float) -> ComparedGroup:
    pairs = [_rate_pair(each) for each in both]
    return ComparedGroup(
        model=model,
        category=name,
        cases=len(pairs),
        before=sum(old.right for old, _ in both),
        now=sum(new.right for _, new in both),
        lost=sum(pair.difference < 0 for pair in pairs),
        won=sum(pair.difference > 0 for pair in pairs),
        interval=difference_interval(pairs),
        p_value=chance,
    )


def _rate_pair(both: ResultPair) -> RatePair:
    return RatePair(*(Rate(int(result.right), 1) for result in both))


def _model_title(old: Result, new: Result) -> str:
    return new.model if old.model == new.model else f"{old.model} → {new.model}"


def _grouped_by(both: Iterable[ResultPair], name: Callable[[ResultPair], str]) -> dict[str, list[ResultPair]]:
    parts: dict[str, list[ResultPair]] = {}
    for each in both:
        parts.setdefault(name(each), []).append(each)
    return parts


def _run_title(run: Run) -> str:
    told = run.file.provenance
    commit, branch = str(told.get("commit") or "")[:10], str(told.get("branch") or "")
    revision = " ".join(word for word in (branch, commit, "with changes" if told.get("dirty") else "") if word)
    models = ", ".join(run.file.models)
    return ", ".join(part for part in (run.file.id, models, revision) if part)


_EXAMPLES = """\
examples:
  fcall compare                                  the last run with the one before it
  fcall compare 20261120-1412                    the last run with this one
  fcall compare main.json branch.json            two files, say from two jobs of CI

Each run of pytest is kept in .fcall/runs below the root folder; a run is named by the beginning of its name there, or
by a path. Exit code 1 says that the second run is worse, and that chance does not explain it (p at most 0.05).
"""


def run(arguments: Sequence[str]) -> int:
    """Print the comparison; 1 where the second run is significantly worse."""
    parser = ArgumentParser(
        prog="fcall compare",
        description="Compare two runs case by case.",
        epilog=_EXAMPLES,
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("runs", nargs="*", metavar="RUN", help="a run's file, or the beginning of its name")
    parser.add_argument("--all", action="store_true", help="list every case that was lost or won, not only 20 each")
    options = parser.parse_args(arguments)
    if len(options.runs) > 2:
        parser.error("two runs are compared, not more")
    before, now = open_runs(parser, options.runs, newest=2)
    comparison = compare(before, now)
    width = shutil.get_terminal_size((100, 24)).columns
    print(*comparison_lines(comparison, width, None if options.all else 20), sep="\n")
    whole = comparison.whole
    return int(whole.difference < 0 and whole.p_value <= SIGNIFICANT)
