"""Words for answers, and shares of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

Word: TypeAlias = Literal["correct", "wrong", "hallucination", "unparsable"]
"""An API of the right domain, one of another domain, one that the data base has not, or nothing that is a call."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What an answer is worth."""

    word: Word
    exact: bool = False
    """Whether the API is the very one that is right, and not just one of its domain."""
    call: str = ""
    """The call that was judged, as far as there was one."""


@dataclass(frozen=True, slots=True)
class Shares:
    """Shares of all answers, from 0 to 1; no answer falls out of the count."""

    count: int
    domain_accuracy: float
    exact_accuracy: float
    hallucination: float
    wrong: float
    unparsable: float


def shares(judged: Iterable[Judged]) -> Shares:
    """Count words; of no answers, all shares are 0."""
    words: Counter[str] = Counter()
    count = exact = 0
    for each in judged:
        words[each.word] += 1
        exact += each.exact
        count += 1
    whole = count or 1
    return Shares(
        count,
        domain_accuracy=words["correct"] / whole,
        exact_accuracy=exact / whole,
        hallucination=words["hallucination"] / whole,
        wrong=words["wrong"] / whole,
        unparsable=words["unparsable"] / whole,
    )
