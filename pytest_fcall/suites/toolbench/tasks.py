"""The eight tasks, and how each is asked and scored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

Kind: TypeAlias = Literal["state", "steps", "request", "sheet", "scene", "shop"]
"""How an answer is judged: by the state that it sets, by its steps, or by what carrying it out gives."""

_STATE: Final = ("state_f1", "state_precision", "state_recall", "executability")


@dataclass(frozen=True, slots=True)
class Task:
    """One task."""

    name: str
    kind: Kind
    apis: int
    """How many documents of functions are told, those that suit the question best."""
    examples: int
    """How many demonstrations are told, likewise."""
    max_tokens: int
    scores: tuple[str, ...]
    needs: str = ""
    """What there must be to carry answers out; nothing where that is done here."""


TASKS: Final[Mapping[str, Task]] = MappingProxyType(
    {
        task.name: task
        for task in (
            Task("open_weather", "request", 10, 3, 128, _STATE, "OpenWeather's service"),
            Task("the_cat_api", "request", 3, 3, 128, _STATE, "The Cat API's service"),
            Task("home_search", "state", 15, 3, 128, _STATE),
            Task("booking", "state", 15, 3, 300, _STATE),
            Task("google_sheets", "sheet", 0, 3, 256, ("executability",), "a Google sheet"),
            Task("virtual_home", "steps", 10, 3, 128, ("lcs", "lcs(executable)", "executability")),
            Task("web_shop", "shop", 0, 3, 128, ("reward", "executability"), "a web shop"),
            Task("code_as_policies_tabletop", "scene", 0, 0, 256, ("executability",), "the simulated table"),
        )
    }
)
"""By the names of their folders. The numbers are those that the original's documentation gives."""
