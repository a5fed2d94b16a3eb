"""`fcall` in this process, where what it raises comes through."""

from __future__ import annotations

from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory

from pytest_fcall.cli import main


def said(folder: Path, *arguments: str) -> tuple[int, str]:
    """The exit status of `fcall` in this folder, and all that it writes."""
    with TemporaryDirectory() as apart:
        path = Path(apart, "output")
        written = path.open("w", encoding="utf-8", errors="backslashreplace")
        with written, chdir(folder), redirect_stdout(written), redirect_stderr(written):
            status = main(list(arguments))
        return status, path.read_text("utf-8")
