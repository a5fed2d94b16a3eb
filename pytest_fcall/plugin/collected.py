"""What collection noticed, for the hooks that come later."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_fcall.core import Fault


@dataclass(slots=True)
class Collected:
    """Faults in case files, tags that are markers now, how many YAML files were left alone, and the ids of cases."""

    faults: list[Fault] = field(default_factory=list)
    tags: set[str] = field(default_factory=set)
    files_without_cases: int = 0
    places: int = 0
    """How many items the case files have so far, with those that another shard builds."""
    cases: dict[Path, frozenset[str]] = field(default_factory=dict)
    """All cases of the files that were read without a fault, whichever of them run."""


PLACE = pytest.StashKey[int]()
"""Where an item stands among all items of case files: the same whichever of them are built."""

COLLECTED = pytest.StashKey[Collected]()


def collected(config: pytest.Config) -> Collected:
    """The session's one Noted."""
    return config.stash.setdefault(COLLECTED, Collected())


def register_tags(config: pytest.Config, tags: set[str]) -> None:
    """Make tags known as markers, so that --strict-markers takes them."""
    known = collected(config).tags
    for tag in sorted(tags - known):
        config.addinivalue_line("markers", f"{tag}: a tag of cases")
    known |= tags
