"""What reading a part of a file needs to know beside the node in hand."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from pytest_fcall.cases.extensions import Extensions
from pytest_fcall.cases.faults import Faults
from pytest_fcall.cases.filling import Filling
from pytest_fcall.cases.toolbox import Toolbox
from pytest_fcall.core import MatchRule, Profile


@dataclass(slots=True)
class Scope:
    """Where faults go, and what may be spoken of."""

    faults: Faults
    folder: Path
    filling: Filling
    extensions: Extensions = field(default_factory=Extensions)
    toolbox: Toolbox = field(default_factory=Toolbox)
    """All tools of the file."""
    offered: frozenset[str] = frozenset()
    """The names of those that the case offers."""
    match: tuple[MatchRule, ...] = ()
    profile: Profile = "strict"
    names: set[str] = field(default_factory=set)
    """The calls made so far that `$from` may speak of."""
