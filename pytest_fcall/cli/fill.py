"""`fcall fill`: cases and turns that expect nothing yet get what a model answers, for review."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_fcall.cases import UnreadableFile, read_case_text
from pytest_fcall.cases.gaps import Gap, Said, filled, gaps_in, holds_cases, left_in
from pytest_fcall.cases.yaml.reader import read_text
from pytest_fcall.cli.counting import count
from pytest_fcall.cli.expected import NotToExpect, said_in
from pytest_fcall.core import FaultyCase
from pytest_fcall.reporting import fault_text, safe_line

if TYPE_CHECKING:
    from pytest_fcall.plugin.filling import Filling
    from pytest_fcall.plugin.sampling import Asked

_MARK = "# review"
_ANYTHING = "{any_of: [any_call, no_call]}"
_EXAMPLES = """\
examples:
  fcall fill cases/shop.fc.yaml --fc-model=openai:gpt-5.2      ask, and write down what is called
  fcall fill cases/shop.fc.yaml                                ask the configured model, or take its recordings

Cases and turns without `expect:` and the like get one; comments and layout stay. What is written is what the model
did, which need not be right: each is marked `# review`. Turns are filled from a conversation in which `stubs:` or
`environment:` say what calls give. What is left, such as the rows of a matrix, is told with the reason.
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
        gaps, left, any_case = gaps_in(source), left_in(source), holds_cases(source)
    except UnreadableFile as unreadable:
        parser.error(fault_text(unreadable.fault, Path.cwd()))
    if not any_case:
        parser.error(f"there is no case in {options.file}: write one below `cases:`, with an id and a prompt")
    if not (gaps or left):
        print("every case of this file expects something already")
        return 0
    if gaps:
        filling, said = _ask(path, source.text, gaps, options.fc_model)
        if not (filling.answers or filling.failed):
            print(said, file=sys.stderr)
            return 1
        left |= _write(path, source.text, gaps, filling)
    for why, names in _by_reason(left).items():
        print(safe_line(f"left: {', '.join(names)}: {why}"), file=sys.stderr)
    return 1 if left else 0


def _by_reason(left: Mapping[str, str]) -> Mapping[str, Sequence[str]]:
    found: dict[str, list[str]] = {}
    for name, why in left.items():
        found.setdefault(why, []).append(name)
    return found


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

    anything = {gap.name: _ANYTHING for gap in gaps}
    filling = Filling(path, filled(text, gaps, anything, _MARK), frozenset(gap.id for gap in gaps))
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        quiet = ("-q", "--no-header", "--capture=no", "--assert=plain", "-p", "no:cacheprovider", "-o", "fc_runs=0")
        pytest.main([*quiet, *([f"--fc-model={model}"] if model else []), str(path)], plugins=[filling])
    return filling, said.getvalue().strip()


def _write(path: Path, text: str, gaps: Sequence[Gap], filling: Filling) -> dict[str, str]:
    """Write what can be expected, and say why not of what cannot."""
    left: dict[str, str] = {}
    said: dict[str, Said] = {}
    for gap in gaps:
        try:
            _go_on_after(gap, left, gaps)
            said[gap.name] = said_in(_answer(filling, gap), gap.turn)
        except NotToExpect as why:
            left[gap.name] = str(why)
    faults = _faults(path, filled(text, gaps, said, _MARK), {gap.id for gap in gaps if gap.name in said})
    left |= {gap.name: faults[gap.id] for gap in gaps if gap.id in faults and gap.name in said}
    said = {name: each for name, each in said.items() if name not in left}
    if said:
        _replace(path, filled(text, gaps, said, _MARK))
    turns = sum(gap.turn is not None for gap in gaps if gap.name in said)
    filled_in = [count(number, what) for number, what in ((len(said) - turns, "case"), (turns, "turn")) if number]
    print(
        safe_line(
            f"{path.name}: {' and '.join(filled_in)} filled, to be reviewed" if said else f"{path.name}: nothing filled"
        )
    )
    return left


def _go_on_after(gap: Gap, left: Collection[str], gaps: Sequence[Gap]) -> None:
    before = next((each for each in gaps if each.id == gap.id and each.name in left), None)
    if before is not None:
        raise NotToExpect(f"what it goes on from is left, too: {before.name}")


def _answer(filling: Filling, gap: Gap) -> Asked:
    if gap.id not in filling.answers:
        raise NotToExpect(filling.failed.get(gap.id, "it was not asked"))
    return filling.answers[gap.id]


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
