"""What apps asked of models, added up for results."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pytest_fcall.core import Inner
from pytest_fcall.core.reply import usage_of
from pytest_fcall.reporting.results import Inside

if TYPE_CHECKING:
    from pytest_fcall.plugin.answering import Answer


def insides(answers: Iterable[Answer]) -> tuple[Inside, ...]:
    """What was asked on the way to these answers, by model, and apart what was asked now and what was replayed.

    Requests whose tokens nobody counted stand by themselves, so that they make no sum look complete.
    """
    groups: dict[tuple[str, bool, bool], list[Inner]] = {}
    for answer in answers:
        for inner in answer.inside or ():
            if inner.model:
                key = inner.priced_as, inner.recorded is not None, inner.reply.usage is None
                groups.setdefault(key, []).append(inner)
    return tuple(
        Inside(model, len(group), replayed=replayed, usage=usage_of(each.reply.usage for each in group))
        for (model, replayed, _), group in groups.items()
    )
