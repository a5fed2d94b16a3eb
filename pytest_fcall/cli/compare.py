"""`fcall compare`: two runs paired case by case, with a significance test for each model."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from typing import TypeAlias

from pytest_fcall.cli.command_parser import command_parser
from pytest_fcall.cli.runs import open_runs
from pytest_fcall.reporting.answer_origin import origin_text
from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.run_comparison import ComparedGroup, RunComparison, comparison_lines
from pytest_fcall.reporting.score_tables import ScoreChange
from pytest_fcall.reporting.tool_confusion import confusion_counts
from pytest_fcall.session.result.kept_run import Run
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

_MOST_CONFUSIONS = 5
_MOST_CASES = 20

_EXAMPLES = """\
examples:
  fcall compare                                  the last two runs
  fcall compare 20261120-1412                    this run with the last one
  fcall compare main.json branch.json            two files, such as artifacts of two CI jobs

RUN is the path of a run file, or the beginning of its name in .fcall/runs, where pytest records each run. Exit code 1:
a model is significantly worse in the second run (p at most 0.05).
"""


def run(arguments: Sequence[str]) -> int:
    """Print the comparison; 1 where a model is significantly worse in the second run."""
    parser = command_parser("compare", "Compare two runs case by case.", _EXAMPLES)
    parser.add_argument("runs", nargs="*", metavar="RUN", help="a run file, or the beginning of its name")
    parser.add_argument(
        "--all", action="store_true", help=f"list all lost and won cases, not only {_MOST_CASES} of each"
    )
    options = parser.parse_args(arguments)
    if len(options.runs) > 2:
        parser.error("only two runs can be compared")
    before, now = open_runs(parser, options.runs, least=2)
    comparison = compare(before, now)
    width = shutil.get_terminal_size((100, 24)).columns
    print(*comparison_lines(comparison, width, None if options.all else _MOST_CASES), sep="\n")
    return int(any(model.difference < 0 and model.p_value <= SIGNIFICANCE_LEVEL for model in comparison.models))


def compare(before: Run, now: Run) -> RunComparison:
    """Pair the cases that both runs answered, and that were not edited in between.

    Where each run asked one model, the two models are compared, even if they differ; else each model with itself.
    """
    old, new = before.results.results, now.results.results
    key = _pairing_key(old, new)
    olds, news = ({key(result): result for result in results if result.answered} for results in (old, new))
    both = [(olds[name], result) for name, result in news.items() if name in olds]
    pairs = [pair for pair in both if _is_same_case(*pair)]
    return RunComparison(
        before=_run_title(before),
        now=_run_title(now),
        models=tuple(_models(pairs)),
        categories=tuple(_categories(pairs)),
        lost=tuple(new for old, new in pairs if _is_won(new, old)),
        won=tuple(new for old, new in pairs if _is_won(old, new)),
        edited=tuple(new for old, new in both if not _is_same_case(old, new)),
        only_before=len(olds) - len(both),
        only_now=len(news) - len(both),
        scores=tuple(_score_changes(pairs)),
        mixed_up=tuple(_tool_confusions(pairs)),
    )


def _is_same_case(old: Result, new: Result) -> bool:
    """Whether neither the messages nor the expectation of a case differ, as far as both runs say."""
    before, now = _key_of(old), _key_of(new)
    return before is None or now is None or before.is_same_case(now)


def _is_won(old: Result, new: Result) -> bool:
    return answered_rightly(new) and not answered_rightly(old)


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
    groups = [_group(model, "all", own) for model, own in _grouped_by(pairs, lambda pair: _model_title(*pair)).items()]
    adjusted = adjust_by_holm({group.model: group.p_value for group in groups})
    return [replace(group, p_value=adjusted[group.model]) for group in groups]


def _categories(pairs: Sequence[ResultPair]) -> Iterable[ComparedGroup]:
    """The categories of each model; the p-values are adjusted for their number."""
    for model, own in _grouped_by(pairs, lambda pair: _model_title(*pair)).items():
        categories = _grouped_by(own, lambda pair: pair[1].category)
        if len(categories) > 1:
            groups = [_group(model, name, members) for name, members in categories.items()]
            adjusted = adjust_by_holm({group.category: group.p_value for group in groups})
            yield from (replace(group, p_value=adjusted[group.category]) for group in groups)


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


def _model_title(old: Result, new: Result) -> str:
    return new.model if old.model == new.model else f"{old.model} → {new.model}"


def _grouped_by(pairs: Iterable[ResultPair], name: Callable[[ResultPair], str]) -> dict[str, list[ResultPair]]:
    groups: dict[str, list[ResultPair]] = {}
    for pair in pairs:
        groups.setdefault(name(pair), []).append(pair)
    return groups


def _score_changes(pairs: Iterable[ResultPair]) -> Iterable[ScoreChange]:
    """The scores of both runs, over the cases that have them in both."""
    for model, own in _grouped_by(pairs, lambda pair: _model_title(*pair)).items():
        before, now = (
            score_rows(results) for results in zip(*(_with_common_scores(*pair) for pair in own), strict=True)
        )
        for old, new in zip(before, now, strict=True):
            if old.value is not None and new.value is not None:
                yield ScoreChange(model, new.tag, new.score, new.cases, old.value, new.value)


def _with_common_scores(old: Result, new: Result) -> ResultPair:
    """Both results, without the scores that only one of them has."""
    common = set.intersection(*({(each.tag, each.score) for each in of.scores if each.numbers} for of in (old, new)))

    def reduced(result: Result) -> Result:
        return replace(result, scores=tuple(each for each in result.scores if (each.tag, each.score) in common))

    return reduced(old), reduced(new)


def _tool_confusions(pairs: Sequence[ResultPair]) -> Iterable[tuple[str, str, int, int]]:
    """Pairs of tools that are mixed up more or less often than before, largest change first."""
    before, now = confusion_counts(old for old, _ in pairs), confusion_counts(new for _, new in pairs)
    changed = [tools for tools in before | now if all(tools) and tools[0] != tools[1] and before[tools] != now[tools]]
    for tools in sorted(changed, key=lambda tools: -abs(now[tools] - before[tools]))[:_MOST_CONFUSIONS]:
        yield (*tools, before[tools], now[tools])
