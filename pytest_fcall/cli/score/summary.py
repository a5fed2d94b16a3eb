"""The summary of judged rows of a suite, what all summaries have, and the totals as comma-separated values."""

from __future__ import annotations

import csv
import io
import re
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from pytest_fcall.cli.score.rows import GroupTotals, JudgedRow, RowJudge
from pytest_fcall.core.extension import Table
from pytest_fcall.core.files import replace_file
from pytest_fcall.core.message_text import plural_text
from pytest_fcall.reporting.number_text import percent_text
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.reporting.score_tables import own_table_lines

_MOST_DISAGREEMENTS: Final = 10


class RowSummary(Protocol):
    """Counts rows one by one, and says at the end what they came to. It does not grow with the rows."""

    def add(self, row: JudgedRow) -> None:
        """Count a row."""
        ...

    def lines(self, width: int) -> Iterator[str]:
        """The summary, for people."""
        ...

    def files(self) -> Iterable[tuple[str, str]]:
        """The names and texts of files with the totals."""
        ...

    @property
    def status(self) -> int:
        """The exit status of the command."""
        ...


@dataclass(slots=True)
class Agreement:
    """The number of verdicts that agree with those recorded in the rows."""

    disagreeing: int = 0
    _compared: Counter[str] = field(default_factory=Counter)
    _agreeing: Counter[str] = field(default_factory=Counter)
    _shown: list[str] = field(default_factory=list)

    def add(self, row: JudgedRow) -> None:
        """Count a row."""
        self._compared.update(row.comparison.keys())
        self._agreeing.update(key for key, disagreement in row.comparison.items() if disagreement is None)
        if disagreements := [each for each in row.comparison.values() if each is not None]:
            self.disagreeing += 1
            if len(self._shown) < _MOST_DISAGREEMENTS:
                self._shown.append(f"  {row.place}: {'; '.join(disagreements)}")

    def lines(self) -> Iterator[str]:
        """The agreement by field, and the first rows that differ."""
        for key, compared in self._compared.items():
            yield f"{key}: {self._agreeing[key]:,} of {compared:,} agree with the rows"
        yield from self._shown
        if (more := self.disagreeing - len(self._shown)) > 0:
            yield f"  and {more:,} more"


@dataclass(slots=True)
class SuiteSummary:
    """Counts of rows, verdicts and differences."""

    judge: RowJudge
    compares: bool
    """Whether rows that disagree with their recorded verdicts are a failure."""
    shows_differences: bool
    """Whether the two profiles are compared."""
    rows: int = 0
    broken: int = 0
    agreement: Agreement = field(default_factory=Agreement)
    groups: GroupTotals = field(default_factory=GroupTotals)
    _differences: Counter[str] = field(default_factory=Counter)
    _totals: dict[str, Counter[str]] = field(default_factory=dict)
    _sizes: Counter[str] = field(default_factory=Counter)
    _cautions: Counter[str] = field(default_factory=Counter)

    def add(self, row: JudgedRow) -> None:
        """Count one row."""
        self.rows += 1
        self.broken += bool(row.problem)
        self.agreement.add(row)
        if row.caution:
            self._cautions[row.caution] += 1
        if row.difference is not None:
            self._differences[row.difference] += 1
        if row.group_facts is not None:
            group, facts = row.group_facts
            self._sizes[group] += 1
            self._totals.setdefault(group, Counter()).update(facts)
        self.groups.add(row.group_sums, row.group_values)

    @property
    def status(self) -> int:
        """1 where a row cannot be judged, or is compared and differs."""
        return 1 if self.broken or (self.compares and self.agreement.disagreeing) else 0

    def lines(self, width: int) -> Iterator[str]:
        """The agreement with recorded verdicts, what is doubtful, and the totals."""
        if self.compares or self.shows_differences:
            yield from self._compared_lines()
        elif self.broken:
            yield f"fcall score: {self.broken:,} of {self.rows:,} rows could not be judged"
        for caution, number in self._cautions.items():
            yield f"fcall score: {number:,} of {plural_text(self.rows, 'row')}: {caution}"
        yield from self._total_lines()
        for table in self._own_tables():
            yield from own_table_lines("", table, width)

    def files(self) -> Iterable[tuple[str, str]]:
        """The tables of the suite, or else all that are printed."""
        return [*self.judge.csv_files(self.groups)] or table_files([*self._fact_tables(), *self._own_tables()])

    def _own_tables(self) -> Iterable[Table]:
        return self.judge.tables(self.groups.sums)

    def _compared_lines(self) -> Iterator[str]:
        """The agreement with the recorded verdicts, and the differences between the profiles."""
        broken = f", {self.broken:,} of them broken" if self.broken else ""
        yield f"{plural_text(self.rows, 'row')}{broken}"
        yield from self.agreement.lines()
        if self.judge.has_two_profiles:
            yield f"the profiles differ in {plural_text(self._differences.total(), 'row')}"
        yield from (f"{number:8,}  {name}" for name, number in self._differences.most_common())

    def _total_lines(self) -> Iterator[str]:
        """For each group, the percentage of rows of which each fact is true."""
        for group, facts in self._totals.items():
            size = self._sizes[group]
            rates = ", ".join(f"{100 * number / size:.2f}% {fact}" for fact, number in facts.items())
            yield f"{group}: {plural_text(size, 'row')}, {rates}"

    def _fact_tables(self) -> Iterator[Table]:
        """The same percentages as a table, for each set of facts."""
        facts = dict.fromkeys(tuple(own) for own in self._totals.values())
        for names in facts:
            rows = [
                (group, f"{self._sizes[group]}", *(percent_text(own[name] / self._sizes[group]) for name in names))
                for group, own in self._totals.items()
                if tuple(own) == names
            ]
            yield Table(("group", "rows", *names), tuple(rows))


def add_csv_option(parser: ArgumentParser) -> None:
    """Add the option that names the file or the folder."""
    parser.add_argument(
        "--csv",
        type=Path,
        metavar="PATH",
        help="print the totals and write them: all tables into a folder, with bfcl those of its harness, or the chief "
        "one into FILE.csv",
    )


def check_writable(parser: ArgumentParser, path: Path) -> None:
    """Make the folder of the files. One that cannot be made ends the program through `parser`."""
    try:
        _folder(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        parser.error(f"--csv: cannot write to {safe_line(str(path))}: {error.strerror or error}")


def _folder(path: Path) -> Path:
    return path.parent if _is_file(path) else path


def _is_file(path: Path) -> bool:
    return path.suffix.lower() == ".csv"


def table_files(tables: Sequence[Table]) -> Iterator[tuple[str, str]]:
    """Yield the names and texts of files with these tables, which are called by their first titles."""
    for number, table in enumerate(tables, 1):
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerows([*map(safe_line, row)] for row in (table.titles, *table.rows))
        name = re.sub(r"\W+", "_", table.titles[0], flags=re.ASCII).strip("_").lower()
        yield f"{number}_{name}.csv" if len(tables) > 1 else f"{name or 'totals'}.csv", text.getvalue()


def write_tables(path: Path, files: Iterable[tuple[str, str]]) -> list[Path]:
    """Write the tables into a folder; into a file the chief one alone. Raises OSError."""
    written = [(path if _is_file(path) else path / name, text) for name, text in files]
    written = written[:1] if _is_file(path) else written
    for place, text in written:
        replace_file(place, [text.encode("utf-8", "backslashreplace")])
    return [place for place, _ in written]
