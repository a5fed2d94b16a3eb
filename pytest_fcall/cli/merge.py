"""`fcall merge`: the runs of all shares, joined and judged as one run."""

from __future__ import annotations

import shutil
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import cast, get_args

from pytest_fcall.cli.runs import Run, open_run
from pytest_fcall.reporting.result_json import results_to_json
from pytest_fcall.reporting.results import Results
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.reporting.summary import summary_lines
from pytest_fcall.session.result.gates import FAILED, INCONCLUSIVE, Fail, Gates, RunFailures, gate_verdict_lines
from pytest_fcall.session.result.suite_scores import score_lines, score_names, unknown_suite_lines
from pytest_fcall.suites.builtin import SUITES
from pytest_fcall.tracking.gates import GateError, GateVerdict, parse_gates
from pytest_fcall.tracking.run_file import RunFile, write_run


class UnmergeableRuns(ValueError):
    """Files that are no parts of one run. The text says why."""


@dataclass(frozen=True, slots=True)
class Merged:
    """The run that the shares are parts of."""

    file: RunFile
    results: Results
    ending: RunFailures
    gates: Gates
    lacking: str
    """Why it is not whole; empty where it is."""

    def gate_lines(self) -> list[str]:
        """What people read of the gates, or why they are not judged."""
        if self.lacking:
            return [f"{'gates are not judged' if self.gates.gates else 'not whole'}: {self.lacking}"]
        return [*gate_verdict_lines(self._judged()), *self.gates.notes(self.ending)]

    def status(self) -> int:
        """The exit status that one run would have had."""
        if not self.lacking:
            return self.ending.exit_status(self.gates.fail, self._judged())
        return FAILED if self.ending.exit_status(self.gates.fail, ()) == FAILED else INCONCLUSIVE

    def _judged(self) -> list[GateVerdict]:
        return self.gates.judge(self.results.results, SUITES)


def merge(runs: Sequence[Run]) -> Merged:
    """Join runs. Raises NotTogether."""
    lacking = _missing_part(runs)
    first = runs[0].file
    results = _merged_results(runs)
    ending = RunFailures(
        **{what.name: any(run.file.failed.get(what.name, False) for run in runs) for what in fields(RunFailures)}
    )
    file = replace(
        first,
        id=first.id.removesuffix("-{}of{}".format(*first.shard)) if first.shard else first.id,
        started=min(run.file.started for run in runs),
        results=results_to_json(results),
        failed=asdict(ending),
        broken_off=bool(lacking),
        shard=None,
    )
    return Merged(file, results, ending, _gates_of(first), lacking)


def _missing_part(runs: Sequence[Run]) -> str:
    """Why the runs are not the whole. Raises NotTogether where they are no parts of one."""
    for run in runs[1:]:
        for what in ("gates", "fail", "models"):
            if getattr(run.file, what) != getattr(runs[0].file, what):
                raise UnmergeableRuns(f"{run.path} was run with other {what} than {runs[0].path}")
    tests = Counter((result.nodeid, result.model) for run in runs for result in run.results.results)
    if twice := next((nodeid for (nodeid, _), count in tests.items() if count > 1), None):
        raise UnmergeableRuns(f"{twice} is in more than one of the files")
    if missing := _missing_shares(runs):
        return f"{'share' if len(missing) == 1 else 'shares'} {', '.join(missing)} missing"
    broken = [run.path.name for run in runs if run.file.broken_off]
    return f"{broken[0]} was broken off" if broken else ""


def _missing_shares(runs: Sequence[Run]) -> list[str]:
    shares = [run.file.shard for run in runs]
    found = {share for share in shares if share}
    if not found:
        return []
    counts = {of for _, of in found}
    if None in shares or len(counts) > 1:
        raise UnmergeableRuns("these are not the shares of one run: they were made for different numbers of machines")
    if len(found) < len(shares):
        raise UnmergeableRuns("a share is there more than once")
    (of,) = counts
    return [f"{number}/{of}" for number in range(1, of + 1) if (number, of) not in found]


def _merged_results(runs: Sequence[Run]) -> Results:
    """All results, in the order in which one run would have come to them."""
    models = runs[0].file.models
    order = {model: place for place, model in enumerate(models)}
    parts = [run.results for run in runs]
    results = sorted(
        (result for part in parts for result in part.results),
        key=lambda result: (order.get(result.model, 0), result.place),
    )
    return Results(
        results=tuple(results),
        missing_recordings=sum(part.missing_recordings for part in parts),
        files_without_cases=max(part.files_without_cases for part in parts),
        unanswered=sum(part.unanswered for part in parts),
        oldest_reply=max((part.oldest_reply for part in parts if part.oldest_reply is not None), default=None),
    )


def _gates_of(file: RunFile) -> Gates:
    try:
        gates = tuple(gate for text in file.gates for gate in parse_gates(text, lambda: score_names(SUITES)))
    except GateError as error:
        raise UnmergeableRuns(f"gate {error.text!r} cannot be read: {error.message}") from None
    if file.fail not in get_args(Fail):
        raise UnmergeableRuns(f"{file.fail!r} is none of {', '.join(get_args(Fail))}")
    return Gates(gates, cast("Fail", file.fail))


_EXAMPLES = """\
examples:
  fcall merge shares/*.json                      what --fc-shard=1/8 to 8/8 left in .fcall/runs on eight machines
  fcall merge shares/*.json -o merged.json       and keep it, for `fcall compare` and others

Exit codes are those of pytest: 0, all well; 1, a gate did not hold or something failed; 10, inconclusive, since a share
or replies are missing. 2 says that the command line is wrong.
"""


def run(arguments: Sequence[str]) -> int:
    """Print the summary and the gates of all shares together; the exit status that one run would have had."""
    parser = ArgumentParser(
        prog="fcall merge",
        description="Join the runs of all shares, and judge the gates over all of them.",
        epilog=_EXAMPLES,
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="the file of a run")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="write the joined run to a file")
    options = parser.parse_args(arguments)
    try:
        merged = merge([open_run(parser, path) for path in options.files])
    except UnmergeableRuns as wrong:
        parser.error(safe_line(str(wrong)))
    width = shutil.get_terminal_size((80, 24)).columns
    results = merged.results
    scores = [*score_lines(SUITES, results.results, width), *unknown_suite_lines(SUITES, results.results)]
    print(*scores, *summary_lines(results, width), *merged.gate_lines(), sep="\n")
    if options.output:
        write_run(options.output, merged.file)
    return merged.status()
