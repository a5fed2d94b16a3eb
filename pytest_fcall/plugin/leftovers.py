"""Files of models that the configuration no longer names: found in runs of all cases, reported, and removed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pytest_fcall.core import Model
from pytest_fcall.plugin.collected import collected
from pytest_fcall.plugin.session import session_of
from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.safe_text import safe_line

_MOST_LISTED = 3


class Leftovers(NamedTuple):
    """The files that are left of models. Other processes get them as a list."""

    folders: Sequence[str] = ()
    """The paths from the root of the folders."""
    renamed: str = ""
    """A line with a command, where a model of the configuration is likely to be the same under another name."""

    def without_tested(self, results: Sequence[Result]) -> Leftovers:
        """The files that are left, but for models that a fixture named."""
        tested = {Model.by_id(result.model).folder for result in results}
        folders = [path for path in self.folders if Path(path).name not in tested]
        return Leftovers(folders, self.renamed if folders == [*self.folders] else "")

    def lines(self) -> Iterator[str]:
        """Lines that tell of it; none where nothing is left."""
        if self.renamed:
            yield safe_line(self.renamed)
        if self.folders:
            yield f"kept of models that fc_model does not name: {self._listed()}; --fc-prune forgets it"

    def remove(self, root: Path) -> Iterator[str]:
        """Remove it, and say so. Raises OSError."""
        from pytest_fcall.session.result.stale import remove_leftover

        for path in self.folders:
            remove_leftover(root / path)
            yield f"pruned: {safe_line(path)}"

    def _listed(self) -> str:
        more = len(self.folders) - _MOST_LISTED
        return ", ".join([*map(safe_line, self.folders[:_MOST_LISTED]), *([f"and {more:,} more"] if more > 0 else [])])


def leftovers_from(data: Any) -> Leftovers:
    """The findings of a worker."""
    return Leftovers(*data)


def find_leftovers(session: pytest.Session) -> Leftovers:
    """The files beside those that this process has collected; none where the models are not the project's."""
    config = session.config
    if not _is_configured(config):
        return Leftovers()
    from pytest_fcall.session.result.stale import leftover_folders

    ours, root = session_of(config), config.rootpath
    named = [each.model for each in (*ours.settings.models, *filter(None, [ours.settings.judge]))]
    read_files = {*collected(config).cases, *(item.path for item in session.items)}
    found = leftover_folders(root, read_files, named)
    paths = [path.relative_to(root).as_posix() for path in found if path.is_relative_to(root)]
    return Leftovers(paths, _renamed(session, found) if paths else "")


def _is_configured(config: pytest.Config) -> bool:
    """Whether the project's configuration names the models of this run, and nobody has changed it for the run."""
    changed = any(config.getoption(name, None) for name in ("fc_model", "fc_baseline", "override_ini", "inifilename"))
    return bool(config.getini("fc_model")) and not changed


def _renamed(session: pytest.Session, folders: Sequence[Path]) -> str:
    """A line with a command, where one model has nothing, and the one that is left has answers to all its cases."""
    from pytest_fcall.backends.store import store_path
    from pytest_fcall.core import Case
    from pytest_fcall.session.result.moved import renamed_model_line

    config = session.config
    files = collected(config).files
    settings = session_of(config).settings
    models = [named.model for named in settings.models]
    fresh = [model for model in models if not any(any((path.parent / model.folder).glob("*")) for path in folders)]
    if len(fresh) != 1 or len({path.name for path in folders}) != 1:
        return ""
    cases = ((file.path, entry) for file in files if (read := file.read()) for entry in read.entries)
    whole = [(path, entry) for path, entry in cases if isinstance(entry, Case)]
    store = settings.store or store_path(config.rootpath)
    return renamed_model_line(config.rootpath, store, folders[0].name, fresh[0], whole)
