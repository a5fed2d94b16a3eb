"""What is said about all rows at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from pytest_fcall.cli.counting import count
from pytest_fcall.cli.scoring.judging import Judged

_MOST_SHOWN = 10


@dataclass(slots=True)
class Summary:
    """Counts rows as they come."""

    rows: int = 0
    broken: int = 0
    disagreeing: int = 0
    compared: Counter[str] = field(default_factory=Counter)
    same: Counter[str] = field(default_factory=Counter)
    differences: Counter[str] = field(default_factory=Counter)
    shown: list[str] = field(default_factory=list)

    def add(self, judged: Judged) -> None:
        """Count one row."""
        self.rows += 1
        self.broken += judged.broken
        self.compared.update(judged.agreement)
        self.same.update(key for key, same in judged.agreement.items() if same)
        if not all(judged.agreement.values()):
            self.disagreeing += 1
            if len(self.shown) < _MOST_SHOWN:
                self.shown.append(f"{judged.place}: {judged.line}")
        if judged.difference is not None:
            self.differences[judged.difference] += 1

    def lines(self) -> Iterator[str]:
        """Tell of agreement with the rows' own verdicts, and of differences between the profiles."""
        yield f"{count(self.rows, 'row')}, {self.broken:,} of them broken"
        for key, compared in self.compared.items():
            yield f"{key}: {self.same[key]:,} of {compared:,} as the rows have it"
        yield from (f"  differs: {place}" for place in self.shown)
        if (more := self.disagreeing - len(self.shown)) > 0:
            yield f"  and {more:,} more"
        yield f"the profiles differ in {count(sum(self.differences.values()), 'row')}"
        for name, number in self.differences.most_common():
            yield f"{number:8,}  {name}"
