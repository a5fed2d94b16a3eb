"""The contributions of items to the scores that are asked for, and their sums over a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, stdev
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from pytest_fcall.conversation.evidence import ConversationEvidence, evidence_of, subjects_of
from pytest_fcall.conversation.named_scores import SCORES, ScoreNumbers, score_value
from pytest_fcall.core.case import Case
from pytest_fcall.core.conversation import Step, Transcript, TranscriptTurn
from pytest_fcall.core.message_text import clauses, did_you_mean
from pytest_fcall.reporting.number_text import score_text
from pytest_fcall.reporting.results import CaseScore, Result
from pytest_fcall.reporting.score_tables import ScoreRow, score_lines
from pytest_fcall.session.settings import ALL_CASES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_fcall.session.judge.samples import CaseAnswers, JudgedAnswer


WantedScores: TypeAlias = Mapping[str, Sequence[str]]
"""The scores that each tag asks for."""


def scores_of(
    case: Case, wanted: WantedScores, own: WantedScores, asked: CaseAnswers | None, judged: Sequence[JudgedAnswer]
) -> tuple[CaseScore, ...]:
    """The contribution of a case to the scores that its tags or its suite (`own`) ask for; the mean of several answers.

    Where none was judged it adds nothing, and says so.
    """
    subjects = subjects_of(case)
    by_tags = (
        (tag, score)
        for tag, scores in wanted.items()
        if tag == ALL_CASES or tag in case.tags
        for score in scores
        if SCORES[score].subject in subjects
    )
    by_suite = ((tag, score) for tag, scores in own.items() for score in scores)
    named = list(dict.fromkeys((*by_tags, *by_suite)))
    if not named or asked is None or not judged:
        return tuple(CaseScore(tag, score) for tag, score in named)
    added = [_ScoredAnswer(_evidence(case, asked, each), each.verdict.scores) for each in judged]
    numbers = {score: _numbers(score, added) for _, score in named}
    return tuple(
        CaseScore(tag, score, _mean(found), _several(found)) for tag, score in named if (found := numbers[score])
    )


def values_of_case(scores: Iterable[CaseScore]) -> list[tuple[str, str]]:
    """Each score of one case by its name, as people read it."""
    values = {each.score: score_value(each.score, [each.numbers]) for each in scores if each.numbers}
    return [(score, score_text(value)) for score, value in values.items() if value is not None]


def unused_tag_lines(tags: Iterable[str], results: Iterable[Result]) -> list[str]:
    """A line for each of the tags, as `--fc-score` names them, that no case has."""
    known = {ALL_CASES, *(tag for result in results for tag in result.tags)}
    return [
        clauses(f"--fc-score: no case of this run has the tag `{tag}`", did_you_mean(tag, known))
        for tag in dict.fromkeys(tags)
        if tag not in known
    ]


def score_rows(results: Iterable[Result]) -> list[ScoreRow]:
    """The scores over all results: model by model, tag by tag."""
    parts: dict[str, dict[tuple[str, str], list[CaseScore]]] = {}
    for result in results:
        for each in result.scores:
            parts.setdefault(result.model, {}).setdefault((each.tag, each.score), []).append(each)
    return [row for model, own in parts.items() for row in _rows_of_model(model, own)]


def score_table(results: Iterable[Result], width: int) -> list[str]:
    """Their text for people."""
    return score_lines(score_rows(results), width)


def _rows_of_model(model: str, parts: Mapping[tuple[str, str], Sequence[CaseScore]]) -> Iterator[ScoreRow]:
    order = list(SCORES)
    known = [name for name in parts if name[1] in SCORES]
    for tag, score in sorted(known, key=lambda name: (name[0], order.index(name[1]))):
        own = parts[tag, score]
        counted = [each for each in own if each.numbers]
        value = score_value(score, [each.numbers for each in counted])
        runs = _values_of_runs(score, counted)
        spread = stdev(runs) if len(runs) > 1 else None
        yield ScoreRow(model, tag, score, len(counted), value, len(own) - len(counted), len(runs), spread)


def _values_of_runs(score: str, counted: Sequence[CaseScore]) -> list[float]:
    """The score of all first answers, of all second ones and so on; none where cases have not equally many."""
    counts = {len(each.answers) for each in counted}
    if len(counts) != 1:
        return []
    values = [score_value(score, numbers) for numbers in zip(*(each.answers for each in counted), strict=True)]
    return [value for value in values if value is not None] if None not in values else []


def _evidence(case: Case, asked: CaseAnswers, judged: JudgedAnswer) -> ConversationEvidence:
    """A single reply is a conversation of one step."""
    transcript = judged.answer.transcript or Transcript(
        (TranscriptTurn((Step(asked.request, judged.reply, judged.calls),), "answered"),)
    )
    return evidence_of(case, transcript, judged.verdict)


class _ScoredAnswer(NamedTuple):
    """The parts of an answer to score, and the scores of its own judge."""

    evidence: ConversationEvidence
    judged: Mapping[str, ScoreNumbers]

    def numbers(self, score: str) -> ScoreNumbers | None:
        return self.judged[score] if score in self.judged else SCORES[score].numbers(self.evidence)


def _numbers(score: str, answers: Sequence[_ScoredAnswer]) -> list[ScoreNumbers]:
    return [numbers for each in answers if (numbers := each.numbers(score)) is not None]


def _mean(added: Sequence[ScoreNumbers]) -> ScoreNumbers:
    return added[0] if len(added) == 1 else tuple(map(fmean, zip(*added, strict=True)))


def _several(added: Sequence[ScoreNumbers]) -> tuple[ScoreNumbers, ...]:
    return tuple(added) if len(added) > 1 else ()
