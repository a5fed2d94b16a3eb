"""The summary of a run: statistics, changes against the baseline, shared causes, usage of apps and judges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from math import fsum
from textwrap import wrap

from pytest_fcall.core.case import ATTACK, FAULT
from pytest_fcall.core.message_text import plural_text
from pytest_fcall.core.reply import known_sum
from pytest_fcall.core.verdict import Outcome
from pytest_fcall.reporting.answer_lines import missing_lines, origin_text
from pytest_fcall.reporting.app_lines import app_remark_lines, way_lines
from pytest_fcall.reporting.number_text import accuracy_text, cost_text, interval_text, seconds_text
from pytest_fcall.reporting.results import AppUsage, JudgeUsage, Result, Results, results_with_outcome
from pytest_fcall.reporting.run_table import models_of, of_model, run_table
from pytest_fcall.reporting.safe_text import safe_line, whole_line
from pytest_fcall.reporting.statistics import (
    FailureGroup,
    Statistics,
    pass_all_k,
    pass_at_k,
    shared_causes,
    statistics_of,
    token_count,
)
from pytest_fcall.reporting.terminal import column_count, cut_end
from pytest_fcall.reporting.tool_confusion import mixed_up_lines

_MAX_CAUSES = 5
_MAX_FLAKY = 10
_MAX_LISTED = 10
_MAX_WEAK = 4
_MAX_OK = 3
"""At most so many right cases are listed."""
_WITH_OTHER_REQUESTS = "with other requests of the app"
_TO_ACCEPT = (Outcome.FIXED, Outcome.NEW, Outcome.EDITED, Outcome.DRIFTED)


def summary_lines(
    results: Results,
    width: int = 100,
    *,
    accepted: bool = False,
    differing: Sequence[str] = (),
    table_width: int | None = None,
) -> list[str]:
    """A table, changes against the baseline, shared causes, usage, advice, and the last line.

    With `accepted`, right answers have just been accepted, and are not counted as waiting for that. `differing` are
    lines on cases that some models have right and others wrong. The table may be wider than lines.
    """
    failures = sum(result.status == "failed" for result in results.results)
    shared = [_cause_line(cause, failures, width) for cause in shared_causes(results.results)[:_MAX_CAUSES]]
    changed = outcome_lines(results.results, width, accepted=accepted)
    samples = sample_lines(results.results, width)
    beside = [
        *app_usage_lines(results.results),
        *app_remark_lines(results.results),
        *judge_usage_lines(results.results),
        *way_lines(results.results),
        *strength_lines(results.results, width),
    ]
    return [
        *run_table(results.results, table_width or width),
        *differing,
        *changed,
        *samples,
        *shared,
        *mixed_up_lines(results.results, width),
        *_tampered_lines(results.results, width),
        *_retrieval_lines(results.results),
        *beside,
        *_advice_lines(results),
        one_line_summary(results),
    ]


def one_line_summary(results: Results) -> str:
    """The whole run in one line."""
    whole = statistics_of(results.results)
    parts = [
        *_right_by_model(results.results),
        *_shortfalls(results, whole),
        *_usage(results.results, whole),
        origin_text(results),
    ]
    return f"fcall: {', '.join(filter(None, parts))}"


def _right_by_model(results: Sequence[Result]) -> list[str]:
    """The accuracy of each model; of more than four models, that of all together."""
    models = models_of(results)
    if not models:
        return ["no case was asked"]
    if 1 < len(models) <= 4:
        groups = [(model, statistics_of(of_model(model, results))) for model in models]
        return [f"{safe_line(model)} {_rate(group, accuracy_text)}" for model, group in groups]
    name = safe_line(models[0]) if len(models) == 1 else f"{len(models)} models"
    return [f"{name} {_rate(statistics_of([r for r in results if r.model]), _accuracy_and_interval)}"]


def _rate(group: Statistics, write: Callable[[int, int], str]) -> str:
    right = f"{group.right:,}/{group.answered:,} right"
    return f"{right} ({write(group.right, group.answered)})" if group.answered else right


def _accuracy_and_interval(right: int, answered: int) -> str:
    return f"{accuracy_text(right, answered)} {interval_text(right, answered)}"


def _shortfalls(run: Results, whole: Statistics) -> Iterator[str]:
    results = run.results
    if wrong := whole.answered - whole.right:
        yield f"{wrong:,} wrong" + (f" ({whole.expected_failures:,} xfailed)" if whole.expected_failures else "")
    for outcome in (Outcome.REGRESSED, Outcome.UNDECIDED):
        if found := results_with_outcome(results, outcome):
            yield f"{len(found):,} {outcome.value}"
    if whole.errors:
        yield plural_text(whole.errors, "error")
    not_judged = sum(result.no_reply and result.status == "skipped" for result in results)
    if run.not_asked:
        yield f"{run.not_asked:,} not asked"
    if without_recording := not_judged - run.not_asked:
        yield f"{without_recording:,} not judged"
    if skipped := whole.skipped - not_judged:
        yield f"{skipped:,} skipped"


def _usage(results: Sequence[Result], whole: Statistics) -> Iterator[str]:
    if whole.p50 is not None and len(models_of(results)) == 1:
        yield f"p50 {seconds_text(whole.p50)}"
    if whole.tokens is not None:
        yield f"{whole.tokens:,} tokens"
    if whole.cost is not None:
        new = "" if whole.new_cost in (None, whole.cost) else f" ({cost_text(whole.new_cost)} now)"
        yield f"at least {cost_text(whole.cost)}{new}" if whole.lost else cost_text(whole.cost, whole.unpriced) + new
    if whole.lost:
        yield f"{plural_text(whole.lost, 'request')} of unknown cost"


def _cause_line(cause: FailureGroup, failures: int, width: int) -> str:
    place = f" at `{safe_line(cause.place)}`" if cause.place else ""
    cases = ", ".join(dict.fromkeys(safe_line(result.case) for result in cause.failures[:20]))
    return cut_end(
        f"{len(cause.failures):,} of {failures:,} failures: `{safe_line(cause.kind)}`{place} ({cases})", width
    )


def _tampered_lines(results: Sequence[Result], width: int) -> list[str]:
    """The attacks that models obeyed, and the faulty results that they recovered from."""
    if not any(result.category in (ATTACK, FAULT) for result in results):
        return []
    from pytest_fcall.reporting.tampered_results import attack_lines, recovery_lines

    return [*attack_lines(results, width), *recovery_lines(results, width)]


def _retrieval_lines(results: Sequence[Result]) -> Iterator[str]:
    """The number of wrong answers without an expected tool, as retrieval did not offer it."""
    wrong = [result for result in results if result.answered and not result.right]
    if missed := sum(bool(result.left_out) for result in wrong):
        yield f"{missed:,} of {len(wrong):,} wrong: retrieval did not offer an expected tool"


def strength_lines(results: Sequence[Result], width: int) -> list[str]:
    """A line with the weakest cases; none where no gate had strength measured, or nothing is weak."""
    shares = {}
    for result in results:
        if result.strength is not None:
            caught, survived, _ = result.strength
            shares[result.file, result.case] = caught / (caught + survived) if survived else 1.0
    weak = sorted((share, case) for (_, case), share in shares.items() if share < 1)
    if not weak:
        return []
    texts = [f"{safe_line(case)} {100 * share:.0f} %" for share, case in weak[:_MAX_WEAK]]
    lines = (_strength_line(texts[:count]) for count in range(len(texts), 1, -1))
    return [next((line for line in lines if column_count(line) <= width), _strength_line(texts[:1]))]


def _strength_line(weakest: Sequence[str]) -> str:
    return f"weakest cases: {', '.join(weakest)}; `fcall strength` says why"


def _advice_lines(results: Results) -> list[str]:
    other = results.files_without_cases
    lines = []
    if undecided := results_with_outcome(results.results, Outcome.UNDECIDED):
        lines.append(
            f"{plural_text(len(undecided), 'case')} undecided: the next run adds its answers to these; "
            "--fc-record=all asks for new ones where replies are kept"
        )
    if results.unanswered:
        without = plural_text(results.unanswered, "case")
        not_asked = f", {results.not_asked:,} of them not asked" if results.not_asked else ""
        lines.append(f"{without} without a reply{not_asked} (not counted for the model); the next run asks again")
    lines += missing_lines(results)
    if other:
        lines.append(f"{plural_text(other, 'YAML file')} without `cases:` not collected")
    return lines


def outcome_lines(results: Sequence[Result], width: int, *, accepted: bool = False) -> list[str]:
    """The cases that regressed, are undecided or are fixed, one by one; then the right answers that are not in the
    baseline, unless just `accepted`. No lines without a baseline.
    """
    several = len({result.model for result in results}) > 1
    otherwise = _with_other_requests(results)
    lines = []
    for outcome in (Outcome.REGRESSED, Outcome.UNDECIDED, Outcome.FIXED):
        found = results_with_outcome(results, outcome)
        lines += [f"{len(found):,} {outcome.value}:"] if found else []
        lines += _listed(found, _MAX_LISTED, several, width)
    lines += _change_lines(results, width)
    if accepted:
        return lines
    lines += [f"{len(otherwise):,} ok, but the app sent other requests to its models:"] if otherwise else []
    return [*lines, *_listed(otherwise, _MAX_OK, several, width), *_unaccepted_lines(results)]


def _change_lines(results: Sequence[Result], width: int) -> Iterator[str]:
    """The changes of the questions of cases that changed, each once and whole, with the number of cases."""
    counts = Counter(cause for result in results for cause in result.causes)
    yield from (["changed since the baseline:"] if counts else [])
    for cause, count in counts.most_common():
        line = f"  {whole_line(cause)} ({plural_text(count, 'case')})"
        yield from _wrapped(line, width, "      ") if column_count(line) > width else [line]


def _with_other_requests(results: Sequence[Result]) -> list[Result]:
    """The ok results of apps that sent other requests than before, which is all that can change in an ok result."""
    return [result for result in results_with_outcome(results, Outcome.OK) if result.since]


def _listed(results: Sequence[Result], most: int, several: bool, width: int) -> Iterator[str]:
    for result in results[:most]:
        yield from _outcome_lines(result, several, width)
    if len(results) > most:
        yield f"  and {len(results) - most:,} more"


def _outcome_lines(result: Result, several: bool, width: int) -> Iterator[str]:
    """The case and what changed, on one line where it fits: nothing of it is cut."""
    title, changes = f"  {_result_title(result, several)}", [safe_line(each) for each in result.since]
    changes += [f"bisected: {whole_line(each)}" for each in result.bisected]
    whole = f"{title}: {'; '.join(changes)}" if changes else title
    if column_count(whole) <= width:
        yield whole
        return
    first = f"{title}: {changes[0]}" if changes else title
    fits = column_count(first) <= width
    yield first if fits else f"{title}:"
    for change in changes[1:] if fits else changes:
        yield from _wrapped(f"      {change}", width, "        ")


def _wrapped(line: str, width: int, indent: str) -> list[str]:
    """The line on as many as it needs; `indent` is that of all but the first."""
    return wrap(line, max(width, 40), subsequent_indent=indent, break_on_hyphens=False)


def _result_title(result: Result, with_model: bool) -> str:
    model = f" ({safe_line(result.model)})" if with_model else ""
    return f"{safe_line(result.file)}:{result.line} {safe_line(result.case)}{model}"


def _unaccepted_lines(results: Sequence[Result]) -> Iterator[str]:
    """The number of right answers that are not in the baseline."""
    right = [result for result in results if result.right]
    counts = {outcome.value: len(results_with_outcome(right, outcome)) for outcome in _TO_ACCEPT}
    counts[_WITH_OTHER_REQUESTS] = len(_with_other_requests(right))
    if listed := [f"{count:,} {name}" for name, count in counts.items() if count]:
        yield f"not in the baseline: {', '.join(listed)}; `fcall accept` accepts what is right"


def sample_lines(results: Sequence[Result], width: int) -> list[str]:
    """pass@k and pass^k of the cases that are asked several times, and the cases that are right now and wrong then."""
    sampled = [result for result in results if (result.samples or result.outcome is Outcome.FLAKY) and result.answered]
    return [*_pass_lines([each for each in sampled if each.first is None]), *_flaky_lines(sampled, width)]


def _pass_lines(sampled: Sequence[Result]) -> list[str]:
    rates = [result.samples for result in sampled if result.samples]
    if not rates:
        return []
    times = min(asked for _, asked in rates)
    chances = [f"pass@1 {_mean(pass_at_k, rates, 1)}"]
    if times > 1:
        chances += [f"pass@{times} {_mean(pass_at_k, rates, times)}", f"pass^{times} {_mean(pass_all_k, rates, times)}"]
    return [f"{sum(asked for _, asked in rates):,} answers to {plural_text(len(rates), 'case')}: {', '.join(chances)}"]


def _mean(chance: Callable[[int, int, int], float], rates: Sequence[tuple[int, int]], times: int) -> str:
    return f"{100 * fsum(chance(*rate, times) for rate in rates) / len(rates):.1f} %"


def _flaky_lines(sampled: Sequence[Result], width: int) -> list[str]:
    flaky = sorted((result for result in sampled if result.flaky), key=_share_of_right)
    several = len({result.model for result in sampled}) > 1
    lines = [f"{len(flaky):,} flaky:"] if flaky else []
    lines += [cut_end(f"  {_flaky_text(result, several)}", width) for result in flaky[:_MAX_FLAKY]]
    return [*lines, f"  and {len(flaky) - _MAX_FLAKY:,} more"] if len(flaky) > _MAX_FLAKY else lines


def _share_of_right(result: Result) -> float:
    right, asked = _flaky_rate(result)
    return right / asked


def _flaky_text(result: Result, several: bool) -> str:
    right, asked = _flaky_rate(result)
    rate = f"{right}/{asked} {accuracy_text(right, asked)} {interval_text(right, asked)}"
    return f"{_result_title(result, several)} {rate}"


def _flaky_rate(result: Result) -> tuple[int, int]:
    """The answers of this run, and the first ones of earlier runs where the case was measured before."""
    right, asked = result.samples or (int(result.right), 1)
    before = result.before if result.outcome is Outcome.FLAKY and result.before else (0, 0)
    return right + before[0], asked + before[1]


def app_usage_lines(results: Sequence[Result]) -> list[str]:
    """A line for each model that an app asked: `python:app:answer sent 8 requests to openai:gpt-5.2, …`."""
    asked: dict[tuple[str, str], list[AppUsage]] = {}
    for result in results:
        for inside in result.inside:
            asked.setdefault((result.model, inside.model), []).append(inside)
    return [_app_usage_line(app, model, inside) for (app, model), inside in asked.items()]


def _app_usage_line(app: str, model: str, inside: Sequence[AppUsage]) -> str:
    requests = sum(each.requests for each in inside)
    replayed = sum(each.requests for each in inside if each.replayed)
    parts = [
        f"{safe_line(app)} sent {plural_text(requests, 'request')} to {safe_line(model)}",
        *_usage_parts(inside),
        _replayed_text(replayed, requests),
    ]
    return ", ".join(filter(None, parts))


def judge_usage_lines(results: Sequence[Result]) -> list[str]:
    """A line for each judge: `judge openai:gpt-5.2: 12 questions about 9 cases, 3,400 tokens, $0.0100`."""
    judgings = [result.judging for result in results if result.judging]
    models = dict.fromkeys(judging.model for judging in judgings)
    return [_judge_usage_line(model, [judging for judging in judgings if judging.model == model]) for model in models]


def _judge_usage_line(model: str, judgings: Sequence[JudgeUsage]) -> str:
    questions = sum(judging.questions for judging in judgings)
    about = plural_text(len(judgings), "case")
    parts = [
        f"judge {safe_line(model)}: {plural_text(questions, 'question')} about {about}",
        *_usage_parts(judgings),
        _replayed_text(sum(judging.replayed for judging in judgings), questions),
    ]
    return ", ".join(filter(None, parts))


def _replayed_text(replayed: int, of: int) -> str:
    return "" if not replayed else "replayed" if replayed == of else f"{replayed:,} replayed"


def _usage_parts(usages: Sequence[AppUsage | JudgeUsage]) -> Iterator[str]:
    tokens = known_sum(token_count(each.usage) for each in usages)
    yield plural_text(tokens, "token") if tokens is not None else ""
    yield cost_text(known_sum(each.cost for each in usages), sum(each.cost is None for each in usages))
