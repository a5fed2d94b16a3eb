"""The languages and categories of ACEBench, and the ids of its cases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

QuestionKind: TypeAlias = Literal["calls", "dialogue", "problem", "agent"]

LANGUAGES: Final[Mapping[str, str]] = MappingProxyType({"en": "English", "zh": "Chinese"})


@dataclass(frozen=True, slots=True)
class QuestionCategory:
    """A category of questions, in both languages."""

    name: str
    column: str
    """Its name in the original's table of scores."""
    kind: QuestionKind = "calls"
    """The subject of a verdict: calls, those of a turn of a dialogue, a problem to be named, or the end of a task."""


_EVERY: Final = (
    QuestionCategory("normal_atom_bool", "bool"),
    QuestionCategory("normal_atom_enum", "enum"),
    QuestionCategory("normal_atom_number", "number"),
    QuestionCategory("normal_atom_list", "list"),
    QuestionCategory("normal_atom_object_short", "object_short"),
    QuestionCategory("normal_atom_object_deep", "object_deep"),
    QuestionCategory("normal_single_turn_single_function", "single_turn_singal_function"),
    QuestionCategory("normal_single_turn_parallel_function", "single_turn_parallel_function"),
    QuestionCategory("normal_multi_turn_user_switch", "multiple_turn_switch", "dialogue"),
    QuestionCategory("normal_multi_turn_user_adjust", "multiple_turn_adjust", "dialogue"),
    QuestionCategory("normal_similar_api", "similar_api"),
    QuestionCategory("normal_preference", "profile"),
    QuestionCategory("special_incomplete", "incomplete", "problem"),
    QuestionCategory("special_error_param", "error", "problem"),
    QuestionCategory("special_irrelevant", "irrelevant", "problem"),
    QuestionCategory("agent_multi_turn", "agent_multi_turn", "agent"),
    QuestionCategory("agent_multi_step", "agent_multi_step", "agent"),
)
CATEGORIES: Final[Mapping[str, QuestionCategory]] = MappingProxyType({each.name: each for each in _EVERY})
ASKED: Final = tuple(each for each in _EVERY if each.kind != "agent")
"""The categories that a run asks. Agents' tasks need a model that plays the user, and the original's own tools."""

_NAMED: Final[Mapping[str, tuple[QuestionCategory, ...]]] = MappingProxyType(
    {
        "": ASKED,
        "_normal": tuple(each for each in ASKED if each.kind != "problem"),
        "_special": tuple(each for each in ASKED if each.kind == "problem"),
        "_atom": tuple(each for each in ASKED if "_atom_" in each.name),
        "_multi_turn": tuple(each for each in ASKED if each.kind == "dialogue"),
    }
)
PARTS: Final[Mapping[str, tuple[str, QuestionCategory]]] = MappingProxyType(
    {f"{language}_{each.name}": (language, each) for language in LANGUAGES for each in ASKED}
)
"""The language and the category of each part."""
GROUPS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        f"{language}{suffix}": tuple(f"{language}_{each.name}" for each in members)
        for language in LANGUAGES
        for suffix, members in _NAMED.items()
    }
)
"""Names for several parts: a language, and the original's groups in it."""


def parts_of(name: str) -> tuple[str, ...]:
    """Return the parts of a name, of all if it is empty. Raises ValueError."""
    if not name:
        return tuple(PARTS)
    if name in PARTS or name in GROUPS:
        return GROUPS.get(name, (name,))
    if name.partition("_")[2] in CATEGORIES:
        raise ValueError(
            f"acebench:{name} needs a model that plays the user, and is not asked; `fcall score --format acebench` "
            "judges its results"
        )
    from pytest_fcall.core.message_text import did_you_mean

    hint = did_you_mean(name, [*GROUPS, *PARTS])
    known = f"available: {', '.join(PARTS)}; groups: {', '.join(GROUPS)}"
    raise ValueError(f"no part {name!r:.60} in suite acebench; {hint or known}")


@dataclass(frozen=True, slots=True)
class CaseId:
    """The parts of an id: `en_normal_multi_turn_user_switch_3_1` in a run, without the language in original files."""

    category: QuestionCategory
    language: str = ""
    dialogue: str = ""
    """The number of the dialogue of which the case is a turn."""


def read_id(text: str) -> CaseId | None:
    """Return what an id says; None for one that is not of ACEBench."""
    first, _, rest = text.partition("_")
    language, rest = (first, rest) if first in LANGUAGES else ("", text)
    name, _, number = rest.rpartition("_")
    dialogue = ""
    if name not in CATEGORIES:
        name, _, dialogue = name.rpartition("_")
    category = CATEGORIES.get(name)
    numbers = [number, dialogue] if category and category.kind == "dialogue" else [number]
    if category is None or not all(each.isdecimal() for each in numbers) or bool(dialogue) != (len(numbers) == 2):
        return None
    return CaseId(category, language, dialogue)
