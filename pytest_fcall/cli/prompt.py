"""`fcall prompt`: what a model would be told."""

from __future__ import annotations

import contextlib
import io
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from pathlib import Path

_EXAMPLES = """\
examples:
  fcall prompt cases/shop.fc.yaml::find --fc-model=local:qwen3-8b      the prompt, as the model reads it
  fcall prompt cases/shop.fc.yaml::find --fc-model=openai:gpt-5.2      the JSON that is sent
  fcall prompt cases/shop.fc.yaml::find                                for the model of the configuration

Nothing is asked. The prompt stands on standard output, what is to be known of it on standard error.
"""


def run(arguments: Sequence[str]) -> int:
    """Print the prompt; 1 where there is none."""
    parser = _parser()
    options = parser.parse_args(arguments)
    file, _, case = options.case.partition("::")
    if not case:
        parser.error(f"{options.case} names no case: write FILE::ID")
    if not Path(file).is_file():
        parser.error(f"there is no file {file}")
    return _print(file, case, [f"--fc-model={model}" for model in options.model])


def _print(file: str, case: str, models: Sequence[str]) -> int:
    """Have pytest collect the file: conftest files and plugins may have a part in what is sent."""
    import pytest

    from pytest_fcall.cli.prompt_run import NoPrompt, PromptRun

    prompting = PromptRun(case)
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        quiet = ("-q", "--no-header", "--capture=no", "--assert=plain", "-p", "no:cacheprovider")
        status = pytest.main([*quiet, *models, file], plugins=[prompting])
    match prompting.found:
        case None:
            print(said.getvalue().strip(), file=sys.stderr)
            return 2 if status == pytest.ExitCode.USAGE_ERROR else 1
        case NoPrompt() as untold:
            print(f"{file}::{case}: {untold}" if "\n" not in str(untold) else untold, file=sys.stderr)
            return 1
        case shown:
            for note in shown.notes:
                print(f"note: {note}", file=sys.stderr)
            print(shown.text, end="" if shown.text.endswith("\n") else "\n")
            return 0


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="fcall prompt",
        description="Show what a model would be told for a case: the prompt of a local model, the JSON for any other.",
        epilog=_EXAMPLES,
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("case", metavar="FILE::ID", help="the case, as pytest names it")
    parser.add_argument(
        "--fc-model",
        dest="model",
        action="append",
        default=[],
        metavar="KIND:NAME",
        help="the model (default: that of the configuration)",
    )
    return parser
