"""`fcall score`: stored answers, judged without a model."""

from __future__ import annotations

import sys
import time
from argparse import SUPPRESS, ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Final, TextIO

from pytest_fcall.cli.command_parser import command_parser, whole_number
from pytest_fcall.cli.score.rows import (
    JudgedRow,
    RowJudge,
    add_column_option,
    batches_for,
    check_readable,
    judge_batch,
    row_files,
)
from pytest_fcall.cli.score.summary import RowSummary, SuiteSummary, add_csv_option, check_writable, write_tables
from pytest_fcall.cli.score.workers import WorkFailed, map_in_order
from pytest_fcall.reporting.safe_text import safe_line
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

_OWN_FORMATS: Mapping[str, str] = MappingProxyType(dict.fromkeys(("text", "json"), "pytest_fcall.cli.score.own_cases"))
"""The output for answers to cases of one's own: a summary, or an object for each answer.

Its module also has `EXAMPLES`, and `summary_of(judge, options)`.
"""

_EXAMPLES = """\
examples:
  fcall score --cases cases answers.jsonl                        answers to your own cases
  fcall score --format bfcl --cases cases.jsonl answers.jsonl > verdicts.jsonl
  zcat answers.jsonl.gz | fcall score --format bfcl --cases cases.jsonl.gz -
  fcall score --format bfcl --cases cases.jsonl --compare -j 4 *.jsonl.gz > verdicts.jsonl
  fcall score --format toolbench answers.jsonl > scores.jsonl
  fcall score --format bfcl --cases cases.jsonl --engine=ray --output verdicts.parquet s3://bucket/answers.parquet
"""
_SECONDS_BETWEEN_UPDATES: Final = 0.25


def run(arguments: Sequence[str]) -> int:
    """Judge the rows; 1 where a row cannot be judged, or with `--compare` has another verdict.

    Answers to cases of one's own end as a run of pytest would.
    """
    name = _format_name(arguments)
    if name is None:
        # Ends with the help or an error, as --format is required.
        _parser(FORMATS, f"{_options_of_formats()}{_EXAMPLES}").parse_args(arguments)
        return 2
    formats = _OWN_FORMATS if name in _OWN_FORMATS else FORMATS
    module = import_module(formats[name])
    parser = _parser(formats, module.EXAMPLES if formats is _OWN_FORMATS else _EXAMPLES)
    module.add_options(parser)
    add_csv_option(parser)
    options = parser.parse_args(arguments)
    options.totals = options.totals or options.csv is not None
    judge: RowJudge = module.judge_of(parser, options)
    options.rows = [
        name for name in row_files(parser, options.rows, judge.file_endings) if not _is_skipped(judge, name)
    ]
    check_readable(parser, options.rows)
    if options.csv is not None:
        check_writable(parser, options.csv)
    with _open_differences(parser, vars(options).get("differences")) as differences:
        if formats is _OWN_FORMATS:
            summary: RowSummary = module.summary_of(judge, options)
        else:
            summary = SuiteSummary(judge, options.compare, shows_differences=differences is not None)
        if problem := _score_rows(options, judge, summary, differences):
            print(f"fcall score: {problem}", file=sys.stderr)
            return 1
    stream = sys.stdout if options.format == "text" else sys.stderr
    for line in summary.lines(table_width(stream, 100)):
        print(line, file=stream)
    if options.csv is not None:
        written = write_tables(options.csv, summary.files())
        print(*(safe_line(str(path)) for path in written), sep="\n", file=sys.stderr)
    return summary.status


def _parser(formats: Mapping[str, str], epilog: str) -> ArgumentParser:
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
    if formats is _OWN_FORMATS:
        parser.add_argument("--format", choices=formats, default="text", help="what is printed (default: text)")
    else:
        parser.add_argument("--format", choices=formats, required=True, help="the format of the rows of a suite")
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
    """The format of the command line, on which further options depend; None without one that exists.

    Where case files are named, and no format of a suite, answers are to cases of one's own: those of suites are JSON.
    """
    parser = ArgumentParser(add_help=False, exit_on_error=False, allow_abbrev=False)
    parser.add_argument("--cases")
    parser.add_argument("--format", default="text")
    options = parser.parse_known_args(arguments)[0]
    are_rows = (options.cases or ".jsonl").removesuffix(".gz").endswith((".jsonl", ".json"))
    if options.format in _OWN_FORMATS:
        return None if are_rows else str(options.format)
    return str(options.format) if options.format in FORMATS else None


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


@contextmanager
def _verdict_writer(options: Namespace) -> Iterator[Callable[[str], object]]:
    """A function that writes a verdict, into the file of the command line or to standard output. Raises OSError.

    Nothing secret gets into a file either.
    """
    if options.output is None:
        yield print if options.format != "text" else lambda _: None
        return
    from pytest_fcall.cli.safe_output import machine_secrets
    from pytest_fcall.cli.score.parquet_rows import verdict_file

    secrets = machine_secrets()
    with verdict_file(options.output) as write:
        yield lambda line: write(secrets.redacted(line))


def _judged_batches(options: Namespace, judge: RowJudge) -> Iterator[Sequence[JudgedRow]]:
    """The rows of all batches, judged, in their order: the number of processes changes nothing."""
    batches = batches_for(judge, options.rows, options.json_columns)
    if options.engine == "ray":
        from pytest_fcall.cli.score.workers import judge_on_cluster

        return judge_on_cluster(judge, batches, options.address)
    return map_in_order(partial(judge_batch, judge), batches, options.processes)


def _score_rows(options: Namespace, judge: RowJudge, summary: RowSummary, differences: TextIO | None) -> str:
    """Write verdicts as they come, and count them. Return what ended it early; empty where nothing did."""
    progress = _Progress(sys.stderr)
    try:
        with _verdict_writer(options) as write:
            for judged in _judged_batches(options, judge):
                for row in judged:
                    write(row.line)
                    if differences is not None and row.difference is not None:
                        print(row.difference_line, file=differences)
                    summary.add(row)
                progress.add(len(judged))
    except WorkFailed as died:
        return str(died)
    except OSError as error:
        if options.output is None:  # of standard output, which the command itself tells
            raise
        return f"cannot write {options.output}: {error.strerror or error}"
    finally:
        progress.clear()
    return ""


class _Progress:
    """A counter that updates itself on a terminal; silent elsewhere."""

    def __init__(self, stream: TextIO) -> None:
        bare: TextIO = getattr(stream, "bare", stream)
        self._stream = bare if bare.isatty() else None
        self._rows = 0
        self._next = time.monotonic() + _SECONDS_BETWEEN_UPDATES

    def add(self, rows: int) -> None:
        """Add rows, and show the number of all a few times a second."""
        self._rows += rows
        if self._stream is None or (now := time.monotonic()) < self._next:
            return
        self._next = now + _SECONDS_BETWEEN_UPDATES
        print(f"\r{self._rows:,} rows", end="", file=self._stream, flush=True)

    def clear(self) -> None:
        """Remove the counter from the terminal."""
        if self._stream is not None:
            print("\r\x1b[K", end="", file=self._stream, flush=True)
