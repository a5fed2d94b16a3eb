"""What is said after the last case: figures, and where to start mending."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from pytest_fcall.core import Outcome
from pytest_fcall.reporting.causes import Cause, causes
from pytest_fcall.reporting.columns import head
from pytest_fcall.reporting.confusion import mixed_up
from pytest_fcall.reporting.figures import (
    Figures,
    accuracy_text,
    age_text,
    cost_text,
    count_text,
    figures,
    interval_text,
    seconds_text,
    speed_text,
)
from pytest_fcall.reporting.insides import inside_lines
from pytest_fcall.reporting.judges import judge_lines
from pytest_fcall.reporting.outcomes import of_outcome, outcome_lines
from pytest_fcall.reporting.results import Result, Results
from pytest_fcall.reporting.safe import safe_line
from pytest_fcall.reporting.samples import sample_lines
from pytest_fcall.reporting.table import table_lines

_FIGURES = ("right", "accuracy", "95 %", "errors", "cost", "p50", "p95", "max", "tokens", "tok/s")
_CAUSES = 5


def summary_lines(results: Results, width: int = 100, *, accepted: bool = False) -> list[str]:
    """A table by model and category, what changed, the likeliest causes, what was left aside, and the last line.

    A table of one row is left out, since the last line says the same. With `accepted`, what is right is in the
    baseline by now.
    """
    rows = [row for model in _models(results.results) for row in _model_rows(model, results.results)]
    table = table_lines(("model", "category", *_FIGURES), rows, texts=2, width=width) if len(rows) > 1 else []
    failures = sum(result.status == "failed" for result in results.results)
    shared = [_cause_line(cause, failures, width) for cause in causes(results.results)[:_CAUSES]]
    changed = outcome_lines(results.results, width, accepted=accepted)
    samples = sample_lines(results.results, width)
    beside = [*inside_lines(results.results), *judge_lines(results.results)]
    missed = _left_out(results.results)
    mixed = mixed_up(results.results, width)
    return [*table, *changed, *samples, *shared, *mixed, *missed, *beside, *_aside(results), last_line(results)]


def file_lines(results: Results, width: int = 100) -> list[str]:
    """The table by model and file."""
    rows = []
    for model in _models(results.results):
        own = _of_model(model, results.results)
        rows += _rows(model, own, _groups(own, lambda result: result.file))
    return table_lines(("model", "file", *_FIGURES), rows, texts=2, width=width)


def last_line(results: Results) -> str:
    """The run in one line."""
    whole = figures(results.results)
    parts = [*_scores(results.results), *_shortfalls(results.results, whole), *_spent(results.results, whole)]
    return f"fcall: {', '.join(parts)}"


def _scores(results: Sequence[Result]) -> list[str]:
    """What each model got right; of many models, what they got right together."""
    models = _models(results)
    if not models:
        return ["no case was asked"]
    if 1 < len(models) <= 4:
        groups = [(model, figures(_of_model(model, results))) for model in models]
        return [f"{safe_line(model)} {_rate(group, accuracy_text)}" for model, group in groups]
    name = safe_line(models[0]) if len(models) == 1 else f"{len(models)} models"
    return [f"{name} {_rate(figures([r for r in results if r.model]), _accuracy_and_interval)}"]


def _rate(group: Figures, write: Callable[[int, int], str]) -> str:
    right = f"{group.right:,}/{group.answered:,} right"
    return f"{right} ({write(group.right, group.answered)})" if group.answered else right


def _accuracy_and_interval(right: int, of: int) -> str:
    return f"{accuracy_text(right, of)} {interval_text(right, of)}"


def _shortfalls(results: Sequence[Result], whole: Figures) -> Iterator[str]:
    if wrong := whole.answered - whole.right:
        yield f"{wrong:,} wrong" + (f" ({whole.expected_failures:,} xfailed)" if whole.expected_failures else "")
    if regressed := of_outcome(results, Outcome.REGRESSED):
        yield f"{len(regressed):,} regressed"
    if whole.errors:
        yield f"{whole.errors:,} {'error' if whole.errors == 1 else 'errors'}"
    if whole.skipped:
        yield f"{whole.skipped:,} skipped"


def _spent(results: Sequence[Result], whole: Figures) -> Iterator[str]:
    if whole.p50 is not None and len(_models(results)) == 1:
        yield f"p50 {seconds_text(whole.p50)}"
    if whole.tokens is not None:
        yield f"{whole.tokens:,} tokens"
    if whole.cost is not None:
        new = "" if whole.new_cost in (None, whole.cost) else f" ({cost_text(whole.new_cost)} now)"
        yield cost_text(whole.cost, whole.unpriced) + new
    if replayed := sum(result.answered and result.replayed for result in results):
        yield "replayed" if replayed == whole.answered else f"{replayed:,} replayed"


def _models(results: Sequence[Result]) -> list[str]:
    """The models in order of appearance; a faulty case may have none."""
    return list(dict.fromkeys(result.model for result in results if result.model))


def _of_model(model: str, results: Sequence[Result]) -> list[Result]:
    return [result for result in results if result.model == model]


def _groups(results: Sequence[Result], name: Callable[[Result], str]) -> dict[str, list[Result]]:
    groups: dict[str, list[Result]] = {}
    for result in results:
        groups.setdefault(name(result), []).append(result)
    return groups


def _model_rows(model: str, results: Sequence[Result]) -> list[list[str]]:
    """All cases of the model, then each category where not everything is right."""
    own = _of_model(model, results)
    groups = _groups(own, lambda result: result.category)
    return _rows(model, own, {} if figures(own).clean or len(groups) == 1 else groups)


def _rows(model: str, results: Sequence[Result], groups: Mapping[str, Sequence[Result]]) -> list[list[str]]:
    return [
        _row(safe_line(model), "all", figures(results)),
        *(_row("", safe_line(name), figures(group)) for name, group in groups.items()),
    ]


def _row(model: str, name: str, group: Figures) -> list[str]:
    return [
        model,
        name,
        f"{group.right:,}/{group.answered:,}",
        accuracy_text(group.right, group.answered),
        interval_text(group.right, group.answered),
        count_text(group.errors or None),
        cost_text(group.cost, group.unpriced),
        seconds_text(group.p50),
        seconds_text(group.p95),
        seconds_text(group.slowest),
        count_text(group.tokens),
        speed_text(group.speed),
    ]


def _cause_line(cause: Cause, failures: int, width: int) -> str:
    place = f" at `{safe_line(cause.place)}`" if cause.place else ""
    cases = ", ".join(dict.fromkeys(safe_line(result.case) for result in cause.failures[:20]))
    return head(f"{len(cause.failures):,} of {failures:,} failures: `{safe_line(cause.kind)}`{place} ({cases})", width)


def _left_out(results: Sequence[Result]) -> Iterator[str]:
    """How often the model was not offered what it was to call."""
    wrong = [result for result in results if result.answered and not result.right]
    if missed := sum(bool(result.left_out) for result in wrong):
        yield f"{missed:,} of {len(wrong):,} wrong: retrieval missed a tool that was to be called"


def _aside(results: Results) -> list[str]:
    missing, other = results.missing_recordings, results.files_without_cases
    lines = []
    if results.oldest_reply is not None:
        lines.append(f"kept replies are up to {age_text(results.oldest_reply)} old: --fc-record=all asks again")
    if results.unanswered:
        lines.append(
            f"{results.unanswered:,} without a reply, which says nothing about the model: the next run asks again"
        )
    if missing:
        lines.append(f"{missing:,} without a recorded reply: --fc-live asks the model")
    if other:
        lines.append(f"{other:,} YAML {'file' if other == 1 else 'files'} without `cases:` not collected")
    return lines
