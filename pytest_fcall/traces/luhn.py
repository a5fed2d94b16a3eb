"""Check digits of cards and bank accounts: what is masked still looks right."""

from __future__ import annotations


def is_card(digits: str) -> bool:
    """Whether the last digit is the check digit that Luhn's rule gives."""
    return 13 <= len(digits) <= 19 and digits[-1] == card_check(digits[:-1]) and len(set(digits)) > 1


def card_check(body: str) -> str:
    """The check digit behind these digits."""
    doubled = [int(digit) * 2 for digit in body[::-2]]
    rest = [int(digit) for digit in body[-2::-2]]
    total = sum(number - 9 if number > 9 else number for number in doubled) + sum(rest)
    return str(-total % 10)


def is_account(number: str) -> bool:
    """Whether it is an IBAN, without spaces, whose check digits hold."""
    return 15 <= len(number) <= 34 and int(_as_digits(number[4:] + number[:4])) % 97 == 1


def account_check(country: str, body: str) -> str:
    """The two check digits between country and number."""
    return f"{98 - int(_as_digits(f'{body}{country}00')) % 97:02}"


def _as_digits(text: str) -> str:
    return "".join(str(int(character, 36)) for character in text)
