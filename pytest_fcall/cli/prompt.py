"""`fcall prompt`: the prompt of a case as a model gets it."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path

from pytest_fcall.cli.command_parser import command_parser

_EXAMPLES = """\
examples:
  fcall prompt cases/shop.fc.yaml::find --fc-model=local:qwen3-8b      the prompt of a local model
  fcall prompt cases/shop.fc.yaml::find --fc-model=openai:gpt-5.2      the JSON that is sent
  fcall prompt cases/shop.fc.yaml::find                                for the configured model

No model is asked. The prompt goes to standard output, notes about it go to standard error. `fcall show` shows
what was sent and answered in a run.
"""


def run(arguments: Sequence[str]) -> int:
    """Print the prompt; 1 where there is none."""
    parser = _parser()
    options = parser.parse_args(arguments)
    file, _, case = options.case.partition("::")
    if not case:
        parser.error(f"{options.case} names no case: write FILE::ID")
    if not Path(file).is_file():
        parser.error(f"no such file: {file}")
    return _print_prompt(file, case, [f"--fc-model={model}" for model in options.model])


def _parser() -> ArgumentParser:
    parser = command_parser(
        "prompt",
        "Show what a model is sent for a case: the prompt of a local model, the JSON for any other.",
        _EXAMPLES,
    )
    parser.add_argument("case", metavar="FILE::ID", help="the node id of the case")
    parser.add_argument(
        "--fc-model",
        dest="model",
        action="append",
        default=[],
        metavar="KIND:NAME",
        help="the model (default: the configured one)",
    )
    return parser


def _print_prompt(file: str, case: str, models: Sequence[str]) -> int:
    import pytest

    from pytest_fcall.cli.prompt_plugin import NoPrompt, PromptReader
    from pytest_fcall.cli.pytest_run import run_pytest_offline

    reader = PromptReader(case)
    status, output = run_pytest_offline(["--collect-only", *models, file], reader)
    match reader.prompt:
        case None:
            print(output, file=sys.stderr)
            return 2 if status == pytest.ExitCode.USAGE_ERROR else 1
        case NoPrompt() as problem:
            print(f"{file}::{case}: {problem}" if "\n" not in str(problem) else problem, file=sys.stderr)
            return 1
        case prompt:
            for note in prompt.notes:
                print(f"note: {note}", file=sys.stderr)
            print(prompt.text, end="" if prompt.text.endswith("\n") else "\n")
            return 0
