"""The patch that undoes what was found: in the case file and the files that it names, else in the question."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from pytest_fcall.bisection.edit import Edit
from pytest_fcall.bisection.patch import question_diff, undoing_patch
from pytest_fcall.core.files import read_regular
from pytest_fcall.reporting.bisected import BisectedCase
from pytest_fcall.session.bisection.bisection import found_edit
from pytest_fcall.session.bisection.suspect import Suspect

_MOST_BYTES: Final = 2_000_000
_NAME: Final = re.compile(r"[\w./-]{1,200}\.(?:txt|md|ya?ml|json|j2|jinja|toml)\b")
"""What may be the name of a file with a part of a question."""
_MOST_FILES: Final = 50
_CONFIGURATION: Final = ("pyproject.toml", "pytest.ini")


def undoing_lines(found: Sequence[BisectedCase], suspects: Sequence[Suspect], root: Path) -> tuple[str, list[str]]:
    """The patch against today's files, and what is to be told of it. Where nothing is exact, there is none."""
    guilty: dict[tuple[str, str, str], tuple[Edit, Suspect, int]] = {}
    for case, suspect in zip(found, suspects, strict=True):
        wanted = {edit for cause in case.causes if cause.is_exact for edit in cause.edits}
        for place, edit in enumerate(suspect.difference.edits):
            if found_edit(edit) in wanted:
                guilty.setdefault(edit.key, (edit, suspect, place))
    if not guilty:
        return "", []
    edits = [edit for edit, _, _ in guilty.values()]
    patch = undoing_patch(edits, _files([suspect.file for suspect in suspects], root))
    lines = ["it undoes what was found: `git apply` or `patch -p1` takes it"] if patch.text else []
    text = patch.text
    for edit in patch.unplaced:
        _, suspect, place = guilty[edit.key]
        if edit.part == "model":
            lines.append(f"the model was {edit.before}, and is {edit.after}")
            continue
        text += question_diff(suspect.difference, frozenset({place}), f"question of {suspect.case.id}")
        lines.append(f"{edit.where}: its place in a file is not known, so the diff shows the question")
    return text, lines


def _files(case_files: Iterable[Path], root: Path) -> Mapping[str, str]:
    """The texts of case files and of the files that they name, by paths from the root."""
    found: dict[str, str] = {}
    waiting = [*dict.fromkeys(case_files), *(root / name for name in _CONFIGURATION)]
    for path in waiting:
        if len(found) >= _MOST_FILES or not path.is_relative_to(root):
            continue
        name = path.relative_to(root).as_posix()
        text = _text(path)
        if name in found or text is None:
            continue
        found[name] = text
        if path.suffix in (".yaml", ".yml"):
            waiting += _named(text, path.parent, root)
    return found


def _named(text: str, folder: Path, root: Path) -> Iterator[Path]:
    for name in dict.fromkeys(_NAME.findall(text)):
        for path in (folder / name, root / name):
            if path.is_file() and path.resolve().is_relative_to(root.resolve()):
                yield path
                break


def _text(path: Path) -> str | None:
    try:
        return read_regular(path, _MOST_BYTES).decode()
    except (OSError, ValueError):
        return None
