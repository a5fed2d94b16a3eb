"""The scores of a run: those beside verdicts, and what suites make of them and of their categories."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from pytest_fcall.core.extension import (
    Figure,
    Measured,
    Suite,
    averages_of,
    case_figures_of,
    figure_names_of,
    figures_of,
    tables_of,
)
from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.reporting.score_tables import own_table_lines, short_suite_score_lines, suite_score_lines
from pytest_fcall.tracking.gate_figures import GroupScore

Suites: TypeAlias = Mapping[str, Suite]


def score_lines(suites: Suites, results: Sequence[Result], width: int) -> list[str]:
    """The scores of each suite in a table, a column a model, and those beside verdicts in one of their own."""
    lines = [line for name, figures in _by_suite(suites, results) for line in suite_score_lines(name, figures, width)]
    if not any(result.scores for result in results):
        return lines
    from pytest_fcall.session.result.scores import score_table

    return [*lines, *_own_tables(suites, results, width), *score_table(results, width)]


def short_score_lines(suites: Suites, results: Sequence[Result], width: int) -> list[str]:
    """The scores of each suite in a line, for runs that say little."""
    return [
        line for name, figures in _by_suite(suites, results) for line in short_suite_score_lines(name, figures, width)
    ]


def unknown_suite_lines(suites: Suites, results: Sequence[Result]) -> list[str]:
    """A line for each suite that is not known here, so that its scores cannot be computed."""
    unknown = [name for name in _suite_names(results) if name not in suites]
    return [f"{safe_line(name)}: only the project that adds this suite can compute its scores" for name in unknown]


def score_names(suites: Suites) -> Iterator[str]:
    """The names of all scores that gates may bound; those of suites, which must be imported for it, come last."""
    from pytest_fcall.conversation.named_scores import SCORES

    yield from SCORES
    for suite in suites.values():
        yield from figure_names_of(suite)


def combined_score(name: str, results: Sequence[Result], suites: Suites, scope: Sequence[str]) -> GroupScore:
    """A score over all of these results; of a suite's scores of one name that which is about a name in `scope`."""
    from pytest_fcall.conversation.named_scores import score_value

    # A case has the same score under each of its tags, and counts once.
    scored = [(result, {each.score: each.numbers for each in result.scores}) for result in results]
    if own := [(result, numbers[name]) for result, numbers in scored if name in numbers]:
        value = score_value(name, [numbers for _, numbers in own if numbers])
        return GroupScore(value, sum(result.no_reply for result, _ in own), "there is nothing to divide by")
    found = list(_figures_named(name, suites, results))
    meant = [each for each in found if each[1].of in scope] or found
    if not meant:
        return GroupScore(None, sum(result.no_reply for result in results))
    suite, figure = meant[0]
    if len(meant) > 1:
        title = figure.title if figure.of else f"{name}[{suite}]"
        return GroupScore(None, 0, f"there are several, such as {safe_line(title)}")
    missing = sum(result.no_reply for result in results if result.suite == suite)
    return GroupScore(figure.share, missing, "not all that it is made of was asked")


def tallies(results: Sequence[Result]) -> dict[str, tuple[int, int]]:
    """By category, how many of how many answers are right."""
    return _counted((result.category, result) for result in results)


def _counted(named: Iterable[tuple[str, Result]]) -> dict[str, tuple[int, int]]:
    found: dict[str, tuple[int, int]] = {}
    for name, result in named:
        if result.answered:
            right, asked = found.get(name, (0, 0))
            found[name] = right + result.right, asked + 1
    return found


def _suite_names(results: Sequence[Result]) -> list[str]:
    return list(dict.fromkeys(result.suite for result in results if result.suite))


def _figures_named(name: str, suites: Suites, results: Sequence[Result]) -> Iterator[tuple[str, Figure]]:
    """Each with its suite."""
    for suite in _suite_names(results):
        if suite in suites:
            own = [result for result in results if result.suite == suite]
            yield from ((suite, figure) for figure in all_figures(suites[suite], own) if figure.name == name)


def _by_suite(suites: Suites, results: Sequence[Result]) -> Iterator[tuple[str, Mapping[str, Sequence[Figure]]]]:
    """The scores of each suite for each model."""
    for name in _suite_names(results):
        if name in suites:
            of_model = _by_model(name, results)
            yield name, {model: all_figures(suites[name], found) for model, found in of_model.items()}


def _by_model(suite: str, results: Sequence[Result]) -> Mapping[str, Sequence[Result]]:
    own = [result for result in results if result.suite == suite and result.model]
    models = dict.fromkeys(result.model for result in own)
    return {model: [result for result in own if result.model == model] for model in models}


def _own_tables(suites: Suites, results: Sequence[Result], width: int) -> Iterator[str]:
    """The tables that suites make of scores, for each model."""
    for name in _suite_names(results):
        for model, own in _by_model(name, results).items() if name in suites else ():
            for table in tables_of(suites[name], _measured(own)):
                yield from own_table_lines(model, table, width)


def all_figures(suite: Suite, results: Sequence[Result]) -> list[Figure]:
    """All scores of a suite for the results of one model, or of several together."""
    by_case = _counted((result.case, result) for result in results)
    return [
        *figures_of(suite, tallies(results)),
        *case_figures_of(suite, by_case),
        *averages_of(suite, _measured(results)),
    ]


def _measured(results: Sequence[Result]) -> list[Measured]:
    if not any(result.scores for result in results):
        return []
    from pytest_fcall.session.result.scores import score_rows

    together = [result._replace(model="") for result in results]
    return [Measured(row.tag, row.score, row.cases, row.value) for row in score_rows(together)]
