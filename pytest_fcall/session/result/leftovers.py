"""Stanzas of baselines whose cases are in no case file any more, and files of models that nothing names any more."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple

from pytest_fcall.core.backend import Model
from pytest_fcall.core.files import case_file_of, path_from_root, read_regular, refuse_link_out
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
            yield Stale(path_from_root(path, root), gone)


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

    case_file = case_file_of(baseline, SUFFIX)
    forget(baseline.with_name(recordings_path(case_file, Model("any", "any")).name), cases)
    if not case_file.exists():
        lock_path(case_file).unlink(missing_ok=True)


_TESTED_KINDS: Final = ("any-", "local-", "openai-")
"""Prefixes of the folders of models that a person named. Others are of the models of apps, if nothing is accepted."""
_MODEL: Final = re.compile(r"\b([A-Za-z_]\w*):([^\s\"'`?,;|&\\()\[\]{}<>]+)")
_CONFIGURATION: Final = ("", ".cfg", ".ini", ".py", ".sh", ".toml", ".yaml", ".yml")
"""Suffixes of files at the root that may name a model for some run."""
_INNER_CONFIGURATION: Final = (".cfg", ".ini", ".py", ".toml")
_WORKFLOWS: Final = (".circleci", ".github/workflows", ".gitlab")
_LARGEST: Final = 1_000_000
"""A larger file, in bytes, is no configuration."""


def leftover_folders(root: Path, read_files: Collection[Path], models: Iterable[Model]) -> list[Path]:
    """The folders beside these files that hold what is kept of other models than these.

    A model that another configuration names, a workflow, a script or the project's own code, is somebody's. And so is
    what belongs to a file that exists and was not read.
    """
    folders = [*dict.fromkeys(file.parent for file in read_files)]
    owned = {model.folder for model in models}
    kept = (path for folder in folders for path in sorted((folder / "__fcall__").glob("*")) if path.name not in owned)
    found = [path for path in kept if _is_leftover(path, read_files)]
    if not found:
        return []
    named = {*_folders_of_aliases(root), *_named_folders(root, folders)}
    return [path for path in found if path.name not in named]


def remove_leftover(folder: Path) -> None:
    """Remove what is kept of a model beside some cases; files of others stay. Raises OSError."""
    for path in _kept_files(folder):
        refuse_link_out(path)
        path.unlink()
    if not any(folder.iterdir()):
        folder.rmdir()


def _suffixes() -> tuple[str, ...]:
    """Suffixes of files that are kept of a model. That of accepted answers comes first."""
    from pytest_fcall.backends.recordings.file import BOOKKEEPING_SUFFIX
    from pytest_fcall.backends.recordings.file import SUFFIX as REPLIES_SUFFIX
    from pytest_fcall.tracking.baseline_file import SUFFIX
    from pytest_fcall.tracking.bookkeeping import SUFFIX as MEASURED_SUFFIX

    return SUFFIX, MEASURED_SUFFIX, REPLIES_SUFFIX, BOOKKEEPING_SUFFIX


def _kept_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*") if path.name.endswith(_suffixes()))


def _is_leftover(folder: Path, read_files: Collection[Path]) -> bool:
    kept, suffixes = _kept_files(folder), _suffixes()
    is_tested = folder.name.startswith(_TESTED_KINDS) or any(path.name.endswith(suffixes[0]) for path in kept)
    names = (path.name.removesuffix(next(filter(path.name.endswith, suffixes))) for path in kept)
    files = (folder.parents[1] / name for name in names)
    return bool(kept) and is_tested and all(file in read_files or not file.exists() for file in files)


def _folders_of_aliases(root: Path) -> Iterator[str]:
    from pytest_fcall.backends.settings import SettingsError, aliases, model_of_alias

    try:
        found = [model_of_alias(alias, root) for alias in aliases(root)]
    except SettingsError:  # the run has said so
        return
    yield from (model.folder for model in found if model)


def _named_folders(root: Path, folders: Iterable[Path]) -> Iterator[str]:
    """The folders of all that looks like the name of a model in files by which runs are configured."""
    inner = {parent for folder in folders for parent in (folder, *folder.parents) if root in parent.parents}
    outer = (root, *(root / name for name in _WORKFLOWS))
    for path in chain(_files_in(outer, _CONFIGURATION), _files_in(inner, _INNER_CONFIGURATION)):
        try:
            text = read_regular(path, _LARGEST).decode("utf-8", "replace")
        except OSError:
            continue
        yield from (Model(kind, name).folder for kind, name in _MODEL.findall(text))


def _files_in(folders: Iterable[Path], suffixes: Collection[str]) -> Iterator[Path]:
    return (path for folder in folders for path in folder.glob("*") if path.suffix in suffixes and path.is_file())
