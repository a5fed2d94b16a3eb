"""Which cases of a suite are taken: the first of them, a sample, or those of certain ids."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_fcall.core.glob import glob_matches, is_glob

_COUNT = re.compile(r"([0-9]{1,9})(?:@([0-9]{1,18}))?")
_NO_COUNT = re.compile(r"-[0-9]+|-?[0-9.]*@.*")
"""Was meant for one; no suite calls cases so."""


@dataclass(frozen=True, slots=True)
class Pick:
    """A choice among cases. Without ids, `count` of them: the first, or with a `seed` a sample."""

    ids: tuple[str, ...] = ()
    count: int | None = None
    seed: int | None = None

    def chosen(self, ids: Sequence[str]) -> list[int]:
        """The places of those that are taken, in order. Raises ValueError, in words, for an id that is not there.

        A sample depends on nothing but the ids and the seed, and a larger one holds a smaller one.
        """
        if self.ids:
            self._check(ids)
            wanted, globs = frozenset(self.ids), [glob for glob in self.ids if is_glob(glob)]
            return [n for n, id_ in enumerate(ids) if id_ in wanted or any(glob_matches(g, id_) for g in globs)]
        places = range(len(ids))
        if self.count is None or self.seed is None:
            return list(places[: self.count])
        drawn = sorted(places, key=lambda place: hashlib.sha256(f"{self.seed}:{ids[place]}".encode()).digest())
        return sorted(drawn[: self.count])

    def _check(self, ids: Sequence[str]) -> None:
        known = frozenset(ids)
        for wanted in self.ids:
            if wanted not in known and not (is_glob(wanted) and any(glob_matches(wanted, id_) for id_ in ids)):
                from difflib import get_close_matches

                near = [id_ for id_ in ids if id_.startswith(wanted)] or get_close_matches(wanted[:200], ids, n=1)
                meant = f"did you mean {near[0]!r}?" if near else f"there is {', '.join(ids[:3])} …"
                raise ValueError(f"no case has the id {wanted!r:.80}; {meant}")


def read_pick(texts: Sequence[str]) -> Pick:
    """Read `200`, `200@7`, or ids and globs. Raises ValueError, in words, for a number that picks nothing."""
    found = _COUNT.fullmatch(texts[0]) if len(texts) == 1 else None
    if len(texts) == 1 and (_NO_COUNT.fullmatch(texts[0]) if found is None else int(found[1]) == 0):
        told = f"{texts[0]!r:.80} picks nothing"
        raise ValueError(f"{told}; write how many, or with a seed how many at random: 200, 200@7")
    if found is None:
        return Pick(ids=tuple(texts))
    return Pick(count=int(found[1]), seed=int(found[2]) if found[2] else None)
