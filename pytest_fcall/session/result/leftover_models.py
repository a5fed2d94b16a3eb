"""Files of models that nothing in the project names any more, seen at the end of a run of all cases."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Final

from pytest_fcall.core import Model
from pytest_fcall.core.files import read_regular, refuse_link_out

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
