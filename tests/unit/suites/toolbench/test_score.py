"""The worked examples of the tasks that are scored by a state."""

from __future__ import annotations

import pytest

from pytest_fcall.core import Json
from pytest_fcall.suites.json_files import BrokenRow
from pytest_fcall.suites.toolbench.judge import ToolBenchScore, score_row
from pytest_fcall.suites.toolbench.virtual_home import KNOWN_ACTIONS

HOME = """\
API.set_location("Cape Coral")
API.set_buy_or_rent("buy")
API.select_home_type(["Multi-family", "Townhouse", "Co-op"])
API.set_min_price(707000)
API.set_max_price(1457000)
API.search()"""

TRIP = """\
API.select_booking_type('trip tickets')
API.set_num_adults(3)
API.select_transportation('cruise')
origin = Loc('Fort Worth')
API.set_origin(origin)
destination = Loc('Ontario')
API.set_destination(destination)
departure_date = Date(5, 17, 2023)
API.set_departure_date(departure_date)
API.search()"""

HOTEL = """\
API.select_booking_type('hotels')
API.set_hotel_location(Loc('Reno'))
API.set_checkin_date(Date(1, 2, 2023))
API.set_checkout_date(Date(1, 5, 2023))
API.search()"""

BOTH = """\
API.select_booking_type('both')
API.select_transportation('train')
API.set_origin(Loc('Laredo'))
API.set_destination(Loc('Glendale'))
API.set_hotel_location(Loc('Glendale'))
API.set_checkin_date(Date(8, 25, 2023))
API.set_checkout_date(Date(8, 30, 2023))
API.search()"""

CRASHED = ToolBenchScore(crashed=True, success=False, precision=0, recall=0, f1=0, lcs_score=0)


def scored(task: str, prediction: str | None, *labels: str) -> ToolBenchScore:
    row: dict[str, Json] = {"task": task, "prediction": prediction, "labels": list(labels)}
    return score_row(row, KNOWN_ACTIONS)


def shares(found: ToolBenchScore) -> tuple[object, ...]:
    assert found.precision is not None
    assert found.recall is not None
    assert found.f1 is not None
    return found.crashed, found.success, round(found.precision, 4), round(found.recall, 4), round(found.f1, 4)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", ""),
        ('["Multi-family", "Townhouse", "Co-op"]', '["CO-OP", "townhouse", "Multi-Family"]'),
        (
            "API.set_min_price(707000)\nAPI.set_max_price(1457000)",
            "API.set_max_price(1457000)\nAPI.set_min_price(707000)",
        ),
        ("707000", "707000.0"),
        ("707000", "700000+7000"),
        ("707000", "value=707000"),
        ('API.set_location("Cape Coral")', 'place = "Cape Coral"\nAPI.set_location(place)'),
    ],
)
def test_a_search_for_the_same_homes_succeeds(old: str, new: str) -> None:
    assert shares(scored("home_search", HOME.replace(old, new), HOME)) == (False, True, 1, 1, 1)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("\nAPI.search()", "", (1, 0.8333, 0.9091)),
        ("1457000", "1457001", (0.8333, 0.8333, 0.8333)),
        ("707000", '"707000"', (0.8333, 0.8333, 0.8333)),
        ("Cape Coral", "cape coral", (0.8333, 0.8333, 0.8333)),
        ("API.search()", "API.set_num_beds(3)\nAPI.search()", (0.8571, 1, 0.9231)),
        ("API.set_max_price(1457000)\n", "", (1, 0.8333, 0.9091)),
        (HOME, "", (0, 0, 0)),
    ],
)
def test_a_search_for_other_homes_is_scored_by_what_is_the_same(
    old: str, new: str, expected: tuple[float, float, float]
) -> None:
    assert shares(scored("home_search", HOME.replace(old, new), HOME)) == (False, False, *expected)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            'API.set_location("Cape Coral")\nAPI.set_buy_or_rent("buy")',
            'API.set_buy_or_rent("buy")\nAPI.set_location("A")',
        ),
        ("buy", "rent"),
        ("set_max_price", "set_pool"),
        ("API.search()", "API.search()\nHope this helps"),
        ("API.search()", "API.search(1)"),
        ("API.search()", "API.criteria.clear()"),
        ("API.search()", "API.set('a', 1)"),
        ("API.search()", "search()"),
        ("API.search()", "print(1)"),
        ("API.search()", "API.__init__()"),
        ("API.search()", "import os\nos.remove('/')"),
        ("API.set_max_price(1457000)", "API.set_max_price(cost=1457000)"),
        ("API.set_max_price(1457000)", "API.set_max_price()"),
        ("API.set_max_price(1457000)", "API.set_location('A')"),
        ('["Multi-family", "Townhouse", "Co-op"]', '"Townhouse"'),
        ('["Multi-family", "Townhouse", "Co-op"]', "[1]"),
        ('["Multi-family", "Townhouse", "Co-op"]', "3"),
    ],
)
def test_what_breaks_the_rules_is_a_crash(old: str, new: str) -> None:
    assert scored("home_search", HOME.replace(old, new), HOME) == CRASHED


