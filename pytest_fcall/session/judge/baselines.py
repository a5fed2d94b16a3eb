"""The baselines of a session: what verdicts are compared with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeAlias

import pytest

from pytest_fcall.core import Model
from pytest_fcall.plugin.baseline_options import baseline_options
from pytest_fcall.plugin.models import parse_model

if TYPE_CHECKING:
    from pytest_fcall.tracking.baseline_file import Baseline


Find: TypeAlias = "Callable[[Path, Model], Baseline | None]"


class Baselines:
    """Each file is read once."""

    def __init__(self, config: pytest.Config) -> None:
        self.options = baseline_options(config)
        self._find = _baseline_finder(self.options.against, config.rootpath)
        self._found: dict[tuple[Path, str], Baseline | None] = {}

    def of(self, case_file: Path, model: Model) -> Baseline | None:
        """What is accepted of the cases of a file under a model; None where there is nothing."""
        key = case_file, model.id
        if key not in self._found:
            self._found[key] = self._find(case_file, model)
        return self._found[key]


BASELINES = pytest.StashKey[Baselines]()


def baselines(config: pytest.Config) -> Baselines:
    """The session's one Baselines. Raises UsageError for options that cannot be read."""
    if BASELINES not in config.stash:
        config.stash[BASELINES] = Baselines(config)
    return config.stash[BASELINES]


def _baseline_finder(against: str, root: Path) -> Find:
    if against.startswith("git:"):
        return _at_revision(against.removeprefix("git:"), root)
    folder = Path(against) if against else root
    if folder.is_dir():
        return lambda case_file, model: _in_folder(folder.absolute(), root, case_file, model)
    try:
        other = parse_model(against, "--fc-baseline", root)
    except pytest.UsageError:
        message = f"--fc-baseline: {against!r} is neither a model, nor a folder, nor git:REVISION"
        raise pytest.UsageError(message) from None
    return lambda case_file, _: _in_folder(root, root, case_file, other)


def _in_folder(folder: Path, root: Path, case_file: Path, model: Model) -> Baseline | None:
    from pytest_fcall.tracking.baseline_file import baseline_path, read_baseline

    inside = case_file.is_relative_to(root)
    return read_baseline(baseline_path(folder / case_file.relative_to(root) if inside else case_file, model))


def _at_revision(revision: str, root: Path) -> Find:
    from pytest_fcall.tracking.baseline_file import baseline_path, read_baseline
    from pytest_fcall.tracking.revision import file_at_revision

    def find(case_file: Path, model: Model) -> Baseline | None:
        path = baseline_path(case_file, model)
        content = file_at_revision(revision, path)
        if content is None:
            return None
        with TemporaryDirectory() as folder:
            copy = Path(folder, "baseline.ambr")
            copy.write_bytes(content)
            return read_baseline(copy, path.with_name(f"{revision}:{path.name}"))

    try:
        file_at_revision(revision, root / "any")
    except ValueError as error:
        raise pytest.UsageError(f"--fc-baseline: {error}") from None
    return find
