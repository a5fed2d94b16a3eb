"""`fcall accept --ours|--theirs|--both`: baselines in which a merge has left two answers, or marks of a conflict."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from pytest_fcall.cli.project import relative_path
from pytest_fcall.core.bounded_text import glob_matches
from pytest_fcall.reporting.number_text import plural_text
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.tracking.baseline_file import SUFFIX
from pytest_fcall.tracking.merged_baseline import Mended, Side, mend_baseline

_LONGEST_SHOWN = 100


def mend_baselines(root: Path, side: Side, names: Sequence[str]) -> int:
    """Choose between the answers of a merge in all baselines of the project; 1 where something is left to do.

    `names` are cases and case files to choose for; without any, the choice is made for all.
    """
    problems = done = 0
    used: set[str] = set()
    for path in _contracts(root):
        name = safe_line(relative_path(path, root))
        file = relative_path(path.parents[2] / path.name.removesuffix(SUFFIX), root)

        def is_meant(case: str, file: str = file) -> bool:
            matching = [
                each for each in names if any(glob_matches(each, text) for text in (case, file, f"{file}::{case}"))
            ]
            used.update(matching)
            return bool(matching) or not names

        try:
            mended = mend_baseline(path, side, is_meant)
        except OSError as error:
            print(f"fcall accept: {name}: {error.strerror}", file=sys.stderr)
            problems += 1
            continue
        lines = list(_lines(mended, side))
        done += bool(lines)
        print(*(f"{name}: {line}" for line in lines), sep="\n", end="\n" if lines else "")
        problems += bool(mended.undecided or mended.torn or mended.left_out)
    for name in dict.fromkeys(names):
        if name not in used:
            print(f"fcall accept: {safe_line(name)}: no baseline has a choice to make for it", file=sys.stderr)
            problems += 1
    if not (problems or done):
        print("no baseline needs a choice")
    return 1 if problems else 0


def _lines(mended: Mended, side: Side) -> Iterator[str]:
    if mended.chosen:
        yield f"{side} of {plural_text(len(mended.chosen), 'case')}: {_listed(mended.chosen)}"
    if mended.undecided:
        yield f"still two answers to {_listed(mended.undecided)}; choose with --ours CASE or --theirs CASE"
    for case in mended.torn:
        yield (
            f"{safe_line(case)}: the answer is not whole in the file, since the merge mixed the two; "
            "choose the other, or run pytest and accept the answer anew"
        )
    for line in mended.left_out:
        shown = line.text if len(line.text) <= _LONGEST_SHOWN else f"{line.text[:_LONGEST_SHOWN]}…"
        yield f"line {line.number} left out: {safe_line(shown)}"
    if mended.is_changed and not (mended.chosen or mended.undecided or mended.torn or mended.left_out):
        yield "cleaned; nothing had to be chosen"


def _listed(cases: Sequence[str]) -> str:
    return ", ".join(map(safe_line, cases))


def _contracts(root: Path) -> Iterator[Path]:
    for parent, folders, _ in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        if Path(parent).name == "__fcall__":
            folders.clear()
            yield from sorted(Path(parent).glob(f"*/*{SUFFIX}"))
