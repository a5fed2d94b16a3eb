"""Runs by the names that people give them."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_fcall.cli.project import root_of
from pytest_fcall.reporting.result_json import results_from_json
from pytest_fcall.reporting.results import Results
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.tracking.run_file import RunFile, RunFileError, read_run, run_paths


@dataclass(frozen=True, slots=True)
class Run:
    """A run file, and its results."""

    path: Path
    file: RunFile
    results: Results


def open_runs(parser: ArgumentParser, names: Sequence[str], newest: int) -> list[Run]:
    """The runs of these names, then the newest that are kept until there are `newest`, in the order of their start.

    A name is a path, or the beginning of the id of a run that is kept. What cannot be found or read ends the program
    through `parser`.
    """
    kept = run_paths(root_of([Path.cwd()]))
    paths = [_named(parser, name, kept) for name in names]
    others = [path for path in kept if path not in paths]
    missing = max(newest - len(paths), 0)
    if missing > len(others):
        parser.error(f"{newest} runs are wanted, and {len(kept)} are kept in .fcall/runs: run pytest first")
    return [open_run(parser, path) for path in (*paths, *others[len(others) - missing :])]


def open_run(parser: ArgumentParser, path: Path) -> Run:
    """The run in a file; what cannot be read ends the program through `parser`."""
    try:
        file = read_run(path)
        return Run(path, file, results_from_json(file.results))
    except RunFileError as error:
        parser.error(safe_line(str(error)))
    except ValueError as error:
        parser.error(safe_line(f"{path}: not a run file: {error}"))


def _named(parser: ArgumentParser, name: str, kept: Sequence[Path]) -> Path:
    path = Path(name)
    if path.is_file():
        return path.absolute()
    found = [each for each in kept if name and each.name.startswith(name)]
    if len(found) != 1:
        what = f"{len(found)} runs begin so" if found else "there is no such file, and no such run in .fcall/runs"
        parser.error(f"{safe_line(name)}: {what}")
    return found[0]
