"""What is known of the task's actions without its data: which they are, and the names of things.

Where the task's documentation prints a list of things, that is it; elsewhere any thing will do, but for eating.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from pytest_fcall.suites.toolbench.actions import Actions


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
_ALONE = ("Sleep", "StandUp", "WakeUp")
_PRINTED: Mapping[str, str] = MappingProxyType(
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
        **{f"Agent.{name}": [] for name in _ALONE},
        **{f"Agent.{name}": [_words(things)] for name, things in _PRINTED.items()},
    }
)
