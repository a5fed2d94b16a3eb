"""The search for the smallest set of edits that makes a case fail. It yields trials, and is told what came of each.

The edits are put in a row, as if they had been made one after the other, and halving finds the first at which the
case fails, as `git bisect` does. That edit is kept, those behind it are dropped, and if it does not
make the case fail alone, the others are put in a row again. So one guilty edit of n takes about log2(n) trials, and k
that fail together take k times as many. Each set that is found was tried itself, and so was each of its parts: nothing
rests on the assumption that further edits never mend a case.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

Trial: TypeAlias = frozenset[int]
"""The old question with these edits."""
Fails: TypeAlias = bool | None
"""Whether a case fails in a trial; None where that could not be found out."""
_T = TypeVar("_T")
Search: TypeAlias = Generator[Trial, Fails, _T]


@dataclass(frozen=True, slots=True)
class Cause:
    """A set of edits that makes the case fail."""

    members: tuple[Trial, ...]
    """Each a single edit, or several that could not be told apart."""
    is_minimal: bool = True
    """Whether it is known that the case passes without any of the members."""

    @property
    def edits(self) -> Trial:
        """All edits in it."""
        return _union(self.members)

    @property
    def is_exact(self) -> bool:
        """Whether each member is a single edit, and none of them can be left out."""
        return self.is_minimal and all(len(each) == 1 for each in self.members)


@dataclass(slots=True)
class Causes:
    """What a search has found so far."""

    found: list[Cause] = field(default_factory=list)
    rest_passes: Fails = None
    """Whether the case passes with all edits but those found; None where that is not known."""


def find_causes(
    edits: Trial, causes: Causes, known: Mapping[Trial, Fails], likely: Iterable[Trial] = ()
) -> Search[Causes]:
    """Find sets of edits that make the case fail, until it passes with all others.

    The case passes without edits and fails with all. `known` holds what is known of further trials, and grows
    meanwhile; `likely` are sets that explain other cases. What is found stands in `causes` at once.
    """
    rest = edits
    for guess in dict.fromkeys(each & edits for each in likely):
        if guess and guess < rest and (yield guess):
            rest = yield from _add(causes, (yield from find_cause(guess, frozenset())), rest)
            if causes.rest_passes is not False:
                return causes
    while causes.rest_passes is False or not causes.found:
        failing = _smallest(rest, (trial for trial, fails in known.items() if fails))
        passing = _largest(failing, (trial for trial, fails in known.items() if fails is False))
        rest = yield from _add(causes, (yield from find_cause(failing, passing)), rest)
    return causes


def _add(causes: Causes, cause: Cause, rest: Trial) -> Search[Trial]:
    """Note a cause, and find out whether the case passes with the rest."""
    causes.found.append(cause)
    rest -= cause.edits
    fails = (yield rest) if rest else False
    causes.rest_passes = None if fails is None else not fails
    return rest


def _smallest(within: Trial, trials: Iterable[Trial]) -> Trial:
    return min((within, *(trial for trial in trials if trial < within)), key=len)


def _largest(within: Trial, trials: Iterable[Trial]) -> Trial:
    return max((frozenset[int](), *(trial for trial in trials if trial < within)), key=len)


def find_cause(failing: Trial, passing: Trial) -> Search[Cause]:
    """Find a smallest set among edits with which the case fails; with some of them, `passing`, it passes."""
    row = [*sorted(passing), *sorted(failing - passing)]
    low, high = len(passing), len(row)
    kept: list[Trial] = []
    while True:
        low, high = yield from _boundary(_union(kept), row, low, high)
        kept.insert(0, frozenset(row[low:high]))
        row, high, low = row[:low], low, 0
        if not row or (yield _union(kept)):
            return (yield from _minimal(kept))


def _boundary(kept: Trial, row: Sequence[int], low: int, high: int) -> Search[tuple[int, int]]:
    """Halve the row until one edit is left between what passes and what fails, or nothing more can be found out."""
    unclear: set[int] = set()
    while places := [place for place in range(low + 1, high) if place not in unclear]:
        middle = min(places, key=lambda place: abs(2 * place - low - high))
        match (yield kept.union(row[:middle])):
            case None:
                unclear.add(middle)
            case True:
                high = middle
            case False:
                low = middle
    return low, high


def _minimal(members: Sequence[Trial]) -> Search[Cause]:
    """Leave out what can be left out of a set that fails."""
    is_minimal = True
    for member in members if len(members) > 1 else ():
        rest = [each for each in members if each != member]
        fails = yield _union(rest)
        if fails:
            return (yield from _minimal(rest))
        is_minimal &= fails is not None
    return Cause(tuple(members), is_minimal)


def _union(sets: Collection[Trial]) -> Trial:
    return frozenset[int]().union(*sets)


def fewest_trials(edits: int) -> int:
    """The trials that a search takes if one edit is guilty: halving, the edit alone, and all others."""
    return (edits - 1).bit_length() + (2 if edits > 1 else 0)