def test_an_answer_that_never_came_is_a_crash() -> None:
    assert scored("home_search", None, HOME) == scored("booking", None, TRIP) == CRASHED


def test_clearing_begins_anew() -> None:
    again = f"API.set_location('Oslo')\nAPI.clear()\n{HOME}"
    assert scored("home_search", again, HOME).success


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Date(5, 17, 2023)", "Date(year=2023, month=5, day=17)"),
        ("origin = Loc('Fort Worth')\nAPI.set_origin(origin)", "API.set_origin(Loc('Fort Worth'))"),
    ],
)
def test_the_same_trip_is_a_success(old: str, new: str) -> None:
    assert shares(scored("booking", TRIP.replace(old, new), TRIP)) == (False, True, 1, 1, 1)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("Date(5, 17", "Date('05', 17", (0.875, 0.875, 0.875)),
        ("API.search()", "API.set_return_date(Date(5, 20, 2023))\nAPI.search()", (0.8889, 1, 0.9412)),
        ("\nAPI.search()", "", (1, 0.75, 0.8571)),
    ],
)
def test_another_trip_is_scored_by_what_is_the_same(old: str, new: str, expected: tuple[float, float, float]) -> None:
    assert shares(scored("booking", TRIP.replace(old, new), TRIP)) == (False, False, *expected)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("origin = Loc('Fort Worth')", "origin = 'Fort Worth'"),
        ("API.select_booking_type('trip tickets')\nAPI.set_num_adults(3)", "API.set_num_adults(3)"),
        (
            "API.select_booking_type('trip tickets')\n",
            "API.set_num_adults(3)\nAPI.select_booking_type('trip tickets')\n",
        ),
        ("'trip tickets'", "'trip'"),
        ("API.set_departure_date(departure_date)\n", ""),
        ("'cruise'", "'boat'"),
        ("departure_date = Date(5, 17, 2023)", "departure_date = '5-17-2023'"),
        ("Date(5, 17, 2023)", "Date(5, 17)"),
        ("Loc('Ontario')", "Loc('Ontario').location"),
    ],
)
def test_a_trip_that_cannot_be_booked_is_a_crash(old: str, new: str) -> None:
    assert scored("booking", TRIP.replace(old, new), TRIP) == CRASHED


def test_what_a_search_fills_in_may_be_said() -> None:
    one_room = HOTEL.replace("API.search()", "API.set_num_rooms(1)\nAPI.search()")
    assert scored("booking", one_room, HOTEL).success
    assert shares(scored("booking", one_room.replace("(1)\n", "(2)\n"), HOTEL)) == (False, False, *[0.8571] * 3)
    dates = "API.set_departure_date(Date(8, 25, 2023))\nAPI.set_return_date(Date(8, 30, 2023))\nAPI.search()"
    assert scored("booking", BOTH.replace("API.search()", dates), BOTH).success


def test_the_best_label_counts() -> None:
    assert scored("booking", HOTEL, TRIP, HOTEL, BOTH).success
    assert scored("home_search", HOME.replace("\nAPI.search()", ""), HOME.replace("Cape", "Key"), HOME).recall == 5 / 6


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({"task": "open_weather", "prediction": "", "labels": ["x"]}, "`task` must be one of home_search, booking,"),
        ({"task": ["booking"], "prediction": "", "labels": ["x"]}, "`task` must be one of"),
        ({"task": "booking", "prediction": 1, "labels": ["x"]}, "`prediction` must be a string or null"),
        ({"task": "booking", "prediction": "", "labels": []}, "`labels` must be a non-empty list of strings"),
        ({"task": "booking", "prediction": "", "labels": [1]}, "`labels` must be a non-empty list of strings"),
        ({"task": "booking", "prediction": ""}, "`labels` must be a non-empty list of strings"),
        (
            {"task": "booking", "prediction": "", "labels": ["API.x()"]},
            "a label cannot be executed: unknown function API.x",
        ),
    ],
)
def test_what_is_no_row_is_told(row: dict[str, Json], why: str) -> None:
    with pytest.raises(BrokenRow) as error:
        score_row(row, KNOWN_ACTIONS)
    assert str(error.value).startswith(why)
