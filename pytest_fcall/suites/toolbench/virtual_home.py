"""The task virtual_home: the known actions and things, and the steps of an answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from pytest_fcall.core.values import Json

Things = frozenset[str]


@dataclass(frozen=True, slots=True)
class Actions:
    """The known actions."""

    things_by_action: Mapping[str, Sequence[Things]]
    """The allowed things for each argument of an action."""

    def allow(self, name: str, things: Sequence[str]) -> bool:
        """Return whether an action can be done with these things."""
        allowed = self.things_by_action.get(name)
        return (
            allowed is not None
            and len(allowed) == len(things)
            and all(thing in own for thing, own in zip(things, allowed, strict=True))
        )

    def with_steps(self, steps: Sequence[tuple[str, Sequence[str]]]) -> Actions:
        """Return these actions and those of the given steps."""
        known = dict(self.things_by_action)
        for name, things in steps:
            allowed = known.get(name, ())
            if len(allowed) != len(things):
                allowed = [frozenset()] * len(things)
            known[name] = [own | {thing} for own, thing in zip(allowed, things, strict=True)]
        return Actions(known)


def actions_from_data(data: Json) -> Actions:
    """Parse the task's `valid_object_lists.json`: things under `object`, or `object1` and `object2`, by action.

    Raises ValueError for anything else.
    """
    if isinstance(data, Mapping):
        return Actions({name: _argument_things(name, lists) for name, lists in data.items()})
    raise ValueError("expected an object of actions")


def _argument_things(name: str, lists: Json) -> list[Things]:
    if isinstance(lists, Mapping):
        for keys in ((), ("object",), ("object1", "object2")):
            if lists.keys() == set(keys):
                return [_things(name, lists[key]) for key in keys]
    raise ValueError(f"`{name:.60}` must have `object`, or `object1` and `object2`, and nothing else")


def _things(name: str, value: Json) -> Things:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError(f"the objects of `{name:.60}` must be a list of names")
    return frozenset(map(str, value))


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_THINGS = _words(
    """
    bag basket_for_clothes bathroom bathroom_cabinet bathtub bed bedroom bookshelf bowl brush button cat centerpiece
    chair check child cleaning_bottle cleaning_solution clothes_dress clothes_hat clothes_jacket clothes_pants
    clothes_shirt clothes_underwear coffee_cup coffee_maker coffee_pot coffee_table computer couch creditcard cup
    cupboard curtain desk detergent dining_room dish_soap dishrack dishwasher dog drawing dresser drinking_glass duster
    electrical_outlet entrance_hall face faucet filing_cabinet floor_lamp fly folder food_bread food_cheese food_dessert
    food_food food_vegetable fork freezer hair hands_both hanger home_office homework keyboard kids_bedroom kitchen
    kitchen_cabinet kitchen_counter knife laptop light light_bulb living_room mail man mat microwave milk mirror mop
    mouse newspaper nightstand novel oven paper_towel phone picture plate pot purse rag razor remote_control sheets
    shoes shower sink soap spoon sponge table television toaster toilet towel toy trashcan vacuum_cleaner wall_clock
    washing_machine water water_glass window woman
    """
)
_ON_ONE_THING = _words(
    """
    Close Cut Drink Drop Find Grab Greet LieOn LookAt Move PlugIn PlugOut PointAt Push PutOn Read Release Run SitOn
    Squeeze SwitchOff SwitchOn Touch TypeOn WalkTo Watch Wipe
    """
)
_WITH_ANOTHER = ("PourInto", "Put", "PutBack", "PutIn")
_ON_NOTHING = ("Sleep", "StandUp", "WakeUp")
_DOCUMENTED: Mapping[str, str] = MappingProxyType(
    {
        "Eat": "food_bread food_cheese food_dessert food_food food_vegetable",
        "TakeOff": "clothes_jacket clothes_dress clothes_hat shoes clothes_shirt clothes_pants",
        "Scrub": ("mop cup toilet plate soap sink spoon cat shower dishwasher hands_both drinking_glass bowl towel"),
        "Rinse": (
            "cup pot water water_glass sponge soap towel dish_soap oven cleaning_solution knife spoon sink faucet "
            "clothes_underwear detergent drinking_glass hands_both toilet shower rag plate bowl fork"
        ),
        "Wash": (
            "face cup food_vegetable dresser fork shoes child coffee_cup bed water soap duster brush bathtub toy "
            "cleaning_bottle hair sink razor hands_both drinking_glass table toilet basket_for_clothes shower "
            "dishwasher plate bowl spoon"
        ),
        "Open": (
            "coffee_pot dresser freezer bookshelf cupboard folder mail filing_cabinet window oven desk kitchen_cabinet "
            "trashcan coffee_maker curtain bathroom_cabinet nightstand bag washing_machine toilet basket_for_clothes "
            "microwave dishwasher purse"
        ),
        "TurnTo": (
            "cup coffee_pot button dresser milk phone water bed soap mail picture filing_cabinet oven faucet "
            "newspaper food_cheese towel spoon laptop man food_bread dishrack keyboard freezer bookshelf chair "
            "water_glass brush centerpiece desk kitchen_cabinet fly toy mouse homework computer television shower "
            "plate clothes_pants child food_dessert folder window hair coffee_maker hanger cat food_food floor_lamp "
            "creditcard razor electrical_outlet washing_machine toilet coffee_table paper_towel clothes_dress couch "
            "drawing remote_control face food_vegetable vacuum_cleaner light shoes pot mirror duster cleaning_bottle "
            "sink toaster novel clothes_shirt table kitchen_counter wall_clock woman dishwasher dog check"
        ),
        "Pull": (
            "table mop mouse chair clothes_pants light_bulb curtain vacuum_cleaner mat cat food_food drawing shoes "
            "centerpiece sheets pot laptop"
        ),
    }
)

KNOWN_ACTIONS: Final = Actions(
    {
        **{f"Agent.{name}": [_THINGS] for name in _ON_ONE_THING},
        **{f"Agent.{name}": [_THINGS, _THINGS] for name in _WITH_ANOTHER},
        **{f"Agent.{name}": [] for name in _ON_NOTHING},
        **{f"Agent.{name}": [_words(things)] for name, things in _DOCUMENTED.items()},
    }
)


_STEP_NUMBER = re.compile(r"\d+\. *")
_DROPPED = str.maketrans("", "", "\"';")


def step_lines(text: str) -> list[str]:
    """Return the steps up to the next task, without numbers, quotes and semicolons; some may be empty."""
    return list(_lines(text))


def parse_step(line: str) -> tuple[str, tuple[str, ...]] | None:
    """Return the action and the things of a step such as `Agent.Put(novel, table)`; None without brackets."""
    name, opened, rest = line.partition("(")
    inside, closed, _ = rest.partition(")")
    if not (opened and closed):
        return None
    things = tuple(each.strip() for each in inside.split(","))
    return name, () if things == ("",) else things


def is_known_step(line: str, actions: Actions) -> bool:
    """Return whether a step can be done."""
    step = parse_step(line)
    return step is not None and actions.allow(*step)


def _lines(text: str) -> Iterator[str]:
    for line in map(str.strip, text.split("\n")):
        if line.startswith("Task:"):
            return
        if line:
            yield _step_text(line)


def _step_text(line: str) -> str:
    plain = line.translate(_DROPPED)
    number = _STEP_NUMBER.match(plain)
    return plain[number.end() :].strip() if number else plain.strip()
