"""The files of baselines: a contract that people review, and the bookkeeping beside it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_fcall.core.backend import Model
from pytest_fcall.core.files import MOST_KEPT_BYTES, read_regular, shared_folders, shared_path

if TYPE_CHECKING:
    from pytest_fcall.tracking.baseline_content import Baseline

SUFFIX: Final = ".accepted"


def baseline_path(case_file: Path, model: Model) -> Path:
    """The path of a contract: `__fcall__/<model>/<file name>.accepted`, beside the case file."""
    return shared_path(case_file, model.folder, SUFFIX)


def accepted_models(root: Path) -> Iterator[str]:
    """The folders' names of models that have a baseline somewhere below `root`, some of them twice."""
    for folder in shared_folders(root):
        yield from (each.name for each in folder.iterdir() if any(each.glob(f"*{SUFFIX}")))


def contracts_below(root: Path) -> Iterator[Path]:
    """The paths of all contracts below `root`, folder by folder."""
    for folder in shared_folders(root):
        yield from sorted(folder.glob(f"*/*{SUFFIX}"))


def read_baseline(path: Path) -> Baseline | None:
    """Read a contract and its bookkeeping; None where there is none. Errors become faults."""
    try:
        content = read_regular(path, MOST_KEPT_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return _unreadable(path, error)
    from pytest_fcall.tracking.baseline_content import parse_baseline
    from pytest_fcall.tracking.bookkeeping import measurement_path, read_bookkeeping

    try:
        return parse_baseline(content, path, read_bookkeeping(measurement_path(path)))
    except OSError as error:
        return _unreadable(measurement_path(path), error)


def _unreadable(path: Path, error: OSError) -> Baseline:
    from pytest_fcall.tracking.baseline_content import Baseline, damage

    return Baseline(faults=(damage(path, 1, f"the baseline cannot be read: {error.strerror}"),))
