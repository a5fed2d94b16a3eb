"""`fcall board`: models of several runs and files of verdicts beside each other, best first."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Final

from pytest_fcall.cli.command_parser import command_parser
from pytest_fcall.cli.project import root_of
from pytest_fcall.cli.runs import open_run, run_path
from pytest_fcall.core.message_text import plural_text
from pytest_fcall.reporting.reports.board.board import Board, board_lines
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.reporting.terminal import table_width
from pytest_fcall.session.endings import SettingError
from pytest_fcall.session.result.board import BoardSource, board_of, is_verdict_file, read_published, read_verdicts
from pytest_fcall.session.result.report_files import ReportFile, usable_report, write_portions
from pytest_fcall.suites.builtin import SUITES
from pytest_fcall.suites.json_files import BrokenFile
from pytest_fcall.tracking.run_file import run_paths

_WRITERS: Final[Mapping[str, str]] = {".html": "page", ".md": "markdown", ".csv": "rows"}
"""The module that writes a file of each suffix."""
_EXAMPLES = """\
examples:
  fcall board                                          the models of the last run
  fcall board monday.json tuesday.json -o board.html   those of two runs, as a page
  fcall board gpt.jsonl claude.jsonl -o board.md       verdicts that fcall score has printed, a file a model
  fcall board run.json --published data_overall.csv    with the figures of the leaderboard beside ours

RUN is the path of a run file, or the beginning of its name in .fcall/runs; VERDICTS is a file of what fcall score
printed, about one model, which is called like the file.
"""


def run(arguments: Sequence[str]) -> int:
    """Write or print the board; 1 where no model has answered anything."""
    parser = _parser()
    options = parser.parse_args(arguments)
    for path in options.output:
        _check_output(parser, path)
    try:
        published = {name: shares for path in options.published for name, shares in read_published(path).items()}
        sources = [*_sources(parser, options.sources, dict(options.name))]
    except (ValueError, BrokenFile) as error:
        parser.error(safe_line(str(error)))
    except OSError as error:
        parser.error(safe_line(f"cannot read {error.filename}: {error.strerror or error}"))
    board = board_of(sources, SUITES, published)
    if not any(model.whole.answered for model in board.models):
        where = "" if options.sources else " in the last run; `fcall board RUN` reads another"
        print(f"fcall board: no model has answered anything{where}", file=sys.stderr)
        return 1
    for path in options.output:
        write_portions(path, _writer_of(path.suffix.lower())(board))
        print(safe_line(str(path)))
    if not options.output:
        print(*board_lines(board, table_width(sys.stdout, 100)), sep="\n")
    return 0


def _sources(parser: ArgumentParser, names: Sequence[str], called: Mapping[str, str]) -> Iterator[BoardSource]:
    recorded = run_paths(root_of([Path.cwd()]))
    if not names and not recorded:
        parser.error("a run is needed, and .fcall/runs holds none: run pytest first")
    paths = [run_path(parser, name, recorded) for name in names] or recorded[-1:]
    found = [_source(parser, path) for path in paths]
    for source in found:
        renamed = [each._replace(model=called.get(each.model, each.model)) for each in source.results]
        yield source._replace(results=renamed)


def _source(parser: ArgumentParser, path: Path) -> BoardSource:
    if is_verdict_file(path):
        model = path.name.partition(".")[0] if path.name.endswith(".gz") else path.stem
        verdicts = read_verdicts(path, model)
        counts = (
            (verdicts.broken, "row", "without a verdict"),
            (verdicts.repeated, "row", "about a case that has another one; the share of right answers counts"),
        )
        remarks = [f"{path.name}: {plural_text(count, noun)} {what}" for count, noun, what in counts if count]
        return BoardSource(path.name, verdicts.results, remarks)
    if ".jsonl" in path.suffixes:
        parser.error(safe_line(f"{path}: not a file of verdicts: fcall score prints one with `valid` in each line"))
    found = open_run(parser, path)
    remarks = [f"{found.file.id}: a part of a run"] if found.file.shard or found.file.broken_off else []
    return BoardSource(found.file.id, found.results.results, remarks)


def _writer_of(suffix: str) -> Callable[[Board], Iterable[str]]:
    module = import_module(f"pytest_fcall.reporting.reports.board.{_WRITERS[suffix]}")
    writer: Callable[[Board], Iterable[str]] = module.write
    return writer


def _check_output(parser: ArgumentParser, path: Path) -> None:
    if path.suffix.lower() not in _WRITERS:
        parser.error(f"-o: {safe_line(str(path))}: a board is a page, Markdown or a table: {', '.join(_WRITERS)}")
    if path.suffix.lower() == ".html":
        try:
            usable_report(ReportFile("html", path))
        except SettingError as error:
            parser.error(safe_line(str(error)).removeprefix("--fc-report: "))


def _renaming(text: str) -> tuple[str, str]:
    model, equals, name = text.rpartition("=")
    if not (model and equals and name):
        raise ArgumentTypeError(f"must be MODEL=NAME, not {text!r}")
    return model, name


def _parser() -> ArgumentParser:
    parser = command_parser(
        "board", "Rank models by their accuracy, with what is known of their differences.", _EXAMPLES
    )
    parser.add_argument("sources", nargs="*", metavar="RUN|VERDICTS", help="runs and verdicts (default: the last run)")
    parser.add_argument(
        *("-o", "--output"),
        action="append",
        default=[],
        type=Path,
        metavar="PATH",
        help="a file to write: .html, .md or .csv; may be repeated (default: tables on the terminal)",
    )
    parser.add_argument(
        "--published",
        action="append",
        default=[],
        type=Path,
        metavar="FILE.csv",
        help="published figures: a column Model, and shares in percent by category, or the table of a suite",
    )
    parser.add_argument(
        "--name",
        action="append",
        default=[],
        type=_renaming,
        metavar="MODEL=NAME",
        help="call a model otherwise, such as in the published table; may be repeated",
    )
    return parser
