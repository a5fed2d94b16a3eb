"""`fcall fill`: cases that expect nothing yet get what a model answers, for review."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_fcall.cases import UnreadableFile, read_case_text
from pytest_fcall.cases.gaps import Gap, filled, gaps_in
from pytest_fcall.cases.yaml.flow import flow, flow_key, literal
from pytest_fcall.cases.yaml.reader import read_text
from pytest_fcall.cli.counting import count
from pytest_fcall.core import FaultyCase
from pytest_fcall.reporting import fault_text, safe_line

if TYPE_CHECKING:
    from pytest_fcall.plugin.filling import Filling
    from pytest_fcall.plugin.sampling import Judged

_MARK = "# review"
_EXAMPLES = """\
examples:
  fcall fill cases/shop.fc.yaml --fc-model=openai:gpt-5.2      ask, and write down what is called
  fcall fill cases/shop.fc.yaml                                ask the configured model, or take its recordings

Cases without `expect:` and the like get one; comments and layout stay. What is written is what the model did, which
need not be right: each is marked `# review`. Rows of a matrix and turns are left to you.
"""


def run(arguments: Sequence[str]) -> int:
    """Fill the file; 1 where a case that expects nothing is left."""
    parser = _parser()
    options = parser.parse_args(arguments)
    path: Path = options.file.absolute()
    if not path.is_file():
        parser.error(f"there is no file {options.file}")
    try:
        source = read_text(path, str(options.file))
        gaps = gaps_in(source)
    except UnreadableFile as unreadable:
        parser.error(fault_text(unreadable.fault, Path.cwd()))
    if not gaps:
        print("every case of this file expects something already, or has turns or a matrix")
        return 0
    filling, said = _ask(path, source.text, gaps, options.fc_model)
    if not (filling.answers or filling.failed):
        print(said, file=sys.stderr)
        return 1
    return _write(path, source.text, gaps, filling)


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="fcall fill",
        description="Write down what a model calls, in cases that expect nothing yet.",
        epilog=_EXAMPLES,
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="a case file")
    parser.add_argument("--fc-model", metavar="KIND:NAME", help="the model (default: that of the configuration)")
    return parser


def _ask(path: Path, text: str, gaps: Sequence[Gap], model: str | None) -> tuple[Filling, str]:
    """Have pytest ask: conftest files and plugins have their part in it."""
    import pytest

    from pytest_fcall.plugin.filling import Filling

    names = {gap.id: ["any_call"] for gap in gaps}
    filling = Filling(path, filled(text, gaps, names, _MARK), frozenset(names))
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        quiet = ("-q", "--no-header", "--capture=no", "--assert=plain", "-p", "no:cacheprovider", "-o", "fc_runs=0")
        pytest.main([*quiet, *([f"--fc-model={model}"] if model else []), str(path)], plugins=[filling])
    return filling, said.getvalue().strip()


def _write(path: Path, text: str, gaps: Sequence[Gap], filling: Filling) -> int:
    left = dict(filling.failed)
    said: dict[str, list[str]] = {}
    for gap in gaps:
        if (answer := filling.answers.get(gap.id)) is not None:
            try:
                said[gap.id] = _expectation(answer)
            except ValueError as why:
                left[gap.id] = str(why)
    left |= (faults := _faults(path, filled(text, gaps, said, _MARK), said))
    said = {name: lines for name, lines in said.items() if name not in faults}
    if said:
        _replace(path, filled(text, gaps, said, _MARK))
    print(safe_line(f"{path.name}: {count(len(said), 'case')} filled, to be reviewed"))
    for gap in gaps:
        if gap.id not in said:
            print(safe_line(f"{gap.id}: {left.get(gap.id, 'it was not asked')}"), file=sys.stderr)
    return 0 if len(said) == len(gaps) else 1


def _expectation(answer: Judged) -> list[str]:
    """The lines that expect this answer. ValueError where it is none to expect."""
    reply = answer.reply
    if answer.calls.malformed is not None:
        raise ValueError(answer.calls.malformed)
    if reply.refusal or reply.finish in ("length", "refusal", "content_filter"):
        raise ValueError(f"the model gave no answer: {reply.refusal or reply.finish}")
    if not answer.calls.calls:
        return ["no_call"]
    return [f"- {flow_key(call.name)}: {flow(literal(call.arguments))}" for call in answer.calls.calls]


def _faults(path: Path, text: str, names: Collection[str]) -> dict[str, str]:
    """What is wrong with the cases as they would stand there: a model may call what its tool's schema forbids."""
    entries = read_case_text(text, path, root=path.parent).entries
    return {
        entry.id: f"the model's call is none to expect: {entry.faults[0].message}"
        for entry in entries
        if isinstance(entry, FaultyCase) and entry.id in names
    }


def _replace(path: Path, text: str) -> None:
    """Write the file whole or not at all."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_text(text, encoding="utf-8", newline="")
        draft.chmod(path.stat().st_mode)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
