"""`fcall score`: stored answers, judged without a model."""

from __future__ import annotations

import signal
import sys
import time
from argparse import SUPPRESS, ArgumentParser, Namespace
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TextIO, TypeVar

from pytest_fcall.cli.command_parser import command_parser, whole_number
from pytest_fcall.cli.score.csv_totals import add_option, check_writable, table_files, write_tables
from pytest_fcall.cli.score.rows import (
    GroupTotals,
    JudgedRow,
    RowJudge,
    add_column_option,
    batches_for,
    check_readable,
    judge_batch,
    row_files,
)
from pytest_fcall.core.extension import Table
from pytest_fcall.reporting.number_text import percent_text, plural_text
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.reporting.score_tables import own_table_lines
from pytest_fcall.reporting.terminal import table_width

FORMATS: Mapping[str, str] = MappingProxyType(
    {
        "acebench": "pytest_fcall.cli.score.acebench",
        "api_blend": "pytest_fcall.cli.score.api_blend",
        "apibench": "pytest_fcall.cli.score.apibench",
        "bfcl": "pytest_fcall.cli.score.bfcl",
        "mannheim": "pytest_fcall.cli.score.mannheim",
        "nestful": "pytest_fcall.cli.score.nestful",
        "toolbench": "pytest_fcall.cli.score.toolbench",
    }
)
"""The module of each format, imported only when it is used.

It has `add_options(parser)`, and `judge_of(parser, options)`, which returns a RowJudge.
"""

_OWN_FORMATS = ("text", "json")
"""The text that is printed of answers to cases of one's own."""
_MOST_DISAGREEMENTS = 10
_SECONDS_BETWEEN_UPDATES = 0.25
_PIECES_PER_PROCESS = 4
"""Pieces of work in progress or waiting for each process: enough to keep it busy, few enough for the memory."""

_EXAMPLES = """\
examples:
  fcall score --cases cases answers.jsonl                        answers to your own cases
  fcall score --format bfcl --cases cases.jsonl answers.jsonl > verdicts.jsonl
  zcat answers.jsonl.gz | fcall score --format bfcl --cases cases.jsonl.gz -
  fcall score --format bfcl --cases cases.jsonl --compare -j 4 *.jsonl.gz > verdicts.jsonl
  fcall score --format toolbench answers.jsonl > scores.jsonl
  fcall score --format bfcl --cases cases.jsonl --engine=ray --output verdicts.parquet s3://bucket/answers.parquet
"""


def run(arguments: Sequence[str]) -> int:
    """Judge the rows; 1 where a row cannot be judged, or with `--compare` has another verdict.

    Answers to cases of one's own end as a run of pytest would.
    """
    name = _format_name(arguments)
    if name is None and _are_own_cases(arguments):
        from pytest_fcall.cli.score.own_cases import run_own_cases

        return run_own_cases(arguments, _OWN_FORMATS)
    parser = _parser(_EXAMPLES if name else f"{_options_of_formats()}{_EXAMPLES}")
    if name is None:
        parser.parse_args(arguments)  # ends with the help or an error, as --format is required
        return 2
    module = import_module(FORMATS[name])
    module.add_options(parser)
    add_option(parser)
    options = parser.parse_args(arguments)
    options.totals = options.totals or options.csv is not None
    judge: RowJudge = module.judge_of(parser, options)
    options.rows = [name for name in row_files(parser, options.rows) if not _is_skipped(judge, name)]
    check_readable(parser, options.rows)
    if options.csv is not None:
        check_writable(parser, options.csv)
    with _open_differences(parser, vars(options).get("differences")) as differences:
        try:
            with _verdict_file(options.output) as write:
                return _score_rows(options, judge, differences, write)
        except WorkerDied as died:
            print(f"fcall score: {died}", file=sys.stderr)
            return 1
        except OSError as error:
            if options.output is None:  # of standard output, which the command itself tells
                raise
            print(f"fcall score: cannot write {options.output}: {error.strerror or error}", file=sys.stderr)
            return 1


def _parser(epilog: str) -> ArgumentParser:
    parser = command_parser(
        "score",
        "Judge stored answers: to your own cases, or by the original rules of a suite, and for some suites by strict "
        "rules as well.",
        epilog,
    )
    parser.add_argument(
        "rows",
        nargs="+",
        metavar="ROWS",
        help="answers as JSON Lines, also gzipped, or Parquet: a path, an address such as s3://bucket/name, or a "
        "folder of results; - is stdin",
    )
    parser.add_argument("--format", choices=FORMATS, required=True, help="the format of the rows of a suite")
    parser.add_argument(
        "--compare", action="store_true", help="count the verdicts that agree with those recorded in the rows"
    )
    parser.add_argument(
        "-j", "--processes", type=whole_number(256), default=1, metavar="N", help="use N processes (default: 1)"
    )
    add_column_option(parser)
    parser.add_argument(
        "--output", metavar="FILE", help="write the verdicts there, by a path or an address: .jsonl, or .parquet"
    )
    parser.add_argument("--engine", choices=("ray",), help="judge on a cluster of Ray instead of in processes")
    parser.add_argument(
        "--address", metavar="HOST:PORT", help="with --engine=ray: the cluster (default: RAY_ADDRESS, else a local one)"
    )
    return parser


