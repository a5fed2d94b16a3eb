"""`fcall tools compare`: the same cases with two versions of their tools, paired case by case."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from pytest_fcall.cli.project import Project
from pytest_fcall.cli.tools.sides import NOTES, RESULTS, TASK, TODAY, NoSide, SilentServer, ToolSide, side_of
from pytest_fcall.cli.tools.sources import SourceClient
from pytest_fcall.core.files import replace_file
from pytest_fcall.core.message_text import plural_text
from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.run_comparison import RunComparison, comparison_lines, conclusion_text
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.reporting.terminal import table_width
from pytest_fcall.session.result.compared_runs import compare_runs
from pytest_fcall.session.result.kept_runs import Run, load_run
from pytest_fcall.tracking.run_file import RunFileError

COMPARE_EXAMPLES = """\
examples:
  fcall tools compare --from=git:main                          the tools at a revision, and as they are
  fcall tools compare --to=live                                lock files, and what the servers say now
  fcall tools compare --from=old.tools.yaml --to=new.tools.yaml
  fcall tools compare --from=git:main --fc-model=openai:gpt-5.2 -- --fc-samples=5

Runs the case files as they are twice, with one version of their tools and with the other, and pairs the answers. Only
what stands under `tools:`, in files that it names and in lock files differs. A version is git:REVISION, live, today, a
FILE that stands for the only file of its kind or name that has tools, or NAMED=FILE. No file of the project is
changed, and neither run is kept; replies are recorded as ever, and recorded ones are used.

exit status: 0 not significantly worse; 1 a model is significantly worse with the second version (p at most 0.05);
2 wrong command line, or nothing to compare; 10 not judged: a case has no answer on one of the sides.
"""

_MOST: Final = 20
_REFUSED: Final = 2
_USAGE_ERROR: Final = 4
"""The exit status of pytest where it refuses to run."""
_NOT_JUDGED: Final = 10
_MOST_WHYS: Final = 5


def add_compare_options(action: ArgumentParser) -> None:
    """Add the options of the action."""
    action.add_argument(
        "--from", dest="before", default=TODAY, metavar="VERSION", help="the first version (default: today's)"
    )
    action.add_argument(
        "--to", dest="now", default=TODAY, metavar="VERSION", help="the second version (default: today's)"
    )
    action.add_argument("--fc-model", action="append", default=[], metavar="KIND:NAME", help="the models that answer")
    action.add_argument("--all", action="store_true", help=f"list all lost and won cases, not only {_MOST} of each")
    action.add_argument("--format", choices=("text", "json"), default="text", help="the output format (default: text)")


def compare_tools(parser: ArgumentParser, project: Project, options: Namespace, for_pytest: Sequence[str]) -> int:
    """Run the cases with both versions, and print the comparison; see the exit status above."""
    if options.before == options.now:
        parser.error("name two versions of the tools, such as --from=git:main")
    arguments = [*(f"--fc-model={model}" for model in options.fc_model), *for_pytest, *map(str, options.paths)]
    with TemporaryDirectory(prefix="fcall-tools-", ignore_cleanup_errors=True) as name, _ended_by_sigterm():
        try:
            sides = _sides(parser, project, options, Path(name).resolve())
        except SilentServer as error:
            print(error, file=sys.stderr)
            return _NOT_JUDGED
        runs: list[_SideRun] = []
        for side, other in (sides, sides[::-1]):
            print(safe_line(f"fcall: the cases with the tools of {side.title}"), file=sys.stderr, flush=True)
            ran = _run([side, other], arguments)
            if isinstance(ran, int):
                print(safe_line(f"fcall: nothing was judged with the tools of {side.title}"), file=sys.stderr)
                return ran
            runs.append(ran)
            if not any(result.answered for result in ran.run.results.results):
                lines = [*_open_lines(ran)] or [f"not judged: no case has an answer with the tools of {side.title}"]
                print(*map(safe_line, lines), sep="\n", file=sys.stderr)
                return _NOT_JUDGED
        before, now = runs
        return _conclude(before, now, options)


def _sides(parser: ArgumentParser, project: Project, options: Namespace, folder: Path) -> list[ToolSide]:
    """The two versions. Raises SilentServer; what else is wrong with them ends the program through `parser`."""
    client = SourceClient(options.timeout, project.root)
    sides = []
    for option, version in (("from", options.before), ("to", options.now)):
        (folder / option).mkdir()
        try:
            sides.append(side_of(version, project, folder / option, client))
        except SilentServer:
            raise
        except NoSide as error:
            parser.error(f"--{option}: {error}")
    return sides


@dataclass(frozen=True, slots=True)
class _SideRun:
    """The run of the cases with the tools of a side."""

    side: ToolSide
    run: Run
    notes: Mapping[str, Any]
    """The number of items, what differs from the other side, the tools that cases expect, why some have no answer."""

    @property
    def unjudged(self) -> list[Result]:
        """The cases without an answer that should have one."""
        return [each for each in self.run.results.results if each.status == "error" or each.no_reply]

    @property
    def missing(self) -> int:
        """The number of cases that the run did not come to."""
        return int(self.notes["items"]) - len(self.run.results.results)


def _run(sides: Sequence[ToolSide], arguments: Sequence[str]) -> _SideRun | int:
    """Run the cases in a process of their own, so that neither side finds what the other has left. Or an exit status.

    The process is told by a file what to do: options may hold a key, which others could see among its arguments.
    """
    folder = Path(sides[0].folder)
    task = {"sides": [asdict(side) for side in sides], "arguments": [*arguments]}
    replace_file(folder / TASK, [json.dumps(task).encode()], 0o600)
    command = [sys.executable, "-P", "-m", "pytest_fcall.cli.tools.side_run", str(folder)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=2, check=False)  # noqa: S603  this program
    if not (folder / NOTES).is_file():
        return _REFUSED
    try:
        return _SideRun(sides[0], load_run(folder / RESULTS), json.loads((folder / NOTES).read_text("utf-8")))
    except RunFileError:
        return _REFUSED if done.returncode == _USAGE_ERROR else _NOT_JUDGED


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """Have SIGTERM end this process as Ctrl-C does: the process that asks must not go on alone."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _conclude(before: _SideRun, now: _SideRun, options: Namespace) -> int:
    comparison = replace(
        compare_runs(*(_by_expected_tool(each.run, before.notes["expected"]) for each in (before, now))),
        before=f"the tools of {before.side.title}",
        now=f"the tools of {now.side.title}",
        grouped_by="expects",
    )
    open_lines = [*_open_lines(before), *_open_lines(now)]
    if options.format == "json":
        print(json.dumps(_json(comparison, before, now), indent=2))
    else:
        width = table_width(sys.stdout, 100)
        lines = [*before.notes["changes"], *comparison_lines(comparison, width, None if options.all else _MOST)]
        print("\n".join(map(safe_line, [*lines, *_verdict_lines(comparison), *before.notes["left_out"]])))
    for line in open_lines:
        print(safe_line(line), file=sys.stderr)
    unpaired = comparison.only_before or comparison.only_now or comparison.edited  # such as skipped on one side alone
    if open_lines or unpaired or not comparison.models:
        return _NOT_JUDGED
    return int(any(model.difference < 0 and model.is_significant for model in comparison.models))


