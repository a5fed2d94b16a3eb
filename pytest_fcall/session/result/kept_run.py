"""A run that is kept: its file, and the results in it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pytest_fcall.reporting.result_json import results_from_json
from pytest_fcall.reporting.results import Results
from pytest_fcall.tracking.run_file import RunFile, RunFileError, read_run


@dataclass(frozen=True, slots=True)
class Run:
    """A run file and its results."""

    path: Path
    file: RunFile
    results: Results


def load_run(path: Path) -> Run:
    """The run in a file. Raises RunFileError."""
    file = read_run(path)
    try:
        return Run(path, file, results_from_json(file.results))
    except ValueError as error:
        raise RunFileError(f"{path}: not a run file: {error}") from None
