"""Whether a model as a whole answers worse than before, by its answers to all cases together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from pytest_fcall.core.message_text import plural_text
from pytest_fcall.core.verdict import Outcome, Rate
from pytest_fcall.reporting.number_text import p_equation_text
from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.tracking.significance import RatePair, p_value_worse, weigh_by_steadiness

if TYPE_CHECKING:
    from pytest_fcall.session.judge.doubt import Doubt
    from pytest_fcall.session.settings import Settings

_LEVEL_ONCE = 0.02
"""The largest p-value at which a model is called worse whose cases were asked once before."""
_LEAST_LEVEL = 0.001
_RIGHT = frozenset({Outcome.OK, Outcome.DRIFTED, Outcome.FIXED})
"""Outcomes of right answers."""


class WorseModel(NamedTuple):
    """A model whose answers are worse than before."""

    model: str
    now: Rate
    """The first answers of this run to the cases that were measured before."""
    before: float
    """The share of those answers that was right before."""
    p_value: float

    @property
    def line(self) -> str:
        """The change in a line for people."""
        return (
            f"{safe_line(self.model)} is worse: {self.now.right:,} of {plural_text(self.now.asked, 'answer')} right, "
            f"{100 * self.before:.1f} % before ({p_equation_text(self.p_value)})"
        )


def answered_rightly(result: Result) -> bool:
    """Whether the answers are right, also where the settings make their test fail."""
    return result.right or result.outcome in _RIGHT


def first_answers(result: Result) -> Rate:
    """The rate of right answers to a case.

    Of a case that was asked again only the first answers count: it was asked again because they were wrong.
    """
    return Rate(*(result.first or result.samples or (int(answered_rightly(result)), 1)))


def rate_pair(result: Result) -> RatePair | None:
    """The rates of a case before and now; None where it was not measured before as it is today."""
    if result.before is None or result.outcome in (None, Outcome.EDITED) or not result.answered:
        return None
    return RatePair(Rate(*result.before), first_answers(result))


def worse_level(pairs: Sequence[RatePair]) -> float:
    """The largest p-value at which a model is called worse; the more is measured, the smaller.

    Little is seen where little is measured, so a false alarm may be likelier there. The levels of twenty runs that
    follow one another, and are kept, are 0.07 together.
    """
    asked = sum(pair.before.asked for pair in pairs)
    return max(_LEVEL_ONCE * len(pairs) / max(asked, 1), _LEAST_LEVEL)


def worse_models(results: Sequence[Result]) -> Iterator[WorseModel]:
    """The models that are significantly worse than before: each by itself, so that none hides another.

    The results are those that `with_history` gives. A little that many cases lose is what single cases do not show,
    so answers are weighed for that.
    """
    for model in dict.fromkeys(result.model for result in results):
        pairs = [pair for result in results if result.model == model and (pair := rate_pair(result))]
        p_value = 1.0 if all(pair.difference >= 0 for pair in pairs) else p_value_worse(pairs, weigh_by_steadiness)
        if p_value <= worse_level(pairs):
            now = Rate(sum(pair.now.right for pair in pairs), sum(pair.now.asked for pair in pairs))
            before = sum(pair.before.share for pair in pairs) / len(pairs)
            yield WorseModel(model, now, before, p_value)


def with_history(results: Sequence[Result], doubt: Doubt, settings: Settings, *, tested: bool) -> Sequence[Result]:
    """The results, each beside the first answers that were measured of its case as it is today, with earlier runs'.

    Where nothing is measured of it so, nothing stands beside it: a single answer that was accepted since it is right
    says too much. The files of earlier runs are read only where gates or `fcall merge` test the answers, as `tested`
    says, or an answer is wrong: right ones show nothing worse.
    """
    compared = [result for result in results if result.before is not None]
    if not compared or not (tested or settings.shard or any(first_answers(each).share < 1 for each in compared)):
        return results
    return [result if result.before is None else _with_history(result, doubt, settings) for result in results]


def _with_history(result: Result, doubt: Doubt, settings: Settings) -> Result:
    from pytest_fcall.tracking.measurement import Key
    from pytest_fcall.tracking.stanza import parse_stanza

    if result.stanza is None:
        return result._replace(before=None)
    key = Key.of(parse_stanza(result.stanza).digests)
    evidence = doubt.evidence(settings.root / result.file, result.model, result.case, key)
    first = evidence.first if evidence else Rate(0, 0)
    return result._replace(before=(first.right, first.asked) if first.asked else None)
