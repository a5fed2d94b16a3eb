"""The settings of a request that a case may repeat."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_fcall.cases.settings import KNOWN_SETTINGS
from pytest_fcall.core import Json
from pytest_fcall.traces.values import mapping


def settings_of(told: Mapping[str, Json]) -> dict[str, Json]:
    """Those that shape an answer, as every provider understands them; a named tool as its name."""
    given = {name: told[name] for name in KNOWN_SETTINGS if told.get(name) is not None}
    if "tool_choice" in given:
        chosen = _choice(given.pop("tool_choice"))
        if chosen is not None:
            given["tool_choice"] = chosen
    return given


def _choice(told: Json) -> Json:
    """The choice in our words; None where it is the usual one."""
    if isinstance(told, str):
        return None if told == "auto" else told
    choice = mapping(told)
    word = {"any": "required", "none": "none", "auto": None}.get(str(choice.get("type")), "")
    return (mapping(choice.get("function")).get("name") or choice.get("name")) if word == "" else word
