"""Recorded runs, opened by path or by the beginning of their id."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterable, Sequence
from pathlib import Path

from pytest_fcall.cli.project import root_of
from pytest_fcall.core.bounded_text import glob_matches
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.session.result.kept_runs import Run, load_run
from pytest_fcall.tracking.run_file import RunFileError, run_paths


def open_runs(parser: ArgumentParser, names: Sequence[str], least: int) -> list[Run]:
    """The runs of these names, followed by as many of the newest recorded runs as make `least` runs.

    A name is a path, or the beginning of the id of a recorded run. A run that cannot be found or read ends the program
    through `parser`.
    """
    recorded = run_paths(root_of([Path.cwd()]))
    paths = [run_path(parser, name, recorded) for name in names]
    others = [path for path in recorded if path not in paths]
    missing = max(least - len(paths), 0)
    if missing > len(others):
        runs = "1 run is" if least == 1 else f"{least} runs are"
        parser.error(f"{runs} needed, .fcall/runs holds {len(recorded)}: run pytest first")
    return [open_run(parser, path) for path in (*paths, *others[len(others) - missing :])]


def check_model_glob(parser: ArgumentParser, glob: str, runs: Iterable[Run]) -> None:
    """End the program through `parser` where `--model` names none of the models of the runs."""
    known = dict.fromkeys(result.model for run in runs for result in run.results.results)
    if known and not any(glob_matches(glob, model) for model in known):
        parser.error(safe_line(f"--model: {glob}: no model is called so; the runs have {', '.join(known)}"))


def open_run(parser: ArgumentParser, path: Path) -> Run:
    """The run in a file. A file that cannot be read ends the program through `parser`."""
    try:
        return load_run(path)
    except RunFileError as error:
        parser.error(safe_line(str(error)))


def run_path(parser: ArgumentParser, name: str, recorded: Sequence[Path]) -> Path:
    """The path of the run with this name. One that is not found ends the program through `parser`."""
    path = Path(name)
    if path.is_file():
        return path.absolute()
    matches = [each for each in recorded if name and each.name.startswith(name)]
    if len(matches) != 1:
        problem = f"{len(matches)} runs match" if matches else "no such file, and no such run in .fcall/runs"
        parser.error(f"{safe_line(name)}: {problem}")
    return matches[0]
