"""Whether fewer answers to one case are right than before."""

from __future__ import annotations

from pytest_fcall.tracking.change import worse
from pytest_fcall.tracking.pairs import Pair, Rate
from pytest_fcall.tracking.stanza import Stanza

CHANCE = 0.05
"""What chance alone does less often is taken for a change."""


def rate_of(stanza: Stanza) -> Rate:
    """How many answers were right."""
    return Rate(*stanza.samples) if stanza.samples else Rate(int(stanza.valid), 1)


def is_worse(before: Rate, now: Rate) -> bool:
    """Whether chance alone would hardly do that: 4 of 5 right answers before, and none of 5 now."""
    return worse([Pair(before, now)]) <= CHANCE


def is_confirmed(before: Stanza, now: Rate) -> bool:
    """Whether a case that was right before is wrong now, after it was asked again.

    Rates are compared, where there was one. A single answer before is no rate: then most answers decide.
    """
    return is_worse(rate_of(before), now) if before.samples else 2 * now.right <= now.asked
