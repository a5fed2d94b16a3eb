"""`fcall` in this process, where what it raises comes through."""

from __future__ import annotations

from contextlib import chdir, redirect_stderr, redirect_stdout
from io import BytesIO, TextIOWrapper
from pathlib import Path

from pytest_fcall.cli import main


def said(folder: Path, *arguments: str) -> tuple[int, str]:
    """The exit status of `fcall` in this folder, and all that it writes."""
    written = TextIOWrapper(BytesIO(), "utf-8", errors="backslashreplace")
    with chdir(folder), redirect_stdout(written), redirect_stderr(written):
        status = main(list(arguments))
    written.flush()
    return status, written.buffer.getvalue().decode()
