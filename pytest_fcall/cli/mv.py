"""`fcall mv`: what is kept of a case goes along when the case, or its file, gets another name."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Iterator, Sequence
from pathlib import Path

from pytest_fcall.cli.project import root_of
from pytest_fcall.reporting.faults import fault_text
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.tracking.acceptance import DamagedBaseline, read_stanzas, rename_case
from pytest_fcall.tracking.baseline_file import SUFFIX

_EXAMPLES = """\
examples:
  fcall mv oslo bergen                                  a case has another id now
  fcall mv cases/weather.fc.yaml::oslo bergen           only that of this file
  fcall mv cases/weather.fc.yaml cases/climate.fc.yaml  a case file has another name or place now

Case files themselves are left as they are: rename what is in them, or them, yourself. What is accepted is renamed under
all models; of a file, its recorded replies are, too.
"""


def run(arguments: Sequence[str]) -> int:
    """Rename; 1 where there is nothing of that name, or something has the new one."""
    parser = ArgumentParser(
        prog="fcall mv",
        description="Rename what is accepted of a case or a case file.",
        epilog=_EXAMPLES,
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("old", metavar="OLD", help="the id that a case had, after FILE:: if it is in one file only")
    parser.add_argument("new", metavar="NEW", help="the id that it has now")
    options = parser.parse_args(arguments)
    root = root_of([Path.cwd()])
    try:
        if options.old.endswith((".yaml", ".yml")) and "::" not in options.old:
            told = list(_move_file(root, Path(options.old).absolute(), Path(options.new).absolute()))
        else:
            file, _, old = options.old.rpartition("::")
            told = list(_rename_case(root, file, old, options.new.rpartition("::")[2]))
    except _RenameRefused as refused:
        print(f"fcall mv: {safe_line(str(refused))}", file=sys.stderr)
        return 1
    except DamagedBaseline as damaged:
        print("\n".join(fault_text(fault, root) for fault in damaged.faults), file=sys.stderr)
        return 1
    print(*map(safe_line, told), sep="\n")
    return 0


class _RenameRefused(Exception):
    """Nothing is renamed; the text says why."""


def _rename_case(root: Path, file: str, old: str, new: str) -> Iterator[str]:
    """Rename in all baselines or, where one cannot be, in none."""
    paths = [path for path in _baselines(root, file) if old in read_stanzas(path)]
    if not paths:
        raise _RenameRefused(f"nothing is accepted of a case {old!r}" + (f" in {file}" if file else ""))
    if len(files := sorted({_shown(_case_file(path), root) for path in paths})) > 1:
        raise _RenameRefused(f"{old!r} is in {' and '.join(files)}: write FILE::{old}, with one of them")
    if taken := [path for path in paths if new in read_stanzas(path)]:
        raise _RenameRefused(f"{_shown(taken[0], root)}: something is accepted of {new!r} already")
    for path in paths:
        rename_case(path, old, new)
        yield f"{_shown(path, root)}: {old} is {new} now"


def _baselines(root: Path, file: str) -> list[Path]:
    """Those of a case file, or all."""
    named = Path(file).absolute()
    found = sorted(path for folder in _folders(root) for path in folder.glob(f"*/*{SUFFIX}"))
    return [path for path in found if not file or _case_file(path) == named]


def _folders(root: Path) -> Iterator[Path]:
    for parent, folders, _ in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        if Path(parent).name == "__fcall__":
            folders.clear()
            yield Path(parent)


def _case_file(baseline: Path) -> Path:
    return baseline.parents[2] / baseline.name.removesuffix(SUFFIX)


def _move_file(root: Path, old: Path, new: Path) -> Iterator[str]:
    """Move what is kept of a case file, all of it or nothing."""
    if new.suffix not in (".yaml", ".yml"):
        raise _RenameRefused(f"{new.name}: a case file ends in .yaml or .yml")
    kept = sorted(path for path in (old.parent / "__fcall__").glob("*/*") if path.name.startswith(f"{old.name}."))
    folder = new.parent / "__fcall__"
    moves = {path: folder / path.parent.name / path.name.replace(old.name, new.name, 1) for path in kept}
    if not moves:
        raise _RenameRefused(f"nothing is kept of {_shown(old, root)}")
    if taken := [path for path in moves.values() if path.exists()]:
        raise _RenameRefused(f"{_shown(taken[0], root)} is there already")
    for path, target in moves.items():
        target.parent.mkdir(parents=True, exist_ok=True)
        path.rename(target)
        yield f"{_shown(path, root)} is {_shown(target, root)} now"


def _shown(path: Path, root: Path) -> str:
    return (path.relative_to(root) if path.is_relative_to(root) else path).as_posix()
