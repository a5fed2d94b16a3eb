"""Files that are replaced as a whole, or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path


def replace_file(path: Path, portions: Iterable[bytes]) -> None:
    """Write a file atomically: a reader finds the old content or the new. Raises OSError.

    A file that exists keeps its permissions.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with draft.open("wb") as file:
            file.writelines(portions)
        if path.exists():
            draft.chmod(path.stat().st_mode)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
