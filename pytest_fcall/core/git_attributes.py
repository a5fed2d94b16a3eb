"""The rules by which git merges and shows the files of a folder `__fcall__`."""

from __future__ import annotations

from pathlib import Path

from pytest_fcall.core.regular_file import read_regular
from pytest_fcall.core.whole_file import replace_file

_FIRST_LINE = "# Written by pytest-fcall: lines of both branches are kept, and bookkeeping is not shown in diffs.\n"
_RULES = """\
*.accepted merge=union
*.replies.jsonl merge=union
*.measured.jsonl merge=union -diff linguist-generated
*.recorded.jsonl merge=union -diff linguist-generated
"""


def write_git_attributes(folder: Path) -> None:
    """Write `.gitattributes` into a folder `__fcall__`; one that a person wrote there stays. Raises OSError."""
    path = folder / ".gitattributes"
    try:
        lines = read_regular(path).decode("utf-8", "replace").replace("\r\n", "\n").splitlines(keepends=True)
    except FileNotFoundError:
        lines = [_FIRST_LINE]
    if lines[:1] == [_FIRST_LINE] and "".join(lines) != _FIRST_LINE + _RULES:
        replace_file(path, [(_FIRST_LINE + _RULES).encode()])
