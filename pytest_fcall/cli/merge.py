"""`fcall merge`: the runs of all shards, merged and judged as one run."""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

from pytest_fcall.cli.command_parser import command_parser
from pytest_fcall.cli.runs import open_run
from pytest_fcall.reporting.gates import gate_lines
from pytest_fcall.reporting.result_json import results_to_json
from pytest_fcall.reporting.results import Results
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.reporting.summary import summary_lines
from pytest_fcall.reporting.terminal import marks_for, table_width
from pytest_fcall.session.result.case_rows import differing_lines
from pytest_fcall.session.result.fragility import variant_lines
from pytest_fcall.session.result.judged_run import JudgedRun, failures_of, judge_run
from pytest_fcall.session.result.kept_runs import Run
from pytest_fcall.session.result.suite_scores import score_lines, unknown_suite_lines
from pytest_fcall.suites.builtin import SUITES
from pytest_fcall.tracking.run_accounts import accounts_path, join_accounts
from pytest_fcall.tracking.run_file import RunFile, RunFileError, moment_of, write_run

_EXAMPLES = """\
examples:
  fcall merge shards/*.json                      the runs of --fc-shard=1/8 to 8/8, from .fcall/runs of each machine
  fcall merge shards/*.json -o merged.json       also write the merged run, for `fcall compare` and others

Exit codes are those of pytest: 0, success; 1, a gate or a case failed, or a model is worse than before; 10,
inconclusive: shards or replies are missing, or wrong answers may be chance. 2 means a wrong command line.
"""


def run(arguments: Sequence[str]) -> int:
    """Print summary and gates of all shards together; the exit status is that of one run over all cases."""
    parser = command_parser("merge", "Merge the runs of all shards, and judge the gates over all of them.", _EXAMPLES)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="a run file")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="write the merged run to FILE")
    options = parser.parse_args(arguments)
    try:
        merged = _merge([open_run(parser, path) for path in options.files])
    except (_UnmergeableRuns, RunFileError) as error:
        parser.error(safe_line(str(error)))
    width, tables = shutil.get_terminal_size((80, 24)).columns, table_width(sys.stdout, 80)
    results = merged.results
    above = [*score_lines(SUITES, results.results, tables), *unknown_suite_lines(SUITES, results.results)]
    differing = differing_lines(results.results, width, marks_for(sys.stdout.encoding))
    above += variant_lines(results.results, tables, fully=False)
    print(*above, *summary_lines(results, width, differing=differing, table_width=tables), *merged.lines, sep="\n")
    if options.output:
        write_run(options.output, merged.file)
        join_accounts(accounts_path(options.output), map(accounts_path, options.files))
    return merged.judged.status


class _UnmergeableRuns(ValueError):
    """The runs are not the shards of one run. The text says why."""


class _MergedRun(NamedTuple):
    """The run that the shards are parts of."""

    file: RunFile
    results: Results
    judged: JudgedRun

    @property
    def lines(self) -> list[str]:
        """The lines about models and gates."""
        if self.judged.unjudged:
            return [f"{'gates are not judged' if self.file.gates else 'incomplete'}: {self.judged.unjudged}"]
        return [*self.judged.worse, *gate_lines(self.judged.gates), *self.judged.notes]


def _merge(runs: Sequence[Run]) -> _MergedRun:
    """Merge runs. Raises _UnmergeableRuns, and RunFileError where gates cannot be read."""
    missing = _missing_part(runs)
    first = runs[0].file
    results = _merged_results(runs)
    file = first._replace(
        id=max(moment_of(run.file.id) for run in runs),  # so that no part is later than the whole
        started=min(run.file.started for run in runs),
        results=results_to_json(results),
        failed=asdict(failures_of(*(run.file for run in runs))),
        broken_off=bool(missing),
        empty=all(run.file.empty for run in runs),
        shard=None,
        parts=tuple(run.file.id for run in runs),
    )
    judged = judge_run(file, results, SUITES, missing)
    return _MergedRun(file._replace(failed=asdict(judged.failures)), results, judged)


def _missing_part(runs: Sequence[Run]) -> str:
    """The missing part of the whole run; empty where there is none. Raises _UnmergeableRuns."""
    for run in runs[1:]:
        for name, title in (("gates", "gates"), ("fail", "values of --fc-fail"), ("models", "models")):
            if getattr(run.file, name) != getattr(runs[0].file, name):
                raise _UnmergeableRuns(f"{runs[0].path} and {run.path} were run with different {title}")
    versions = dict.fromkeys(str(each) for run in runs if (each := run.file.provenance.get("pytest_fcall")))
    if len(versions) > 1:
        raise _UnmergeableRuns(f"the runs were made by different versions of pytest-fcall: {' and '.join(versions)}")
    _check_commits(runs)
    tests = Counter((result.nodeid, result.model) for run in runs for result in run.results.results)
    if repeated := next((nodeid for (nodeid, _), count in tests.items() if count > 1), None):
        raise _UnmergeableRuns(f"{repeated} is in more than one of the files")
    if missing := _missing_shards(runs):
        return f"{'shard' if len(missing) == 1 else 'shards'} {', '.join(missing)} missing"
    interrupted = [run.path.name for run in runs if run.file.broken_off]
    if interrupted:
        return f"{interrupted[0]} was interrupted"
    return "no shard ran a test" if all(run.file.empty for run in runs) else ""


def _check_commits(runs: Sequence[Run]) -> None:
    """Raise _UnmergeableRuns if two runs are of different commits. A run that knows none may be of any."""
    known = [(run, commit) for run in runs if isinstance(commit := run.file.provenance.get("commit"), str)]
    for run, commit in known[1:]:
        first, before = known[0]
        if commit != before:
            raise _UnmergeableRuns(
                f"{first.path} and {run.path} are runs of different commits: {before:.10} and {commit:.10}"
            )


def _missing_shards(runs: Sequence[Run]) -> list[str]:
    shards = [run.file.shard for run in runs]
    present = {shard for shard in shards if shard}
    if not present:
        return []
    counts = {count for _, count in present}
    if None in shards or len(counts) > 1:
        raise _UnmergeableRuns("these are not the shards of one run: the numbers of shards differ")
    if len(present) < len(shards):
        raise _UnmergeableRuns("the same shard was given twice")
    (count,) = counts
    return [f"{number}/{count}" for number in range(1, count + 1) if (number, count) not in present]


def _merged_results(runs: Sequence[Run]) -> Results:
    """All results, in the order of one run over all cases."""
    order = {model: place for place, model in enumerate(runs[0].file.models)}
    parts = [run.results for run in runs]
    results = sorted(
        (result for part in parts for result in part.results),
        key=lambda result: (order.get(result.model, 0), result.place),
    )
    return Results(
        results=tuple(results),
        missing=sum((Counter(part.missing) for part in parts), Counter()),
        missing_excused=all(part.missing_excused for part in parts),
        files_without_cases=max(part.files_without_cases for part in parts),
        unanswered=sum(part.unanswered for part in parts),
        stale=tuple(dict.fromkeys(each for part in parts for each in part.stale)),
        not_asked=sum(part.not_asked for part in parts),
        oldest_reply=max((part.oldest_reply for part in parts if part.oldest_reply is not None), default=None),
        newest_reply=min((part.newest_reply for part in parts if part.newest_reply is not None), default=None),
        undated_replies=any(part.undated_replies for part in parts),
    )
