"""The summary of answers to cases of one's own: a rate for each case, and all that was not judged."""

from __future__ import annotations

from bisect import insort
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, cast

from pytest_fcall.cli.score.rows import JudgedRow
from pytest_fcall.cli.score.summary import Agreement, table_files
from pytest_fcall.core.extension import Table
from pytest_fcall.core.message_text import list_text, plural_text
from pytest_fcall.core.verdict import Rate, passes
from pytest_fcall.reporting.number_text import accuracy_text, count_text, interval_text
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.reporting.score_tables import own_table_lines
from pytest_fcall.reporting.statistics import mean_interval
from pytest_fcall.session.result.exit_status import FAILED, INCONCLUSIVE, PASSED

if TYPE_CHECKING:
    from pytest_fcall.cli.score.collected_cases import CollectedCases

_MOST_NAMED: Final = 5
_MOST_SHOWN: Final = 10
_MOST_CASES: Final = 20
_TITLES: Final = ("case", "answers", "right", "rate", "95 % interval", "not judged")


class RowResult(NamedTuple):
    """The result of a case in one row."""

    case: str
    """The name of the case; empty where it is not known."""
    outcome: Literal["right", "wrong", "error", "open", "skipped"]
    key: str = ""
    why: str = ""
    name: str = ""
    """The name that the row gives its case, where that is not known."""
    kinds: tuple[str, ...] = ()
    """The kinds of the reasons against a wrong answer."""


@dataclass(slots=True)
class _Tally:
    """The answers to one case."""

    right: int = 0
    wrong: int = 0
    forbidden: int = 0
    """Wrong answers with a call that no rate excuses."""
    others: int = 0
    """Answers without a verdict."""

    @property
    def judged(self) -> int:
        return self.right + self.wrong

    def passes(self, rule: str) -> bool:
        return not self.forbidden and passes(rule, Rate(self.right, self.judged))


@dataclass(slots=True)
class _Named:
    """The number of answers of a kind, and the first few names, in their order, with the number of each."""

    answers: int = 0
    is_cut: bool = False
    _names: list[str] = field(default_factory=list)
    _counts: Counter[str] = field(default_factory=Counter)

    def add(self, name: str) -> None:
        """Count an answer. A name that is not among the first few is let go, and is never among them later."""
        self.answers += 1
        if name not in self._counts:
            insort(self._names, name)
        self._counts[name] += 1
        if len(self._names) > _MOST_NAMED:
            del self._counts[self._names.pop()]
            self.is_cut = True

    def __str__(self) -> str:
        named = [f"{name} ({self._counts[name]:,})" if self._counts[name] > 1 else name for name in self._names]
        return f"{', '.join(named)}{' and more' if self.is_cut else ''}"


@dataclass(slots=True)
class _Shown:
    """The number of answers of a kind, and lines on those that come first by their keys, whatever their order."""

    count: int = 0
    _first: list[tuple[str, str, str]] = field(default_factory=list)

    def add(self, key: str, place: str, text: str) -> None:
        """Count an answer."""
        self.count += 1
        if len(self._first) < _MOST_SHOWN or (key, place, text) < self._first[-1]:
            insort(self._first, (key, place, text))
            del self._first[_MOST_SHOWN:]

    def lines(self) -> Iterator[str]:
        """The lines, and how many more there are."""
        yield from (f"  {place}: {text}" for _, place, text in self._first)
        if (more := self.count - len(self._first)) > 0:
            yield f"  and {more:,} more"


