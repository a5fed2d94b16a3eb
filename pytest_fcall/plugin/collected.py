"""What collection has found, for the hooks that come later."""

from __future__ import annotations

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
    cases: dict[Path, frozenset[str]] = field(default_factory=dict)
    """All cases of the files that were read without a fault, whichever of them run."""


COLLECTED = pytest.StashKey[Collected]()


def collected(config: pytest.Config) -> Collected:
    """What the session has collected so far."""
    return config.stash.setdefault(COLLECTED, Collected())


def register_tags(config: pytest.Config, tags: set[str]) -> None:
    """Make tags known as markers, so that --strict-markers takes them."""
    known = collected(config).tags
    for tag in sorted(tags - known):
        config.addinivalue_line("markers", f"{tag}: a tag of cases")
    known |= tags