def _by_expected_tool(run: Run, expected: Sequence[tuple[str, str, str]]) -> Run:
    """The run with the expected tools of each case as its category."""
    titles = {(file, case): title for file, case, title in expected}
    results = tuple(
        each._replace(category=titles.get((each.file, each.case), each.category)) for each in run.results.results
    )
    return replace(run, results=replace(run.results, results=results))


def _verdict_lines(comparison: RunComparison) -> Iterator[str]:
    """A line for each model, with the conclusion of the test."""
    for model in comparison.models:
        unchanged = f"{model.cases - model.won - model.lost:,} unchanged"
        yield f"{model.model}: {model.won:,} won, {model.lost:,} lost, {unchanged}. {conclusion_text(model)}"


def _open_lines(side: _SideRun) -> Iterator[str]:
    """Lines about the cases of a side that were not judged."""
    if side.unjudged:
        first = side.unjudged[0]
        number = plural_text(len(side.unjudged), "case")
        yield f"not judged: {number} without an answer with the tools of {side.side.title}, such as {first.nodeid}"
        yield from (f"  {why}" for why in side.notes["whys"][:_MOST_WHYS])
        for model in dict.fromkeys(missing.model for missing in side.run.results.missing):
            yield f"  no recorded reply of {model}: --fc-model={model}, without --fc-replay, asks"
    if side.missing > 0:
        number = plural_text(side.missing, "case")
        yield f"not judged: the run with the tools of {side.side.title} ended before {number}"


def _json(comparison: RunComparison, before: _SideRun, now: _SideRun) -> dict[str, Any]:
    return {
        "before": before.side.title,
        "now": now.side.title,
        "changes": before.notes["changes"],
        "left_out": before.notes["left_out"],
        "models": [asdict(model) for model in comparison.models],
        "tools": [asdict(each) for each in comparison.categories],
        "lost": [each.nodeid for each in comparison.lost],
        "won": [each.nodeid for each in comparison.won],
        "not_judged": {
            side.side.title: {"cases": [each.nodeid for each in side.unjudged], "not_reached": side.missing}
            for side in (before, now)
        },
    }