def _format_name(arguments: Sequence[str]) -> str | None:
    """The format of the command line, on which further options depend; None without one that exists."""
    parser = ArgumentParser(add_help=False, exit_on_error=False, allow_abbrev=False)
    parser.add_argument("--format")
    name = parser.parse_known_args(arguments)[0].format
    return str(name) if name in FORMATS else None


def _are_own_cases(arguments: Sequence[str]) -> bool:
    """Whether case files are named, and no format of a suite. The cases of suites are JSON Lines."""
    parser = ArgumentParser(add_help=False, exit_on_error=False, allow_abbrev=False)
    parser.add_argument("--cases")
    parser.add_argument("--format", default=_OWN_FORMATS[0])
    options = parser.parse_known_args(arguments)[0]
    are_rows = (options.cases or ".jsonl").removesuffix(".gz").endswith((".jsonl", ".json"))
    return options.format in _OWN_FORMATS and not are_rows


def _options_of_formats() -> str:
    """The options of each format, for the help."""
    blocks = [
        "answers to your own cases: --cases PATH without a format of a suite; see fcall score --cases . --help\n\n"
    ]
    for name, module in FORMATS.items():
        parser = ArgumentParser(add_help=False, usage=SUPPRESS)
        import_module(module).add_options(parser)
        if options := parser.format_help().strip().removeprefix("options:"):
            blocks.append(f"options with --format {name}:{options}\n\n")
    return "".join(blocks)


def _is_skipped(judge: RowJudge, name: str) -> bool:
    reason = judge.skip_reason(name)
    if reason:
        print(f"fcall score: skipped {name}: {reason}", file=sys.stderr)
    return bool(reason)


def _open_differences(parser: ArgumentParser, path: str | None) -> AbstractContextManager[TextIO | None]:
    try:
        return nullcontext() if path is None else Path(path).open("w", encoding="utf-8")
    except OSError as error:
        parser.error(f"cannot write {path}: {error.strerror}")


def _verdict_file(name: str | None) -> AbstractContextManager[Callable[[str], object]]:
    """What writes a verdict: into the file of this name, or to standard output. Raises OSError."""
    if name is None:
        return nullcontext(print)
    from pytest_fcall.cli.score.parquet_rows import verdict_file

    return verdict_file(name)


def _judged_batches(options: Namespace, judge: RowJudge) -> Iterator[Sequence[JudgedRow]]:
    """The rows of all batches, judged, in their order: whoever judges them changes nothing."""
    batches = batches_for(judge, options.rows, options.json_columns)
    if options.engine == "ray":
        from pytest_fcall.cli.score.ray_judging import judge_on_cluster

        return judge_on_cluster(judge, batches, options.address)
    return map_in_order(partial(judge_batch, judge), batches, options.processes)


def _score_rows(options: Namespace, judge: RowJudge, differences: TextIO | None, write: Callable[[str], object]) -> int:
    """Write verdicts as they come to a file or to standard output, and the summary to standard error."""
    summary, progress = ScoreSummary(judge.has_two_profiles), Progress(sys.stderr)
    for judged in _judged_batches(options, judge):
        for row in judged:
            write(row.line)
            if differences is not None and row.difference is not None:
                print(row.difference_line, file=differences)
            summary.add(row)
            progress.show(summary.rows)
    progress.clear()
    if options.compare or differences is not None:
        print(*summary.lines(), sep="\n", file=sys.stderr)
    elif summary.broken:
        print(f"fcall score: {summary.broken:,} of {summary.rows:,} rows could not be judged", file=sys.stderr)
    for line in summary.cautions():
        print(f"fcall score: {line}", file=sys.stderr)
    for line in summary.totals():
        print(line, file=sys.stderr)
    tables = [*judge.tables(summary.groups.sums)]
    width = table_width(sys.stderr, 100)
    for table in tables:
        print(*own_table_lines("", table, width), sep="\n", file=sys.stderr)
    if options.csv is not None:
        files = [*judge.csv_files(summary.groups)] or table_files([*summary.fact_tables(), *tables])
        print(*(safe_line(str(path)) for path in write_tables(options.csv, files)), sep="\n", file=sys.stderr)
    return 1 if summary.broken or (options.compare and summary.disagreeing) else 0


