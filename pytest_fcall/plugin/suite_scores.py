"""The scores that suites work out of their categories, at the end of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from pytest_fcall.core.extension import Figure, Measured, averages_of, figures_of
from pytest_fcall.plugin.extensions import registry
from pytest_fcall.reporting.results import Result, Results
from pytest_fcall.reporting.suites import suite_lines


def score_lines(config: pytest.Config, results: Results, width: int) -> list[str]:
    """The scores of each suite in a table, a column a model."""
    known = registry(config).suites
    named = dict.fromkeys(result.suite for result in results.results if result.suite in known)
    return [line for name in named for line in suite_lines(name, _scores(config, name, results.results), width)]


def _scores(config: pytest.Config, name: str, results: Sequence[Result]) -> Mapping[str, Sequence[Figure]]:
    suite = registry(config).suites[name]
    own = [result for result in results if result.suite == name and result.model]
    models = dict.fromkeys(result.model for result in own)
    of_model = {model: [result for result in own if result.model == model] for model in models}
    return {
        model: [*figures_of(suite, tallies(results)), *averages_of(suite, _measured(results))]
        for model, results in of_model.items()
    }


def _measured(results: Sequence[Result]) -> list[Measured]:
    if not any(result.scores for result in results):
        return []
    from pytest_fcall.plugin.scoring import score_rows

    return [Measured(row.tag, row.score, row.cases, row.value) for row in score_rows(results)]


def tallies(results: Sequence[Result]) -> dict[str, tuple[int, int]]:
    """By category, how many of how many answers are right."""
    found: dict[str, tuple[int, int]] = {}
    for result in results:
        if result.answered:
            right, asked = found.get(result.category, (0, 0))
            found[result.category] = right + result.right, asked + 1
    return found
