"""What items add to the scores that are asked for, and what it comes to over a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from pytest_fcall.conversation.evidence import Evidence, evidence_of, subjects_of
from pytest_fcall.conversation.scoring import SCORES, Numbers, value_of
from pytest_fcall.core import Case, Held, Step, Transcript
from pytest_fcall.plugin.score_options import ALL
from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.scored import Scored
from pytest_fcall.reporting.scores import ScoreRow, score_lines, score_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_fcall.plugin.sampling import Asked, Judged

Wanted: TypeAlias = Mapping[str, Sequence[str]]
"""The scores that each tag asks for."""


def scores_of(
    case: Case, wanted: Wanted, own: Wanted, asked: Asked | None, judged: Sequence[Judged]
) -> tuple[Scored, ...]:
    """What a case adds to the scores that its tags, or its suite (`own`), ask for; of several answers the mean.

    Where none was judged it adds nothing, and says so.
    """
    subjects = subjects_of(case)
    by_tags = (
        (tag, score)
        for tag, scores in wanted.items()
        if tag == ALL or tag in case.tags
        for score in scores
        if SCORES[score].about in subjects
    )
    by_suite = ((tag, score) for tag, scores in own.items() for score in scores)
    named = list(dict.fromkeys((*by_tags, *by_suite)))
    if not named or asked is None or not judged:
        return tuple(Scored(tag, score) for tag, score in named)
    added = [_Added(_evidence(case, asked, each), each.verdict.scores) for each in judged]
    return tuple(Scored(tag, score, numbers) for tag, score in named if (numbers := _numbers(score, added)) is not None)


def values_of_case(scores: Iterable[Scored]) -> list[tuple[str, str]]:
    """Each score of one case by its name, as people read it."""
    values = {each.score: value_of(each.score, [each.numbers]) for each in scores if each.numbers}
    return [(score, score_text(value)) for score, value in values.items() if value is not None]


def score_rows(results: Iterable[Result]) -> list[ScoreRow]:
    """The scores over all results: model by model, tag by tag."""
    parts: dict[str, dict[tuple[str, str], list[Numbers]]] = {}
    for result in results:
        for each in result.scores:
            parts.setdefault(result.model, {}).setdefault((each.tag, each.score), []).append(each.numbers)
    return [row for model, own in parts.items() for row in _rows_of_model(model, own)]


def score_table(results: Iterable[Result], width: int) -> list[str]:
    """What people read of them."""
    return score_lines(score_rows(results), width)


def _rows_of_model(model: str, parts: Mapping[tuple[str, str], Sequence[Numbers]]) -> Iterator[ScoreRow]:
    order = list(SCORES)
    known = [name for name in parts if name[1] in SCORES]
    for tag, score in sorted(known, key=lambda name: (name[0], order.index(name[1]))):
        numbers = parts[tag, score]
        counted = [each for each in numbers if each]
        yield ScoreRow(model, tag, score, len(counted), value_of(score, counted), len(numbers) - len(counted))


def _evidence(case: Case, asked: Asked, judged: Judged) -> Evidence:
    """A single reply is a conversation of one step."""
    transcript = judged.answer.transcript or Transcript(
        (Held((Step(asked.request, judged.reply, judged.calls),), "answered"),)
    )
    return evidence_of(case, transcript, judged.verdict)


class _Added(NamedTuple):
    """What there is to score of an answer, and what its own judge has scored already."""

    evidence: Evidence
    judged: Mapping[str, Numbers]

    def numbers(self, score: str) -> Numbers | None:
        return self.judged[score] if score in self.judged else SCORES[score].adds(self.evidence)


def _numbers(score: str, answers: Sequence[_Added]) -> Numbers | None:
    added = [numbers for each in answers if (numbers := each.numbers(score)) is not None]
    if len(added) < 2:
        return added[0] if added else None
    return tuple(map(fmean, zip(*added, strict=True)))
