"""The findings of collection, for the hooks that come later; and files that may be meant as case files."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from pytest_fcall.cases.file_names import how_to_collect, is_case_file_name, looks_like_cases
from pytest_fcall.reporting.safe_text import safe_line

if TYPE_CHECKING:
    from pytest_fcall.core.case import Fault
    from pytest_fcall.plugin.collection import CaseFile


@dataclass(slots=True)
class CollectionFindings:
    """The case files of a session."""

    files: list[CaseFile] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    tags: set[str] = field(default_factory=set)
    """Tags of cases that are known as markers."""
    files_without_cases: int = 0
    """YAML files in folders of cases that hold none."""
    places: int = 0
    """Number of cases so far, with those that another shard builds."""
    built: Counter[str] = field(default_factory=Counter)
    """Number of cases of each model that are built here."""
    built_elsewhere: Counter[str] = field(default_factory=Counter)
    """Number of cases of each model that other shards build."""
    left_to_others: int = 0
    """Number of cases and tests that belong to other shards, whichever of them are selected there."""
    cases: dict[Path, frozenset[str]] = field(default_factory=dict)
    """All cases of the files that were read without a fault, whichever of them run."""

    def over_all_shards(self, selected: Mapping[str, int]) -> dict[str, int]:
        """The number of cases of each model in the run, if other shards select as large a part as this one."""
        return {
            model: round(n * (1 + self.built_elsewhere[model] / max(self.built[model], 1)))
            for model, n in selected.items()
        }


_COLLECTED = pytest.StashKey[CollectionFindings]()


def collection_findings(config: pytest.Config) -> CollectionFindings:
    """The findings of the session's collection so far."""
    return config.stash.setdefault(_COLLECTED, CollectionFindings())


def register_tags(config: pytest.Config, tags: set[str]) -> None:
    """Make tags known as markers, so that --strict-markers takes them."""
    known = collection_findings(config).tags
    for tag in sorted(tags - known):
        config.addinivalue_line("markers", f"{tag}: a tag of cases")
    known |= tags


_MOST_READ: Final = 200
_MOST_LISTED: Final = 5
_MOST_FOLDERS: Final = 300
"""Only so many folders outside of testpaths are looked into."""


def uncollected_lines(config: pytest.Config, noted: Iterable[Path]) -> Iterator[str]:
    """Lines for people on these files."""
    if not (found := list(uncollected_files(config, noted))):
        return
    yield f"not collected, but {'looks like a case file' if len(found) == 1 else 'look like case files'}:"
    yield from (safe_line(f"  {name}: {how}") for name, how in found[:_MOST_LISTED])
    if (left := len(found) - _MOST_LISTED) > 0:
        yield f"  and {left:,} more"


def uncollected_files(config: pytest.Config, noted: Iterable[Path]) -> Iterator[tuple[str, str]]:
    """Such files below the folders of the run, from the root folder, each with what makes pytest collect it."""
    root = config.rootpath
    named = [Path(config.invocation_params.dir, arg) for arg in config.args if "::" not in arg]
    below = [path for path in noted if any(path.is_relative_to(folder) for folder in named)]
    for path in (*lookalikes(below), *_outside_testpaths(config, named)):
        name = path.relative_to(root) if path.is_relative_to(root) else path
        yield name.as_posix(), how_to_collect(path, root)


def lookalikes(noted: Iterable[Path]) -> Iterator[Path]:
    """Those of the files that look like case files. Only so many are read, JSON last."""
    by_name = sorted(noted, key=lambda path: (path.suffix == ".json", path))
    return filter(looks_like_cases, islice(by_name, _MOST_READ))


def _outside_testpaths(config: pytest.Config, testpaths: Sequence[Path]) -> Iterator[Path]:
    """Files with the names of case files, where pytest looks only into the folders that the configuration names."""
    if config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        return
    never: list[str] = config.getini("norecursedirs")
    for folder, folders, names in islice(os.walk(config.rootpath), _MOST_FOLDERS):
        folders[:] = sorted(
            name
            for name in folders
            if Path(folder, name) not in testpaths and not any(fnmatchcase(name, glob) for glob in never)
        )
        yield from (path for name in sorted(names) if is_case_file_name(path := Path(folder, name)))
