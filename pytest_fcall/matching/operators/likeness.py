"""Operators on texts that need not be the same to the letter: `$normalised`, `$rouge`, `$number`."""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from decimal import Decimal
from functools import partial

from pytest_fcall.core.pattern import Operator
from pytest_fcall.core.values import Json
from pytest_fcall.matching.mismatch import Mismatch
from pytest_fcall.matching.number_forms import numbers_in
from pytest_fcall.matching.objects import Compare
from pytest_fcall.matching.operators.numeric import exactly, tolerance
from pytest_fcall.matching.operators.operand import BadOperandError, is_number, number, text
from pytest_fcall.matching.place import Place

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_NO_PUNCTUATION = dict.fromkeys(map(ord, string.punctuation))
_WORD = re.compile(r"[^\W_]+")
_LEAST = 0.5
_MOST_STEPS = 4_000_000
"""Pairs of words that are looked at in at most about a second."""
_MOST_NAMED = 5


def normalised(operator: Operator, got: Json, at: Place, _compare: Compare) -> list[Mismatch]:
    """The same text but for case, ASCII punctuation, English articles and white space."""
    if isinstance(got, str) and _normal(got) == _normal(text(operator)):
        return []
    return at.mismatch(operator, got)


def says_number(operator: Operator, got: Json, at: Place, _compare: Compare) -> list[Mismatch]:
    """A text in which this number is one of those that it says."""
    expected = exactly(number(operator))
    if expected is None:
        raise BadOperandError("`$number` takes a finite number")
    within = operator.options.get("within")
    margin = Decimal(0) if within is None else tolerance(within, expected)
    if not isinstance(got, str):
        return at.mismatch(operator, got, "it is a number: `$approx` accepts one" if is_number(got) else "")
    if any(abs(said - expected) <= margin for said in numbers_in(got)):
        return []
    return at.mismatch(operator, got, partial(_numbers_named, got))


def like(operator: Operator, got: Json, at: Place, _compare: Compare) -> list[Mismatch]:
    """A text whose ROUGE-L with the reference is at least so high."""
    least = operator.options.get("least", _LEAST)
    if not is_number(least):
        raise BadOperandError("`least` takes a number from 0 to 1")
    if not isinstance(got, str):
        return at.mismatch(operator, got)
    reference, given = _words(text(operator)), _words(got)
    if len(reference) * len(given) > _MOST_STEPS:
        return at.undecided(operator, got, f"with {len(given):,} words it is too long to be compared by `$rouge`.")
    score = _rouge_l(reference, given)
    return [] if score >= least else at.mismatch(operator, got, f"its ROUGE-L is {score:.3f}")


def _rouge_l(reference: Sequence[str], given: Sequence[str]) -> float:
    try:
        from rouge_score.rouge_scorer import RougeScorer  # type: ignore[import-untyped]  # it has no types
    except ImportError:
        raise BadOperandError("`$rouge` needs rouge-score: pip install 'pytest-fcall[text]'") from None
    scorer = RougeScorer(["rougeL"], tokenizer=_Split())
    return float(scorer.score(" ".join(reference), " ".join(given))["rougeL"].fmeasure)


class _Split:
    """Hands the library the words as they are: its own way drops all that is not ASCII."""

    def tokenize(self, words: str) -> list[str]:
        """Split what was joined."""
        return words.split()


def _words(written: str) -> list[str]:
    return _WORD.findall(written.casefold())


def _normal(written: str) -> str:
    return " ".join(_ARTICLES.sub(" ", written.lower().translate(_NO_PUNCTUATION)).split())


def _numbers_named(got: str) -> str:
    said = [f"{value:f}" for value in dict.fromkeys(numbers_in(got))]
    if not said:
        return "it says no number"
    named = ", ".join([*said[:_MOST_NAMED], "…"] if len(said) > _MOST_NAMED else said)
    return f"it says the number{'s' * (len(said) > 1)} {named}"
