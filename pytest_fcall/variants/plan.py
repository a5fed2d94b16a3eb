"""The variants of a case: which there are, which relations do not fit, and what differs in each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from pytest_fcall.core.case import Case
from pytest_fcall.core.values import Json
from pytest_fcall.core.variants import REPETITION, WORDED, Dice, Relation, Unfit, WantedRelation

_MOST_REPETITIONS: Final = 5
"""At most so many repetitions are asked for where nobody says how many."""
_MOST_THROWS: Final = 5
"""So often the dice are thrown for each further variant, where earlier throws made one that is there already."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A case as a relation varies it."""

    relation: str
    number: int
    """Its number among those of the relation, from 1."""
    case: Case
    samples: int = 1
    """The number of requests for it."""

    @property
    def name(self) -> str:
        """The name of the variant: `typos-2`."""
        return f"{self.relation}-{self.number}"


@dataclass(frozen=True, slots=True)
class VariantPlan:
    """The variants of a case, and why some relations make none of it."""

    variants: tuple[Variant, ...] = ()
    unfit: Mapping[str, str] = field(default_factory=dict)
    """Reasons by the names of relations."""
    repetitions: int = 1
    """The number of answers to the case itself that are wanted beside the first."""


def plan_variants(
    case: Case,
    wanted: Sequence[WantedRelation],
    relations: Mapping[str, Relation],
    *,
    has_own_tools: bool = False,
    worded: Callable[[WantedRelation], Sequence[Case | Unfit]] | None = None,
) -> VariantPlan:
    """Plan the variants of a case. `has_own_tools` says that what answers has tools of its own, whatever the case has.

    `worded` gives the variants whose texts models have written. The same case has the same variants, wherever and
    whenever they are planned.
    """
    variants: list[Variant] = []
    unfit: dict[str, str] = {}
    for each in wanted:
        if each.name == REPETITION:
            continue
        made: Sequence[Case | Unfit]
        if each.name in WORDED:
            made = worded(each) if worded else ()
        elif relations[each.name].changes_tools and (why := _why_tools_stay(case, has_own_tools=has_own_tools)):
            made = (Unfit(why),)
        else:
            made = [*_variants(case, each, relations[each.name])]
        if reason := next((found.reason for found in made if isinstance(found, Unfit)), ""):
            unfit[each.name] = reason
        variants += [
            Variant(each.name, number, varied, each.samples)
            for number, varied in enumerate(made, 1)
            if isinstance(varied, Case)
        ]
    return VariantPlan(tuple(variants), unfit, _repetitions(wanted))


def _repetitions(wanted: Sequence[WantedRelation]) -> int:
    """As many as the case says, or else as many as the relation with the most answers has, within reason.

    A single flip among several answers to variants shows nothing beside a single repetition.
    """
    counts = {each.name: each.count * each.samples for each in wanted}
    return counts.pop(REPETITION, 0) or min(max(counts.values(), default=1), _MOST_REPETITIONS)


def _why_tools_stay(case: Case, *, has_own_tools: bool) -> str:
    if has_own_tools:
        return "an app has its own tools"
    return "its tools are described in its messages" if case.tools_in_messages else ""


def _variants(case: Case, wanted: WantedRelation, relation: Relation) -> Iterator[Case | Unfit]:
    """The variants, all different from the case and from each other; or why there is none.

    A relation that has made what there is to make gives fewer than are wanted.
    """
    seen = [_content(case)]
    for number in range(wanted.count):
        for throw in range(_MOST_THROWS):
            made = relation.vary(case, Dice(case.id, wanted.name, number, throw), wanted)
            if isinstance(made, Unfit):
                if not number:
                    yield made
                return
            if (content := _content(made)) not in seen:
                seen.append(content)
                yield replace(made, id=case.id)
                break
        else:
            if not number:
                yield Unfit("it changes nothing")
            return


def _content(case: Case) -> Sequence[object]:
    """The content of a case that the model sees: its messages and tools."""
    return [
        [(turn.messages, _offered(turn.tools)) for turn in case.turns],
        _offered(case.tools),
    ]


def _offered(tools: object) -> Json:
    if not isinstance(tools, tuple):
        return None
    return [[tool.name, tool.description, _ordered(tool.parameters)] for tool in tools]


def _ordered(value: Json) -> Json:
    """A value whose equality depends on the order of keys, too."""
    if isinstance(value, Mapping):
        return [[key, _ordered(each)] for key, each in value.items()]
    return [_ordered(each) for each in value] if isinstance(value, list | tuple) else value