@dataclass(slots=True)
class ScoreSummary:
    """Counts of rows, verdicts and differences."""

    has_two_profiles: bool
    rows: int = 0
    broken: int = 0
    disagreeing: int = 0
    _compared: Counter[str] = field(default_factory=Counter)
    _agreeing: Counter[str] = field(default_factory=Counter)
    _differences: Counter[str] = field(default_factory=Counter)
    _shown: list[str] = field(default_factory=list)
    groups: GroupTotals = field(default_factory=GroupTotals)
    _totals: dict[str, Counter[str]] = field(default_factory=dict)
    _sizes: Counter[str] = field(default_factory=Counter)
    _cautions: Counter[str] = field(default_factory=Counter)

    def add(self, row: JudgedRow) -> None:
        """Count one row."""
        self.rows += 1
        self.broken += row.broken
        self._compared.update(row.comparison.keys())
        self._agreeing.update(key for key, disagreement in row.comparison.items() if disagreement is None)
        if row.caution:
            self._cautions[row.caution] += 1
        if row.difference is not None:
            self._differences[row.difference] += 1
        if row.group_facts is not None:
            group, facts = row.group_facts
            self._sizes[group] += 1
            self._totals.setdefault(group, Counter()).update(facts)
        self.groups.add(row.group_sums, row.group_values)
        if disagreements := [each for each in row.comparison.values() if each is not None]:
            self.disagreeing += 1
            if len(self._shown) < _MOST_DISAGREEMENTS:
                self._shown.append(f"  {row.place}: {'; '.join(disagreements)}")

    def lines(self) -> Iterator[str]:
        """The agreement with the recorded verdicts, and the differences between the profiles."""
        broken = f", {self.broken:,} of them broken" if self.broken else ""
        yield f"{plural_text(self.rows, 'row')}{broken}"
        for key, compared in self._compared.items():
            yield f"{key}: {self._agreeing[key]:,} of {compared:,} agree with the rows"
        yield from self._shown
        if (more := self.disagreeing - len(self._shown)) > 0:
            yield f"  and {more:,} more"
        if self.has_two_profiles:
            yield f"the profiles differ in {plural_text(self._differences.total(), 'row')}"
        yield from (f"{number:8,}  {name}" for name, number in self._differences.most_common())

    def cautions(self) -> Iterator[str]:
        """The causes of doubtful verdicts, with the number of rows."""
        for caution, number in self._cautions.items():
            yield f"{number:,} of {plural_text(self.rows, 'row')}: {caution}"

    def fact_tables(self) -> Iterator[Table]:
        """The same percentages as a table, for each set of facts."""
        facts = dict.fromkeys(tuple(own) for own in self._totals.values())
        for names in facts:
            rows = [
                (group, f"{self._sizes[group]}", *(percent_text(own[name] / self._sizes[group]) for name in names))
                for group, own in self._totals.items()
                if tuple(own) == names
            ]
            yield Table(("group", "rows", *names), tuple(rows))

    def totals(self) -> Iterator[str]:
        """For each group, the percentage of rows of which each fact is true."""
        for group, facts in self._totals.items():
            size = self._sizes[group]
            rates = ", ".join(f"{100 * number / size:.2f}% {fact}" for fact, number in facts.items())
            yield f"{group}: {plural_text(size, 'row')}, {rates}"


class Progress:
    """A counter that updates itself on a terminal; silent elsewhere."""

    def __init__(self, stream: TextIO) -> None:
        bare: TextIO = getattr(stream, "bare", stream)
        self._stream = bare if bare.isatty() else None
        self._next = time.monotonic() + _SECONDS_BETWEEN_UPDATES

    def show(self, rows: int) -> None:
        """Show the number of rows, a few times a second."""
        if self._stream is None or (now := time.monotonic()) < self._next:
            return
        self._next = now + _SECONDS_BETWEEN_UPDATES
        print(f"\r{rows:,} rows", end="", file=self._stream, flush=True)

    def clear(self) -> None:
        """Remove the counter from the terminal."""
        if self._stream is not None:
            print("\r\x1b[K", end="", file=self._stream, flush=True)


class WorkerDied(RuntimeError):
    """A process ended before its work was done."""


Given = TypeVar("Given")
Result = TypeVar("Result")


def map_in_order(work: Callable[[Given], Result], given: Iterable[Given], processes: int) -> Iterator[Result]:
    """The results of `work`, in the order of what is given. Raises WorkerDied."""
    return map(work, given) if processes == 1 else _map_in_processes(work, given, processes)


def _map_in_processes(work: Callable[[Given], Result], given: Iterable[Given], processes: int) -> Iterator[Result]:
    from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor

    pending: deque[Future[Result]] = deque()
    pool = ProcessPoolExecutor(processes, initializer=_ignore_interrupts)
    try:
        for piece in given:
            with _interrupts_blocked():
                pending.append(pool.submit(work, piece))
            if len(pending) >= processes * _PIECES_PER_PROCESS:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    except BrokenExecutor:
        raise WorkerDied("a worker process was killed, perhaps by lack of memory; use fewer processes") from None
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Block interrupts while processes start.

    A fork that is interrupted before it has its initializer would run on as a copy of the parent.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
