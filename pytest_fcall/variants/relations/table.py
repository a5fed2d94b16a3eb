"""The relations that are built in, by name, with the functions that make their variants."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from pytest_fcall.core.variants import RELATIONS, Relation
from pytest_fcall.variants.relations import messages, names, tools

_ON_TOOLS: Final = MappingProxyType(
    {
        "tool_order": tools.tool_order,
        "distractors": tools.distractors,
        "tool_names": names.tool_names,
        "parameter_names": names.parameter_names,
        "descriptions": tools.descriptions,
        "no_descriptions": tools.no_descriptions,
        "optional_parameters": tools.optional_parameters,
    }
)
_ON_MESSAGES: Final = MappingProxyType(
    {
        "system_position": messages.system_position,
        "white_space": messages.white_space,
        "letter_case": messages.letter_case,
        "punctuation": messages.punctuation,
        "typos": messages.typos,
        "dates": messages.dates,
        "numbers": messages.numbers,
        "turns_before": messages.turns_before,
    }
)

BUILT_IN: Final[Mapping[str, Relation]] = MappingProxyType(
    {name: Relation(RELATIONS[name], vary, changes_tools=True) for name, vary in _ON_TOOLS.items()}
    | {name: Relation(RELATIONS[name], vary) for name, vary in _ON_MESSAGES.items()}
)
