"""The findings of collection, for the hooks that come later."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_fcall.core import Fault
    from pytest_fcall.plugin.collection import CaseFile


@dataclass(slots=True)
class Collected:
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
    cases: dict[Path, frozenset[str]] = field(default_factory=dict)
    """All cases of the files that were read without a fault, whichever of them run."""

    def over_all_shards(self, selected: Mapping[str, int]) -> dict[str, int]:
        """The number of cases of each model in the run, if other shards select as large a part as this one."""
        return {
            model: round(n * (1 + self.built_elsewhere[model] / max(self.built[model], 1)))
            for model, n in selected.items()
        }


COLLECTED = pytest.StashKey[Collected]()


def collected(config: pytest.Config) -> Collected:
    """The findings of the session's collection so far."""
    return config.stash.setdefault(COLLECTED, Collected())


def register_tags(config: pytest.Config, tags: set[str]) -> None:
    """Make tags known as markers, so that --strict-markers takes them."""
    known = collected(config).tags
    for tag in sorted(tags - known):
        config.addinivalue_line("markers", f"{tag}: a tag of cases")
    known |= tags
