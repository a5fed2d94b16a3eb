"""What baselines keep of cases that are gone, and whether this run has seen enough to forget it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from pytest_fcall.core import Model
from pytest_fcall.plugin.collected import collected
from pytest_fcall.plugin.models import named_models
from pytest_fcall.session.judge.baselines import baselines
from pytest_fcall.tracking.baseline_file import SUFFIX

_NARROWING = {
    "keyword": "-k",
    "markexpr": "-m",
    "deselect": "--deselect",
    "lf": "--lf",
    "stepwise": "--stepwise",
    "ignore": "--ignore",
    "ignore_glob": "--ignore-glob",
    "fc_shard": "--fc-shard",
}


class Stale(NamedTuple):
    """The cases of one baseline, its path from the root, that are in no case file any more."""

    path: str
    cases: list[str]


def stale_of(config: pytest.Config) -> list[Stale]:
    """What is stale in the folders of the files that were read, under the models of this run.

    A file with a fault may hold more cases than can be told, so nothing of it is stale, nor is anything where a
    baseline is damaged.
    """
    if baselines(config).options.against:  # it is not our own that was read
        return []
    folders = dict.fromkeys(file.parent for file in collected(config).cases)
    models = [named.model for named in named_models(config)]
    return [stale for model in models for folder in folders for stale in _in_folder(config, folder, model)]


def why_narrowed(config: pytest.Config) -> str | None:
    """Why this run has not seen all there is to see; None where it has."""
    if config.option.collectonly or config.getoption("fc_dry_run"):
        return "nothing was run"
    for name, option in _NARROWING.items():
        if config.getoption(name, None):
            return f"the run was narrowed by {option}"
    narrow = [arg for arg in config.args if not Path(config.invocation_params.dir, arg).is_dir()]
    return f"the run was narrowed to {narrow[0]}" if narrow else None


def _cases(config: pytest.Config, case_file: Path) -> frozenset[str] | None:
    """The cases of a file, none of one that is gone; None where it cannot be told, as of suites without a file."""
    known = collected(config).cases
    if case_file.exists():
        return known.get(case_file)
    return None if case_file in known else frozenset()


def _in_folder(config: pytest.Config, folder: Path, model: Model) -> Iterator[Stale]:
    for path in sorted((folder / "__fcall__" / model.folder).glob(f"*{SUFFIX}")):
        case_file = folder / path.name.removesuffix(SUFFIX)
        cases = _cases(config, case_file)
        baseline = baselines(config).of(case_file, model)
        if cases is not None and baseline and (gone := [case for case in baseline.stanzas if case not in cases]):
            yield Stale(path.relative_to(config.rootpath).as_posix(), gone)
