"""A run that is kept: its file, and the results in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import overload

from pytest_fcall.core import Json
from pytest_fcall.reporting.result_json import results_from_json
from pytest_fcall.reporting.results import Results
from pytest_fcall.tracking.run_file import RunFile, RunFileError, read_run_by_rows


@dataclass(frozen=True, slots=True)
class Run:
    """A run file and its results."""

    path: Path
    file: RunFile
    """Its rows are read anew whenever they are gone through: few readers need them beside the results."""
    results: Results


class _Rows(Sequence[Json]):
    """The rows of a run file."""

    def __init__(self, path: Path, number: int) -> None:
        self._path = path
        self._number = number

    def __len__(self) -> int:
        return self._number

    def __iter__(self) -> Iterator[Json]:
        return read_run_by_rows(self._path)[1]

    @overload
    def __getitem__(self, place: int) -> Json: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Json]: ...
    def __getitem__(self, place: int | slice) -> Json:
        return [*self][place]


def load_run(path: Path) -> Run:
    """The run in a file. Raises RunFileError."""
    file, rows = read_run_by_rows(path)
    try:
        results = results_from_json(file.results, rows)
    except RunFileError:
        raise
    except ValueError as error:
        raise RunFileError(f"{path}: not a run file: {error}") from None
    figures = {**file.results, "results": _Rows(path, len(results.results))}
    return Run(path, replace(file, results=figures), results)
