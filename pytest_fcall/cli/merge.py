"""`fcall merge`: the runs of all shares, as one run would have been."""

from __future__ import annotations

import shutil
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from pathlib import Path

from pytest_fcall.cli.merging import NotTogether, merge
from pytest_fcall.cli.runs import open_run
from pytest_fcall.plugin.suite_scores import score_lines, untold
from pytest_fcall.reporting import safe_line, summary_lines
from pytest_fcall.suites.table import SUITES
from pytest_fcall.tracking.run_file import write_run

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
    except NotTogether as wrong:
        parser.error(safe_line(str(wrong)))
    width = shutil.get_terminal_size((80, 24)).columns
    results = merged.results
    scores = [*score_lines(SUITES, results.results, width), *untold(SUITES, results.results)]
    print(*scores, *summary_lines(results, width), *merged.gate_lines(), sep="\n")
    if options.output:
        write_run(options.output, merged.file)
    return merged.status()
