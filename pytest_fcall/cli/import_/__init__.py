"""`fcall import`: case files made from a public benchmark or from traces."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path

from pytest_fcall.cli.command_parser import command_parser
from pytest_fcall.reporting.safe_text import safe_line

_EXAMPLES = """\
examples:
  fcall import bfcl:simple_python --out cases/bfcl               one part of a benchmark
  fcall import bfcl:live --pick 50@7 --out cases/bfcl            a sample of 50 cases, with seed 7
  fcall import bfcl:parallel --pick parallel_17 --out cases      one case
  fcall import logs/november.jsonl --out cases                   the requests and answers in a log
  fcall import agent.evalset.json --out cases                    a data set of another tool
  fcall import logs --near --mask 'KD-[0-9]+' --out cases        a folder of logs, without near duplicates

Benchmarks: the cases are judged by the rules of their suite; write `profile: strict` to judge them by the default
rules. Cases whose tools contradict each other go to different files.

Traces: requests and answers of Chat Completions, Responses and Anthropic's Messages, OpenTelemetry, Langfuse and
LangSmith exports, promptfoo, inspect_ai logs, and recorded replies. Data sets of other tools: evaluation sets of
Google's ADK, deepeval, EvalView, pydantic-evals, Braintrust, LangSmith, and gold files of Toolscore. The format is
recognised by the content. Every case is marked `# review`; what has no form in a case is named, and the case skipped.

Exit codes: 0, cases were written; 1, no case was written, or a case of a suite was left out.
"""


def run(arguments: Sequence[str]) -> int:
    """Import a source. An existing file or folder holds traces, anything else names a suite."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if _is_suite(options.source):
        if _looks_like_a_path(options.source):
            parser.error(safe_line(f"no such file or folder: {options.source}"))
        if options.near or options.mask or options.no_mask:
            parser.error("--near, --mask and --no-mask can only be used with traces")
        from pytest_fcall.cli.import_.suites import import_suite

        return import_suite(parser, options)
    if options.path or options.pick:
        parser.error("--path and --pick can only be used with public benchmarks")
    from pytest_fcall.cli.import_.traces import import_traces

    return import_traces(parser, options)


def _is_suite(source: str) -> bool:
    from pytest_fcall.suites.builtin import SUITES

    return source.partition(":")[0] in SUITES or not Path(source).exists()


def _looks_like_a_path(source: str) -> bool:
    """Whether a source can be no suite, whose names are words."""
    return not source.partition(":")[0].replace("-", "_").isidentifier()


def _parser() -> ArgumentParser:
    parser = command_parser("import", "Write case files from a public benchmark or from traces.", _EXAMPLES)
    parser.add_argument(
        "source", metavar="SOURCE", help="SUITE[:PART,…] as listed by `fcall suites`, or a file or folder of traces"
    )
    parser.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="the folder of the new files; none is overwritten"
    )
    suites = parser.add_argument_group("public benchmarks")
    suites.add_argument(
        "--path", type=Path, metavar="DIR", help="the folder of the data (default: that of an installed package)"
    )
    suites.add_argument("--pick", metavar="N[@SEED]|IDS", help="the first N cases, a sample of N, or ids and globs")
    traces = parser.add_argument_group("traces")
    traces.add_argument("--near", action="store_true", help="leave out near duplicates of other cases")
    traces.add_argument(
        "--mask",
        action="append",
        default=[],
        metavar="PATTERN",
        help="also mask what this regular expression matches; may be repeated",
    )
    traces.add_argument(
        "--no-mask",
        action="store_true",
        help="do not mask keys, e-mail addresses, cards, bank accounts and telephone numbers",
    )
    return parser
