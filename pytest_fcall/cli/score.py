"""`fcall score`: stored answers, judged without pytest and without a model."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace, RawDescriptionHelpFormatter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TextIO

from pytest_fcall.cli.scoring.judging import Judged, Judging
from pytest_fcall.cli.scoring.progress import Progress
from pytest_fcall.cli.scoring.rows import check, portions
from pytest_fcall.cli.scoring.summary import Summary
from pytest_fcall.cli.scoring.workers import WorkerDied, ordered

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
    module = import_module(f"pytest_fcall.cli.scoring.{_format(arguments)}")
    module.add_options(parser)
    options = parser.parse_args(arguments)
    if passed_over := getattr(module, "passed_over", None):
        options.rows = [name for name in options.rows if not _told(name, passed_over(name))]
    check(parser, options.rows)
    judging = Judging(module.judge_of(parser, options))
    with _differences(parser, vars(options).get("differences")) as differences:
        try:
            return _score(options, judging, differences)
        except WorkerDied as died:
            print(f"fcall score: {died}", file=sys.stderr)
            return 1


def _told(name: str, why: str) -> bool:
    """Say why a file is passed over, if it is."""
    if why:
        print(f"fcall score: {name} is passed over: {why}", file=sys.stderr)
    return bool(why)


def _format(arguments: Sequence[str]) -> str:
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


def _differences(parser: ArgumentParser, path: str | None) -> AbstractContextManager[TextIO | None]:
    try:
        return nullcontext() if path is None else Path(path).open("w", encoding="utf-8")
    except OSError as error:
        parser.error(f"cannot write {path}: {error.strerror}")


def _score(options: Namespace, judging: Judging, differences: TextIO | None) -> int:
    """Print verdicts as they come; what is said about all of them goes to standard error."""
    summary, progress = Summary(profiles="differences" in options), Progress(sys.stderr)
    for judged in _judged(options, judging):
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


def _judged(options: Namespace, judging: Judging) -> Iterator[Judged]:
    for judged in ordered(judging, portions(options.rows), options.processes):
        yield from judged