class OwnSummary:
    """Counts answers by case. It grows with the cases, and not with the answers."""

    def __init__(self, collected: CollectedCases, *, compares: bool) -> None:
        self._cases = {case.name: case for case in collected.all}
        self._gates = collected.gates
        self._compares = compares
        self._agreement = Agreement()
        self._tallies: dict[str, _Tally] = {}
        self._kinds: Counter[str] = Counter()
        self._wrong, self._broken = _Shown(), _Shown()
        self._open: dict[str, _Named] = {}
        self._skipped: dict[str, _Named] = {}

    def add(self, row: JudgedRow) -> None:
        """Count one row."""
        self._agreement.add(row)
        found = cast("RowResult", row.finding)
        if found.case:
            self._add_to_case(self._tallies.setdefault(found.case, _Tally()), found)
        if found.outcome == "wrong":
            self._kinds.update(found.kinds)
            self._wrong.add(found.key, row.place, f"{found.case}: {found.why}")
        elif row.problem:
            self._broken.add(found.key, row.place, f"{found.case}: {row.problem}" if found.case else row.problem)
        elif found.outcome in ("open", "skipped"):
            reasons = self._open if found.outcome == "open" else self._skipped
            reasons.setdefault(found.why, _Named()).add(found.case or found.name)

    @staticmethod
    def _add_to_case(tally: _Tally, found: RowResult) -> None:
        tally.right += found.outcome == "right"
        tally.wrong += found.outcome == "wrong"
        tally.forbidden += "forbidden_call" in found.kinds
        tally.others += found.outcome not in ("right", "wrong")

    @property
    def status(self) -> int:
        """That of a run: 1 where a case fails or a row cannot be read, 10 where anything is open."""
        failed = any(not self._cases[name].excuse for name in self._failing)
        if failed or self._broken.count or (self._compares and self._agreement.disagreeing):
            return FAILED
        judged = any(tally.judged for tally in self._tallies.values())
        return INCONCLUSIVE if self._open or self._unanswered or not judged else PASSED

    def lines(self, width: int) -> Iterator[str]:
        """The rates, wrong answers, and everything that was not judged."""
        yield from map(safe_line, self._head())
        if self._judged:
            yield from own_table_lines("", self._table(self._shown_cases), width)
        yield from map(safe_line, self._notes())
        if self._compares:
            yield from map(safe_line, self._agreement.lines())

    def files(self) -> Iterable[tuple[str, str]]:
        """The rates of all cases."""
        return table_files([self._table(self._judged)])

    @property
    def _judged(self) -> list[str]:
        """The cases with a verdict, in the order of their files."""
        return [name for name in self._cases if name in self._tallies and self._tallies[name].judged]

    @property
    def _failing(self) -> list[str]:
        return [name for name in self._judged if not self._tallies[name].passes(self._cases[name].rule)]

    @property
    def _unanswered(self) -> list[str]:
        """The cases that nothing answers, without those that are skipped."""
        return [name for name, case in self._cases.items() if name not in self._tallies and not case.skip]

    @property
    def _shown_cases(self) -> list[str]:
        """The cases to print: those with the lowest rates where there are many."""
        judged = self._judged
        return judged if len(judged) <= _MOST_CASES else sorted(judged, key=self._rate)[:_MOST_CASES]

    def _rate(self, name: str) -> float:
        return self._tallies[name].right / self._tallies[name].judged

    def _head(self) -> Iterator[str]:
        judged = self._judged
        if not judged:
            yield "no answer was judged"
            return
        right = sum(self._tallies[name].right for name in judged)
        answers = sum(self._tallies[name].judged for name in judged)
        passing = len(judged) - len(self._failing)
        yield f"{passing:,}/{len(judged):,} cases pass, {right:,}/{answers:,} answers right"
        if answers > len(judged) > 1:  # else both rates are one
            rates = [*map(self._rate, judged)]
            interval = mean_interval(rates)
            low, high = interval or (0.0, 1.0)
            text = f", 95 % interval [{100 * max(low, 0):.0f}, {100 * min(high, 1):.0f}]" if interval else ""
            yield f"mean of the cases, each counted once: {accuracy_text(sum(rates), len(rates))}{text}"

    def _table(self, names: Sequence[str]) -> Table:
        rows = []
        for name in names:
            tally = self._tallies[name]
            figures = f"{tally.judged:,}", f"{tally.right:,}", accuracy_text(tally.right, tally.judged)
            rows.append((name, *figures, interval_text(tally.right, tally.judged), count_text(tally.others or None)))
        return Table(_TITLES, tuple(rows))

    def _notes(self) -> Iterator[str]:
        if (others := len(self._judged) - len(self._shown_cases)) > 0:
            yield f"and {plural_text(others, 'case')} with rates that are no lower; --csv writes all"
        if self._wrong.count:
            yield f"{plural_text(self._wrong.count, 'answer')} wrong: {_counted(self._kinds)}"
            yield from self._wrong.lines()
        if self._broken.count:
            yield f"{plural_text(self._broken.count, 'row')} could not be judged:"
            yield from self._broken.lines()
        for name in self._failing:
            if excuse := self._cases[name].excuse:
                yield f"{name} is expected to fail: {excuse}"
        for reason, named in sorted(self._open.items()):
            yield f"{plural_text(named.answers, 'answer')} not judged, since {reason}: {named}"
        for reason, named in sorted(self._skipped.items()):
            yield f"{plural_text(named.answers, 'answer')} skipped, {reason}: {named}"
        if unanswered := self._unanswered:
            yield f"{plural_text(len(unanswered), 'case')} without an answer: {list_text(unanswered, _MOST_NAMED)}"
        if self._gates:
            yield f"gates of the configuration bound runs, and are not applied here: {self._gates}"


def _counted(kinds: Counter[str]) -> str:
    return ", ".join(f"{count:,} {kind}" for kind, count in sorted(kinds.items(), key=lambda each: (-each[1], each[0])))
