"""The table of what stored answers come to: categories and scores."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_fcall.core.extension import Table
from pytest_fcall.suites.bfcl.figures import suite_figures
from pytest_fcall.suites.bfcl.leaderboard_shares import Tallies
from pytest_fcall.suites.bfcl.prompt_formats import FORMAT_CATEGORY, format_of


def counted_category(category: str, id_: str) -> str:
    """Return the category for which an answer counts: each prompt format is one."""
    return format_of(id_).category if category == FORMAT_CATEGORY else category


def score_table(model: str, tallies: Tallies, sizes: Mapping[str, int]) -> Table:
    """Return the accuracy of a model by category, and the scores of the leaderboard."""
    rows = [
        (category, _count(answers, sizes[category]), f"{right:,}", f"{100 * right / answers:.2f} %")
        for category, (right, answers) in tallies.items()
    ]
    scores = [
        (f"{each.title} ({each.note})" if each.note else each.title, "", "", f"{each.share * 100:.2f} %")
        for each in suite_figures(tallies)
        if each.share is not None
    ]
    return Table((model, "answers", "right", "accuracy"), (*rows, *scores))


def _count(answers: int, size: int) -> str:
    """The number of answers; where it is not that of the cases, as far as this is known, both."""
    return f"{answers:,}" if size in (0, answers) else f"{answers:,} of {size:,}"
