from __future__ import annotations

from calendar import day_name, month_name
from datetime import date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.matching.operators.dates import read_day, read_moment

DAY = date(2026, 11, 22)  # a Sunday


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-22",
        "20261122",
        "22 November 2026",
        "22 nov 2026",
        "22. November 2026",
        "22nd of November, 2026",
        "November 22, 2026",
        "Nov. 22 2026",
        "Sun, Nov 22nd, 2026",
        "Sunday 22 November 2026",
        " 2026-11-22 ",
        "2026/11/22",
        "2026.11.22",
        "22-Nov-2026",
        "2026-W47-7",
    ],
)
def test_a_day_is_read(text: str) -> None:
    assert read_day(text) == DAY


@pytest.mark.parametrize(
    "text",
    [
        "",
        "22/11/2026",
        "11/22/2026",
        "2026/22/11",
        "2026/11-22",
        "2026/13/01",
        "26/11/22",
        "22.11.2026",
        "22-11-2026",
        "22-Foo-2026",
        "22-November-26",
        "11-22-2026",
        "22 November 26",
        "22 Foo 2026",
        "31 November 2026",
        "Sunday, 31 November 2026",
        "November 2026",
        "Monday, 22 November 2026",
        "22 November",
        "tomorrow",
        "２０２６-11-22",
        "2026-11-22T00:00",
        "2026-13-01",
        "x" * 100,
        "22 November 2026 or so",
    ],
)
def test_what_is_no_day_or_may_be_two_is_not_read(text: str) -> None:
    assert read_day(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-22T15:30",
        "2026-11-22 15:30:00",
        "20261122T1530",
        "22 November 2026 15:30",
        "Nov 22, 2026, 3:30 pm",
        "Sunday, 22 November 2026 at 3:30 p.m.",
        "November 22, 2026 03:30PM",
    ],
)
def test_a_moment_is_read(text: str) -> None:
    assert read_moment(text) == datetime(2026, 11, 22, 15, 30)


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-22",
        "22 November 2026",
        "22 November 2026 3:30",
        "22 November 2026 13:30 pm",
        "22 November 2026 25:00",
        "22/11/2026 15:30",
        "15:30",
        "22 November 2026 at noon",
        "2026-11-22・15:30",
        "",
    ],
)
def test_what_is_no_moment_or_may_be_two_is_not_read(text: str) -> None:
    assert read_moment(text) is None


@pytest.mark.parametrize(
    ("clock", "hour", "minute", "second"),
    [
        ("3:30 am", 3, 30, 0),
        ("12:05 am", 0, 5, 0),
        ("12 pm", 12, 0, 0),
        ("1:02:03 p.m.", 13, 2, 3),
        ("15:30:20", 15, 30, 20),
    ],
)
def test_a_time_of_day_is_read_with_its_half_and_its_seconds(clock: str, hour: int, minute: int, second: int) -> None:
    assert read_moment(f"22 November 2026 {clock}") == datetime(2026, 11, 22, hour, minute, second)


@pytest.mark.parametrize("month", range(1, 13))
def test_every_month_is_read_by_its_name_and_by_three_letters(month: int) -> None:
    name = month_name[month]
    assert read_day(f"1 {name} 2026") == read_day(f"1 {name[:3]} 2026") == date(2026, month, 1)


@pytest.mark.parametrize("day", range(16, 23))
def test_every_weekday_is_read_by_its_name_and_by_three_letters(day: int) -> None:
    name = day_name[date(2026, 11, day).weekday()]
    assert read_day(f"{name}, {day} November 2026") == read_day(f"{name[:3]} {day} November 2026")
    assert read_day(f"{name}, {day} November 2026") == date(2026, 11, day)


def test_a_text_of_more_than_eighty_signs_is_no_day() -> None:
    assert read_day(f"{'2026-11-22':>80}") == DAY
    assert read_day(f"{'2026-11-22':>81}") is None


@pytest.mark.parametrize("text", ["2026-4-3", "2026/4/3", "3-Apr-2026", "April 3rd, 2026", "3 April 2026", "20260403"])
def test_months_and_days_of_one_digit_are_read_where_only_one_reading_is_possible(text: str) -> None:
    assert read_day(text) == date(2026, 4, 3)


def test_a_time_zone_is_kept() -> None:
    moment = read_moment("2026-11-22T15:30z")
    assert moment is not None
    assert str(moment.tzinfo) == "UTC"


@given(st.text() | st.text("0123456789-:/. apmTZ+nov", max_size=30))
def test_any_text_is_read_or_not(text: str) -> None:
    assert not (read_day(text) and read_moment(text))


@given(st.dates())
def test_every_day_is_read_from_its_own_spellings(day: date) -> None:
    month = month_name[day.month]
    for text in (day.isoformat(), f"{day.day} {month} {day.year:04}", f"{month[:3]} {day.day}, {day.year:04}"):
        assert read_day(text) == day
