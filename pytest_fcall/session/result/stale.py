"""Stanzas of baselines whose cases are in no case file any more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pytest_fcall.core import Model
from pytest_fcall.session.judge.baselines import Baselines
from pytest_fcall.tracking.baseline_file import SUFFIX


class Stale(NamedTuple):
    """The cases of one baseline that are gone. The path of the baseline is relative to the root."""

    path: str
    cases: list[str]


def stale_baselines(
    baselines: Baselines, root: Path, read_files: Mapping[Path, frozenset[str]], models: Sequence[Model]
) -> list[Stale]:
    """Stale stanzas in the folders of the files that were read without a fault, under the models of the run.

    A file with a fault may hold more cases than are known, so its stanzas count as needed, and so do those of a
    damaged baseline.
    """
    if baselines.settings.against:  # the baselines that were read are not those of the models
        return []
    folders = dict.fromkeys(file.parent for file in read_files)
    return [
        stale
        for model in models
        for folder in folders
        for stale in _in_folder(baselines, root, read_files, folder, model)
    ]


def _in_folder(
    baselines: Baselines, root: Path, read_files: Mapping[Path, frozenset[str]], folder: Path, model: Model
) -> Iterator[Stale]:
    for path in sorted((folder / "__fcall__" / model.folder).glob(f"*{SUFFIX}")):
        case_file = folder / path.name.removesuffix(SUFFIX)
        cases = _known_cases(read_files, case_file)
        baseline = baselines.of(case_file, model)
        if cases is not None and baseline and (gone := [case for case in baseline.stanzas if case not in cases]):
            yield Stale(path.relative_to(root).as_posix(), gone)


def _known_cases(read_files: Mapping[Path, frozenset[str]], case_file: Path) -> frozenset[str] | None:
    """The cases of a file, none of a deleted one; None where they are unknown, as of suites without a file."""
    if case_file.exists():
        return read_files.get(case_file)
    return None if case_file in read_files else frozenset()


def forget_beside(baseline: Path, cases: Sequence[str]) -> None:
    """Take what is recorded of these cases out of version control, and the lock of a case file that is gone.

    Raises OSError.
    """
    from pytest_fcall.backends.recordings.file import recordings_path
    from pytest_fcall.backends.recordings.renaming import forget
    from pytest_fcall.schema.sources.lock_file import lock_path

    case_file = baseline.parents[2] / baseline.name.removesuffix(SUFFIX)
    forget(baseline.with_name(recordings_path(case_file, Model("any", "any")).name), cases)
    if not case_file.exists():
        lock_path(case_file).unlink(missing_ok=True)
