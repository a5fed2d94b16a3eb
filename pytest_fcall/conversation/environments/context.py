"""The parts that all environments of a case file share: folders, limits, allowed hosts and recorded results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from pytest_fcall.conversation.environments.http_hosts import Hosts
from pytest_fcall.conversation.environments.recorded_results import ResultStore
from pytest_fcall.conversation.execution.limits import DEFAULT_LIMITS, Limits
from pytest_fcall.core import Tool


@dataclass(frozen=True, slots=True)
class EnvironmentContext:
    """The project, and the limits of what tools may do."""

    root: Path
    """pytest's root folder, which is importable."""
    folder: Path
    """The folder of the case file."""
    limits: Limits = DEFAULT_LIMITS
    hosts: Hosts = field(default_factory=Hosts)
    """The hosts that may be asked over HTTP; none by default."""
    result_store: ResultStore | None = None
    """Where results of calls are recorded; None records nothing."""
    note: Callable[[str], object] | None = None
    """Is told what people should know of this machine."""


def source_name(tool: Tool) -> str:
    """The name of the tool in its source, without the prefix of `as:`."""
    name = (tool.origin or {}).get("name")
    return name if isinstance(name, str) else tool.name
