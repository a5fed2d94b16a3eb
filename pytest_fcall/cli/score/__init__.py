"""`fcall score`: stored answers, judged without pytest and without a model."""

from __future__ import annotations

import signal
import sys
import time
from argparse import ArgumentParser, ArgumentTypeError, Namespace, RawDescriptionHelpFormatter
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TextIO, TypeVar

from pytest_fcall.cli.counting import count
from pytest_fcall.cli.score.rows import JudgedRow, PortionJudge, check_readable, row_portions

_SECONDS_BETWEEN = 0.25


class Progress:
    """A line that renews itself; silent where nobody watches."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream if stream.isatty() else None
        self._next = time.monotonic() + _SECONDS_BETWEEN

    def show(self, rows: int) -> None:
        """Say how many rows are done, a few times a second."""
        if self._stream is None or (now := time.monotonic()) < self._next:
            return
        self._next = now + _SECONDS_BETWEEN
        print(f"\r{rows:,} rows", end="", file=self._stream, flush=True)

    def leave(self) -> None:
        """Take the line away."""
        if self._stream is not None:
            print("\r\x1b[K", end="", file=self._stream, flush=True)


_MOST_DISAGREEMENTS = 10


@dataclass(slots=True)
class ScoreSummary:
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

    def add(self, judged: JudgedRow) -> None:
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
            if len(self._shown) < _MOST_DISAGREEMENTS:
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


Given = TypeVar("Given")
Result = TypeVar("Result")

_PIECES_PER_PROCESS = 4
"""Pieces of work a process that are under way or waiting: enough to keep it busy, few enough for any memory."""


class WorkerDied(RuntimeError):
    """A process ended before its work was done. The text says so."""


def map_in_order(work: Callable[[Given], Result], given: Iterable[Given], processes: int) -> Iterator[Result]:
    """Do `work` on everything given; results come in the order of what they are made from."""
    return map(work, given) if processes == 1 else _map_in_processes(work, given, processes)


def _map_in_processes(work: Callable[[Given], Result], given: Iterable[Given], processes: int) -> Iterator[Result]:
    from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor

    under_way: deque[Future[Result]] = deque()
    pool = ProcessPoolExecutor(processes, initializer=_ignore_interrupts)
    try:
        for piece in given:
            with _interrupts_blocked():
                under_way.append(pool.submit(work, piece))
            if len(under_way) >= processes * _PIECES_PER_PROCESS:
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()
    except BrokenExecutor:
        raise WorkerDied("a process that judged rows was killed, perhaps for want of memory; try fewer") from None
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Have processes that begin meanwhile never interrupted, not even in their first instant.

    A fork that is interrupted before it knows what it is to do goes on as its parent would.
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


FORMATS: Mapping[str, str] = MappingProxyType(
    {
        "apibench": "answers to the questions of APIBench",
        "bfcl": "answers to the Berkeley Function Calling Leaderboard",
        "mannheim": "logged runs of the Mannheim function calling benchmark",
        "toolbench": "answers to ToolBench's home_search, booking and virtual_home",
    }
)
"""Each has a module of its name in `scoring`, with `add_options(parser)` and `judge_of(parser, options)`."""

_EXAMPLES = """\
examples:
  fcall score --format bfcl --cases cases.jsonl answers.jsonl > verdicts.jsonl
  zcat answers.jsonl.gz | fcall score --format bfcl --cases cases.jsonl.gz -
  fcall score --format bfcl --cases cases.jsonl --compare -j 4 *.jsonl.gz > verdicts.jsonl
  fcall score --format toolbench answers.jsonl > scores.jsonl
"""


def run(arguments: Sequence[str]) -> int:
    """Judge the rows; 1 where a row is broken, or with `--compare` differs."""
    parser = _parser()
    module = import_module(f"pytest_fcall.cli.score.{_named_format(arguments)}")
    module.add_options(parser)
    options = parser.parse_args(arguments)
    if passed_over := getattr(module, "passed_over", None):
        options.rows = [name for name in options.rows if not _print_passed_over(name, passed_over(name))]
    check_readable(parser, options.rows)
    judging = PortionJudge(module.judge_of(parser, options))
    with _open_differences(parser, vars(options).get("differences")) as differences:
        try:
            return _score_rows(options, judging, differences)
        except WorkerDied as died:
            print(f"fcall score: {died}", file=sys.stderr)
            return 1


def _print_passed_over(name: str, why: str) -> bool:
    """Say why a file is passed over, if it is."""
    if why:
        print(f"fcall score: {name} is passed over: {why}", file=sys.stderr)
    return bool(why)


def _named_format(arguments: Sequence[str]) -> str:
    """Look ahead for the format, on which further options depend; `--help` shows those of the first."""
    ahead = ArgumentParser(add_help=False, exit_on_error=False, allow_abbrev=False)
    ahead.add_argument("--format")
    name = ahead.parse_known_args(arguments)[0].format
    return str(name) if name in FORMATS else next(iter(FORMATS))


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="fcall score",
        description="Judge stored answers by the original rules of their suite; some by ours, too.",
        epilog=_EXAMPLES,
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "rows", nargs="+", metavar="ROWS", help="answers as JSON Lines, also gzipped; - is standard input"
    )
    parser.add_argument("--format", choices=FORMATS, required=True, help="whose rows they are")
    parser.add_argument(
        "--compare", action="store_true", help="tell how many verdicts are those that the rows bring along"
    )
    parser.add_argument("-j", "--processes", type=_processes, default=1, metavar="N", help="work with N processes")
    return parser


def _processes(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 256:
        raise ArgumentTypeError(f"{text!r} is not a number from 1 to 256")
    return int(text)


def _open_differences(parser: ArgumentParser, path: str | None) -> AbstractContextManager[TextIO | None]:
    try:
        return nullcontext() if path is None else Path(path).open("w", encoding="utf-8")
    except OSError as error:
        parser.error(f"cannot write {path}: {error.strerror}")


def _score_rows(options: Namespace, judging: PortionJudge, differences: TextIO | None) -> int:
    """Print verdicts as they come; what is said about all of them goes to standard error."""
    summary, progress = ScoreSummary(profiles="differences" in options), Progress(sys.stderr)
    for judged in _judged_rows(options, judging):
        print(judged.line)
        if differences is not None and judged.difference is not None:
            print(judged.difference_line, file=differences)
        summary.add(judged)
        progress.show(summary.rows)
    progress.leave()
    if options.compare or differences is not None:
        print(*summary.lines(), sep="\n", file=sys.stderr)
    elif summary.broken:
        print(f"fcall score: {summary.broken:,} of {summary.rows:,} rows could not be judged", file=sys.stderr)
    for line in summary.totals():
        print(line, file=sys.stderr)
    return 1 if summary.broken or (options.compare and summary.disagreeing) else 0


def _judged_rows(options: Namespace, judging: PortionJudge) -> Iterator[JudgedRow]:
    for judged in map_in_order(judging, row_portions(options.rows), options.processes):
        yield from judged
