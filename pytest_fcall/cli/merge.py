"""`fcall merge`: the runs of all shards, merged and judged as one run."""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import get_args

from pytest_fcall.cli.command_parser import command_parser
from pytest_fcall.cli.runs import Run, open_run
from pytest_fcall.reporting.result_json import results_to_json
from pytest_fcall.reporting.results import Results
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.reporting.summary import summary_lines
from pytest_fcall.reporting.terminal import marks_for
from pytest_fcall.session.result.case_rows import differing_lines
from pytest_fcall.session.result.exit_status import FAILED, INCONCLUSIVE, Fail, RunFailures
from pytest_fcall.session.result.gates import Gates, gate_verdict_lines
from pytest_fcall.session.result.model_change import WorseModel, worse_models
from pytest_fcall.session.result.suite_scores import score_lines, score_names, unknown_suite_lines
from pytest_fcall.suites.builtin import SUITES
from pytest_fcall.tracking.gates import GateError, parse_gates
from pytest_fcall.tracking.run_accounts import accounts_path, join_accounts
from pytest_fcall.tracking.run_file import RunFile, moment_of, write_run

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
        merged = merge([open_run(parser, path) for path in options.files])
    except UnmergeableRuns as error:
        parser.error(safe_line(str(error)))
    width = shutil.get_terminal_size((80, 24)).columns
    results = merged.results
    scores = [*score_lines(SUITES, results.results, width), *unknown_suite_lines(SUITES, results.results)]
    differing = differing_lines(results.results, width, marks_for(sys.stdout.encoding))
    verdict_lines, status = merged.judge()
    print(*scores, *summary_lines(results, width, differing=differing), *verdict_lines, sep="\n")
    if options.output:
        write_run(options.output, merged.file)
        join_accounts(accounts_path(options.output), map(accounts_path, options.files))
    return status


class UnmergeableRuns(ValueError):
    """The runs are not the shards of one run. The text says why."""


@dataclass(frozen=True, slots=True)
class MergedRun:
    """The run that the shards are parts of."""

    file: RunFile
    results: Results
    failures: RunFailures
    gates: Gates
    missing: str
    """The missing part of the run; empty where it is complete."""
    worse: tuple[WorseModel, ...] = ()

    def judge(self) -> tuple[list[str], int]:
        """The lines about models and gates, and the exit status that one run would have had."""
        if self.missing:
            line = f"{'gates are not judged' if self.gates.gates else 'incomplete'}: {self.missing}"
            failed = self.failures.exit_status(self.gates.fail, ()) == FAILED
            return [line], FAILED if failed else INCONCLUSIVE
        verdicts = self.gates.judge(self.results.results, SUITES)
        worse = [each.line for each in self.worse]
        lines = [*worse, *gate_verdict_lines(verdicts), *self.gates.notes(self.failures)]
        return lines, self.failures.exit_status(self.gates.fail, verdicts)


def merge(runs: Sequence[Run]) -> MergedRun:
    """Merge runs. Raises UnmergeableRuns."""
    missing = _missing_part(runs)
    first = runs[0].file
    results = _merged_results(runs)
    failures = RunFailures(
        **{each.name: any(run.file.failed.get(each.name, False) for run in runs) for each in fields(RunFailures)}
    )
    worse = () if missing else tuple(worse_models(results.results))
    failures.worse |= bool(worse)
    file = replace(
        first,
        id=max(moment_of(run.file.id) for run in runs),  # so that no part is later than the whole
        started=min(run.file.started for run in runs),
        results=results_to_json(results),
        failed=asdict(failures),
        broken_off=bool(missing),
        shard=None,
        parts=tuple(run.file.id for run in runs),
    )
    return MergedRun(file, results, failures, _gates_of(first), missing, worse)


def _missing_part(runs: Sequence[Run]) -> str:
    """The missing part of the whole run; empty where there is none. Raises UnmergeableRuns."""
    for run in runs[1:]:
        for name, title in (("gates", "gates"), ("fail", "values of --fc-fail"), ("models", "models")):
            if getattr(run.file, name) != getattr(runs[0].file, name):
                raise UnmergeableRuns(f"{runs[0].path} and {run.path} were run with different {title}")
    tests = Counter((result.nodeid, result.model) for run in runs for result in run.results.results)
    if repeated := next((nodeid for (nodeid, _), count in tests.items() if count > 1), None):
        raise UnmergeableRuns(f"{repeated} is in more than one of the files")
    if missing := _missing_shards(runs):
        return f"{'shard' if len(missing) == 1 else 'shards'} {', '.join(missing)} missing"
    interrupted = [run.path.name for run in runs if run.file.broken_off]
    return f"{interrupted[0]} was interrupted" if interrupted else ""


def _missing_shards(runs: Sequence[Run]) -> list[str]:
    shards = [run.file.shard for run in runs]
    present = {shard for shard in shards if shard}
    if not present:
        return []
    counts = {count for _, count in present}
    if None in shards or len(counts) > 1:
        raise UnmergeableRuns("these are not the shards of one run: the numbers of shards differ")
    if len(present) < len(shards):
        raise UnmergeableRuns("the same shard was given twice")
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
        not_asked=sum(part.not_asked for part in parts),
        oldest_reply=max((part.oldest_reply for part in parts if part.oldest_reply is not None), default=None),
        newest_reply=min((part.newest_reply for part in parts if part.newest_reply is not None), default=None),
        undated_replies=any(part.undated_replies for part in parts),
    )


def _gates_of(file: RunFile) -> Gates:
    try:
        gates = tuple(gate for text in file.gates for gate in parse_gates(text, lambda: score_names(SUITES)))
    except GateError as error:
        raise UnmergeableRuns(f"gate {error.text!r} cannot be read: {error.message}") from None
    choices: tuple[Fail, ...] = get_args(Fail)
    fail = next((choice for choice in choices if choice == file.fail), None)
    if fail is None:
        raise UnmergeableRuns(f"unknown value of --fc-fail {file.fail!r}; available: {', '.join(choices)}")
    return Gates(gates, fail)
