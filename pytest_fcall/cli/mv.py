"""`fcall mv`: baselines and recordings follow a case or a case file to its new name."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from pytest_fcall.cli.command_parser import command_parser
from pytest_fcall.cli.project import relative_path, root_of
from pytest_fcall.reporting.faults import fault_text
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.tracking.acceptance import DamagedBaseline, read_stanzas, rename_case
from pytest_fcall.tracking.baseline_file import SUFFIX

_EXAMPLES = """\
examples:
  fcall mv oslo bergen                                  a case has a new id
  fcall mv cases/weather.fc.yaml::oslo bergen           a case of this file only
  fcall mv cases/weather.fc.yaml cases/climate.fc.yaml  a case file has a new name or folder

Renames what the baselines of all models hold; for a case file, its recorded replies as well. Case files are not
changed: rename the case or the file yourself.
"""


def run(arguments: Sequence[str]) -> int:
    """Rename; 1 where the old name does not exist, or the new one does."""
    parser = command_parser("mv", "Rename a case or a case file in baselines and recordings.", _EXAMPLES)
    parser.add_argument("old", metavar="OLD", help="the old id of a case, or FILE::ID, or the old path of a case file")
    parser.add_argument("new", metavar="NEW", help="the new id or path")
    options = parser.parse_args(arguments)
    root = root_of([Path.cwd()])
    try:
        if options.old.endswith((".yaml", ".yml")) and "::" not in options.old:
            lines = list(_move_file(root, Path(options.old).absolute(), Path(options.new).absolute()))
        else:
            file, _, old = options.old.rpartition("::")
            lines = list(_rename_case(root, file, old, options.new.rpartition("::")[2]))
    except _RenameRefused as refused:
        print(f"fcall mv: {safe_line(str(refused))}", file=sys.stderr)
        return 1
    except DamagedBaseline as damaged:
        print("\n".join(fault_text(fault, root) for fault in damaged.faults), file=sys.stderr)
        return 1
    print(*map(safe_line, lines), sep="\n")
    return 0


class _RenameRefused(Exception):
    """Nothing is renamed. The text says why."""


def _rename_case(root: Path, file: str, old: str, new: str) -> Iterator[str]:
    """Rename a case in all baselines or, where one of them does not allow it, in none."""
    stanzas = {path: read_stanzas(path) for path in _baselines(root, file)}
    paths = [path for path, own in stanzas.items() if old in own]
    if not paths:
        raise _RenameRefused(f"no baseline holds a case {old!r}" + (f" of {file}" if file else ""))
    if len(files := sorted({relative_path(_case_file(path), root) for path in paths})) > 1:
        raise _RenameRefused(f"{old!r} is in {' and '.join(files)}: choose one by FILE::{old}")
    if taken := [path for path in paths if new in stanzas[path]]:
        raise _RenameRefused(f"{relative_path(taken[0], root)} holds a case {new!r} already")
    for path in paths:
        rename_case(path, old, new)
        yield f"{relative_path(path, root)}: renamed {old} to {new}"


def _baselines(root: Path, file: str) -> list[Path]:
    """The baselines of a case file, or all."""
    case_file = Path(file).absolute()
    baselines = sorted(path for folder in _kept_folders(root) for path in folder.glob(f"*/*{SUFFIX}"))
    return [path for path in baselines if not file or _case_file(path) == case_file]


def _kept_folders(root: Path) -> Iterator[Path]:
    for parent, folders, _ in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        if Path(parent).name == "__fcall__":
            folders.clear()
            yield Path(parent)


def _case_file(baseline: Path) -> Path:
    return baseline.parents[2] / baseline.name.removesuffix(SUFFIX)


def _move_file(root: Path, old: Path, new: Path) -> Iterator[str]:
    """Move the baselines and recordings of a case file, all or none."""
    if new.suffix not in (".yaml", ".yml"):
        raise _RenameRefused(f"{new.name}: the name of a case file must end in .yaml or .yml")
    kept = sorted(path for path in (old.parent / "__fcall__").glob("*/*") if path.name.startswith(f"{old.name}."))
    folder = new.parent / "__fcall__"
    moves = {path: folder / path.parent.name / path.name.replace(old.name, new.name, 1) for path in kept}
    if not moves:
        raise _RenameRefused(f"{relative_path(old, root)} has no baselines and no recordings")
    if taken := [path for path in moves.values() if path.exists()]:
        raise _RenameRefused(f"{relative_path(taken[0], root)} exists already")
    for path, target in moves.items():
        target.parent.mkdir(parents=True, exist_ok=True)
        path.rename(target)
        yield f"renamed {relative_path(path, root)} to {relative_path(target, root)}"
