"""The facts that the spans of an app tell of one case, and the expectations on them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_fcall.core.values import Json

if TYPE_CHECKING:
    from pytest_fcall.core.expectation import Expectation
    from pytest_fcall.core.operators import Pattern
    from pytest_fcall.core.request import Tool


@dataclass(frozen=True, slots=True)
class RanTool:
    """A tool that ran, whether it failed or not."""

    name: str
    arguments: Mapping[str, Json] | None
    """None where no span tells them by their names."""


@dataclass(frozen=True, slots=True)
class AppSpans:
    """The facts that the spans of one case tell, in the order in which things began."""

    tools: tuple[RanTool, ...] = ()
    models: tuple[str, ...] = ()
    """The names by which models were asked, each once."""
    fault: str = ""
    """Why the spans cannot be judged, and what to do; empty where they can."""


def joined_spans(parts: Iterable[AppSpans]) -> AppSpans:
    """The spans of several steps as those of one."""
    known = [*parts]
    return AppSpans(
        tuple(tool for each in known for tool in each.tools),
        tuple(dict.fromkeys(model for each in known for model in each.models)),
        next((each.fault for each in known if each.fault), ""),
    )


@dataclass(frozen=True, slots=True)
class SpansExpectation:
    """Expectations on the spans of an app in one case. None expects nothing."""

    calls: Expectation | None = None
    """The tools that ran."""
    models: Pattern = None
    """The names of the models, each once, in the order in which they were asked first."""
    known_tools: tuple[Tool, ...] = field(default=(), kw_only=True, repr=False, compare=False)
    """The tools that `calls` may name. No part of what is expected, as which of them the app has is up to it."""
