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

    profiles: bool
    """Whether the format is judged by two profiles."""
    rows: int = 0
    broken: int = 0
    disagreeing: int = 0
    _compared: Counter[str] = field(default_factory=Counter)
    _same: Counter[str] = field(default_factory=Counter)
    _differences: Counter[str] = field(default_factory=Counter)
    _shown: list[str] = field(default_factory=list)
    _totals: dict[str, Counter[str]] = field(default_factory=dict)
    _sizes: Counter[str] = field(default_factory=Counter)

    def add(self, judged: Judged) -> None:
        """Count one row."""
        self.rows += 1
        self.broken += judged.broken
        self._compared.update(judged.compared.keys())
        self._same.update(key for key, wrong in judged.compared.items() if wrong is None)
        if judged.difference is not None:
            self._differences[judged.difference] += 1
        if judged.counted is not None:
            group, words = judged.counted
            self._sizes[group] += 1
            self._totals.setdefault(group, Counter()).update(words)
        if wrong := [each for each in judged.compared.values() if each is not None]:
            self.disagreeing += 1
            if len(self._shown) < _MOST_SHOWN:
                self._shown.append(f"  {judged.place}: {'; '.join(wrong)}")

    def lines(self) -> Iterator[str]:
        """Tell of agreement with the rows' own verdicts, and of differences between the profiles."""
        broken = f", {self.broken:,} of them broken" if self.broken else ""
        yield f"{count(self.rows, 'row')}{broken}"
        for key, compared in self._compared.items():
            yield f"{key}: {self._same[key]:,} of {compared:,} as the rows have it"
        yield from self._shown
        if (more := self.disagreeing - len(self._shown)) > 0:
            yield f"  and {more:,} more"
        if self.profiles:
            yield f"the profiles differ in {count(self._differences.total(), 'row')}"
        yield from (f"{number:8,}  {name}" for name, number in self._differences.most_common())

    def totals(self) -> Iterator[str]:
        """Tell for each group of how many rows each word is true, in percent."""
        for group, words in self._totals.items():
            size = self._sizes[group]
            shares = ", ".join(f"{100 * number / size:.2f}% {word}" for word, number in words.items())
            yield f"{group}: {count(size, 'row')}, {shares}"
