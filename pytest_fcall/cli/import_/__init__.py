"""`fcall import`: case files made of a public benchmark, or of what ran in production."""

from __future__ import annotations

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from pathlib import Path

_EXAMPLES = """\
examples:
  fcall import bfcl:simple_python --out cases/bfcl               a category of a benchmark
  fcall import bfcl:live --pick 50@7 --out cases/bfcl            a sample
  fcall import bfcl:parallel --pick parallel_17 --out cases      one case
  fcall import logs/november.jsonl --out cases                   what was asked and answered in production
  fcall import logs --near --mask 'KD-[0-9]+' --out cases        a folder; without cases that are nearly the same

Benchmarks: a file holds cases whose tools do not contradict each other, so a part may take several. They are judged as
the suite judges, by its profile; write `profile: strict` to have them judged by ours.

Traces: requests and answers of Chat Completions, Responses and Anthropic's Messages, OpenTelemetry, Langfuse and
LangSmith exports, promptfoo, inspect_ai logs, and replies that were recorded here. What a file is, is told by its
content. Every case is marked `# review`. 0: cases were written; 1: there were none, or a case of a suite is left out.
"""


def run(arguments: Sequence[str]) -> int:
    """Import whatever the source is: a file or folder that exists holds traces, anything else names a suite."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if _is_suite(options.source):
        if options.near or options.mask or options.no_mask:
            parser.error("--near, --mask and --no-mask are for traces")
        from pytest_fcall.cli.import_.suites import import_suite

        return import_suite(parser, options)
    if options.path or options.pick:
        parser.error("--path and --pick are for public benchmarks")
    from pytest_fcall.cli.import_.traces import import_traces

    return import_traces(parser, options)


def _is_suite(source: str) -> bool:
    from pytest_fcall.suites.builtin import SUITES

    return source.partition(":")[0] in SUITES or not Path(source).exists()


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="fcall import",
        description="Write the cases of a public benchmark, or what ran in production, as case files.",
        epilog=_EXAMPLES,
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "source", metavar="SOURCE", help="SUITE[:PART,…], as `fcall suites` lists it, or a file or folder"
    )
    parser.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="where the files go; none is overwritten"
    )
    suites = parser.add_argument_group("public benchmarks")
    suites.add_argument("--path", type=Path, metavar="DIR", help="where the data is, if not in an installed package")
    suites.add_argument("--pick", metavar="N[@SEED]|IDS", help="the first N cases, a sample of N, or ids and globs")
    traces = parser.add_argument_group("traces")
    traces.add_argument("--near", action="store_true", help="leave out cases that are nearly the same as others")
    traces.add_argument(
        "--mask", action="append", default=[], metavar="PATTERN", help="mask what this regular expression finds, too"
    )
    traces.add_argument(
        "--no-mask", action="store_true", help="mask no keys, addresses, cards, accounts and telephone numbers"
    )
    return parser
