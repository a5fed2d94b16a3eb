from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.core.operators import Operator, Pattern
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.operators.numeric import exact_decimal
from pytest_fcall.matching.operators.texts import numbers_in_text
from pytest_fcall.matching.values import judge_value
from tests.by_night import by_night

SAID: dict[str, list[str]] = {
    "42": ["42"],
    "The total is 42.10.": ["42.10"],
    "1,234.5 and 1,234,567": ["1234.5", "1234567"],
    "1.234,56 or 1.234.567": ["1234.56", "1234567"],
    "42,10 €": ["42.10"],
    "1.234": ["1.234"],
    "1,234": ["1234"],
    "0,123": ["0.123"],
    "1'234.50 CHF": ["1234.50"],
    "1’234": ["1234"],
    "1\u202f234\u00a0567,5": ["1234567.5"],
    "rooms 12 345": ["12", "345"],
    "₹1,00,000": ["100000"],
    "$42.10, €5, £ 6, US$7, 8 USD": ["42.10", "5", "6", "7", "8"],
    "-5, −6, -$7, $-8, minus nine": ["-5", "-6", "-7", "-8", "-9"],
    "3-5 people, $5-$10": ["3", "5", "5", "10"],
    "- 5 apples\n- 6 pears": ["5", "6"],
    "42.1% or 7 percent, 8 per cent": ["42.1", "0.421", "7", "0.07", "8", "0.08"],
    "two million, 1.5 billion, three thousand": ["2000000", "1500000000", "3000"],
    "twenty-one guests, Two Hundred": ["21", "200"],
    "5km, 20°C, 16GB": ["5", "20", "16"],
    "1.5e3 and 2E-2": ["1500", "0.02"],
    "costs .5": ["0.5"],
    "[1,2,3]": ["1", "2", "3"],
    "flight F7, room_8, v1.2.3, x.5": [],
    "2026-11-21T16:30:00-08:00": [],
    "on 21/11/2026 at 18:30": [],
    "21.11.2026": [],
    "192.168.0.1": [],
    "call 555-123-4567": [],
    "2½ or ½": [],
    "10² m²": ["10"],
    "５ or ٤٢": ["5", "42"],
    "no numbers": [],
    "": [],
    "1.5e99999": ["1.5"],
    "9" * 100: ["9" * 100],
    f"-{'9' * 99}1%": [f"-{'9' * 99}1", f"-{'9' * 98}.91"],
    f"{'1234567890' * 4} million": [f"{'1234567890' * 4}000000"],
    "9" * 200: [],
    "\ud800 7 \x00": ["7"],
}


@pytest.mark.parametrize(("text", "numbers"), SAID.items(), ids=ascii)
def test_the_numbers_of_a_text_are_those_that_a_reader_finds(text: str, numbers: list[str]) -> None:
    assert [*numbers_in_text(text)] == [Decimal(number) for number in numbers]


@given(st.integers(-(10**12), 10**12), st.sampled_from(["{}", "{:,}", "It is {:,}.", "({})", "{:,} euros", "${:,}!"]))
def test_every_whole_number_is_found_however_it_is_grouped(number: int, form: str) -> None:
    assert number in [*numbers_in_text(form.format(number))]


@given(st.decimals(-(10**6), 10**6, places=3), st.sampled_from(["{}", "{:,}", "about {} km", "= {:,}%"]))
def test_every_decimal_number_is_found(number: Decimal, form: str) -> None:
    assert number in [*numbers_in_text(form.format(number))]


@given(st.text(st.sampled_from("0123456789.,-'%$e/: x\u2044^\u00a0")))
def test_any_text_has_numbers_or_none(text: str) -> None:
    assert all(number.is_finite() for number in numbers_in_text(text))


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "piece", ["1", "1-", "1,", "1.", "1/", "1:", "-", "$", "minus ", "one ", "1\u2044", "a1,", "1'", "^1"]
)
@pytest.mark.parametrize("length", [60_000, by_night(300_000)])
def test_a_long_text_takes_no_longer_for_what_it_is_made_of(piece: str, length: int) -> None:
    for _ in numbers_in_text(piece * (length // len(piece))):
        pass


def test_integers_beyond_4096_bits_are_not_compared_exactly() -> None:
    assert exact_decimal(2**4096 - 1) == 2**4096 - 1
    assert exact_decimal(2**4096) is None


def judged(expected: float, text: str, **options: Pattern) -> list[str]:
    """The reasons why the text does not contain the number."""
    operator = Operator("number", expected, options)
    return [reason.message for reason in judge_value(operator, text, "wrong_value", ("x",), MatchContext(()))]


@pytest.mark.parametrize("digits", [28, 29, 34, 100])
def test_a_long_number_is_the_very_number_and_no_other(digits: int) -> None:
    number = int("1234567890" * 10) // 10 ** (100 - digits)
    assert judged(number, f"The id is {number}.") == []
    assert judged(-number, f"The id is -{number}.") == []
    assert judged(number, f"The id is {number + 1}.") != []
    assert judged(number, f"The id is {number + 1}.", within=1) == []
    assert judged(number, f"The id is {number + 2}.", within=1) != []


def test_the_tolerance_of_a_long_number_may_be_as_large_as_it_is() -> None:
    assert judged(10**30, "1e999", within="1e900000%") == []
    assert judged(1, "1e-999", within=1) == []


def test_a_few_letters_of_an_answer_do_not_fill_the_page() -> None:
    (message,) = judged(1, "1e999 -1e998 1e-999 12345678901234567890123456789012345 " + "9" * 100)
    numbers = "1e+999, -1e+998, 1e-999, 12345678901234567890123456789012345, 1.000e+100"
    assert message.endswith(f"; it contains the numbers {numbers}")
