"""Secrets and personal data, masked: the same value by the same stand-in wherever it stands."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Final, NamedTuple

from pytest_fcall.core import Json, Message
from pytest_fcall.traces.record import Record
from pytest_fcall.traces.values import items, mapping, read_json


def is_card(digits: str) -> bool:
    """Whether the last digit is the check digit that Luhn's rule gives."""
    return 13 <= len(digits) <= 19 and digits[-1] == card_check_digit(digits[:-1]) and len(set(digits)) > 1


def card_check_digit(body: str) -> str:
    """The check digit behind these digits."""
    doubled = [int(digit) * 2 for digit in body[::-2]]
    rest = [int(digit) for digit in body[-2::-2]]
    total = sum(number - 9 if number > 9 else number for number in doubled) + sum(rest)
    return str(-total % 10)


def is_account(number: str) -> bool:
    """Whether it is an IBAN, without spaces, whose check digits hold."""
    return 15 <= len(number) <= 34 and int(_digits_of(number[4:] + number[:4])) % 97 == 1


def account_check_digits(country: str, body: str) -> str:
    """The two check digits between country and number."""
    return f"{98 - int(_digits_of(f'{body}{country}00')) % 97:02}"


def _digits_of(text: str) -> str:
    return "".join(str(int(character, 36)) for character in text)


_KEYS: Final = re.compile(
    r"""
    -----BEGIN\ [A-Z ]{0,30}PRIVATE\ KEY-----[\s\S]{0,8000}?-----END\ [A-Z ]{0,30}PRIVATE\ KEY-----
  | \beyJ[\w-]{8,}\.[\w-]{4,}\.[\w-]{4,}                                  # JSON Web Tokens
  | \b(?:sk|pk|rk)[-_][\w-]{16,}                                          # OpenAI, Anthropic, Stripe
  | \b(?:ghp|gho|ghu|ghs|ghr|github_pat|glpat|hf|xox[abeoprs]|npm|pypi)[-_][\w-]{10,}
  | \b(?:AKIA|ASIA)[A-Z0-9]{16}\b
  | \bAIza[\w-]{30,}
  | (?<=://)[^\s/:@]{1,100}:[^\s/@]{1,200}(?=@)                           # name and password in an address
    """,
    re.VERBOSE,
)
_NAMED_SECRETS: Final = re.compile(
    r"""(?ix)
    \b (?:
        (?:bearer|basic) [ ]+ (?=[^\s"',;&]{0,200}[0-9]) (?=[^\s"',;&]{12})
      | (?:api[-_ ]?key|access[-_ ]?token|secret|password|passwd|pwd) ["']?
        (?: [ ]?[:=][ ]? | [ ]is[ ] (?=[^\s"',;&]{0,200}[0-9]) )
    ) ["']? ([^\s"',;&]{6,})"""
)
_EMAIL: Final = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,8}[A-Za-z]{2,24}\b")
_ACCOUNT: Final = re.compile(r"\b[A-Z]{2}[0-9]{2}(?:[ ]?[A-Z0-9]{4}){2,7}(?:[ ]?[A-Z0-9]{1,3})?\b")
_CARD: Final = re.compile(r"(?<![\w.-])[0-9](?:[ -]?[0-9]){12,18}(?![\w-])")
_PHONE: Final = re.compile(
    r"""(?x) (?<![\w.+-]) (?:
        (?:\+|00) [1-9] (?:[ ./-]?\(?[0-9]\)?){7,14}
      | \(?[2-9][0-9]{2}\)? [ .-]? [2-9][0-9]{2} [.-] [0-9]{4}
      | \([2-9][0-9]{2}\)[ ]? [0-9]{3} [ ] [0-9]{4}
    ) (?![\w-])"""
)
_DIGITS: Final = re.compile(r"(?<![\w.])[0-9]{7,19}(?![\w.])")


class MaskedKind(NamedTuple):
    """One kind of value that is masked."""

    name: str
    pattern: re.Pattern[str]
    hint: str
    """A text without it has nothing of the kind; empty where there is no such."""
    same: Callable[[str], str]
    """What is the same however it is written."""
    stand_in: Callable[[str, int], str]
    """What stands for the value; the number tells values apart."""
    laid_out: bool = False
    """Whether the spaces and signs of what was written stay."""


class Masker:
    """Masks what it is given, and remembers what stands for what."""

    def __init__(self, patterns: Sequence[re.Pattern[str]] = (), *, usual: bool = True) -> None:
        own = tuple(
            MaskedKind("own patterns", pattern, "", _unchanged, lambda _, number: f"masked-{number}")
            for pattern in patterns
        )
        self._kinds = (*own, *(_USUAL_KINDS if usual else ()))
        self.text = lru_cache(maxsize=1024)(self._text)
        """The text with everything in it masked. Apps say the same things again and again."""
        self._known: dict[tuple[str, str], str] = {}
        self._numbers: Counter[str] = Counter()
        self._digits: dict[str, str] = {}
        """What stands for the digits of cards and telephone numbers, which arguments may hold without signs."""

    @property
    def counts(self) -> Mapping[str, int]:
        """How many different values of each kind were masked."""
        return self._numbers

    def value(self, value: Json) -> Json:
        """The value with everything in it masked; keys of mappings, too."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(key): self.value(inner) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(inner) for inner in value]
        if isinstance(value, int) and not isinstance(value, bool) and 10**6 < abs(value) < 10**19:
            return int(self._digits.get(str(value), value))
        return value

    def _text(self, text: str) -> str:
        for kind in self._kinds:
            if kind.hint in text:
                text = kind.pattern.sub(partial(self._masked, kind=kind), text)
        return _DIGITS.sub(lambda found: self._digits.get(found[0], found[0]), text) if self._digits else text

    def _masked(self, found: re.Match[str], *, kind: MaskedKind) -> str:
        written = found[found.lastindex or 0]
        same = kind.same(written)
        if not same:
            return found[0]
        before = found[0][: found.start(found.lastindex or 0) - found.start()]
        if (kind.name, same) not in self._known:
            self._numbers[kind.name] += 1
            self._known[kind.name, same] = kind.stand_in(same, self._numbers[kind.name])
        stand_in = self._known[kind.name, same]
        if same.isdecimal() and kind.laid_out:
            self._digits[same] = stand_in
        return before + (_with_layout(stand_in, written) if kind.laid_out else stand_in)


def _with_layout(stand_in: str, written: str) -> str:
    """The stand-in with the spaces and signs of what was written."""
    characters = iter(stand_in)
    return "".join(next(characters, "") if character.isalnum() else character for character in written)


def _unchanged(written: str) -> str:
    return written


def _unmasked_key(written: str) -> str:
    return "" if written.startswith("masked-key-") else written


def _card(written: str) -> str:
    digits = re.sub(r"[ -]", "", written)
    return digits if is_card(digits) else ""


def _card_for(digits: str, number: int) -> str:
    body = f"4{number:0{len(digits) - 2}}"
    return body + card_check_digit(body)


def _account(written: str) -> str:
    number = written.replace(" ", "")
    return number if is_account(number) else ""


def _account_for(account: str, number: int) -> str:
    country, body = account[:2], f"{number:0{len(account) - 4}}"
    return country + account_check_digits(country, body) + body


def _phone(written: str) -> str:
    digits = re.sub(r"[^0-9]", "", written)
    return digits if 8 <= len(digits) <= 15 else ""


def _phone_for(digits: str, number: int) -> str:
    """The first digits are kept: the country is, and a pattern may ask for it."""
    kept = 4 if digits.startswith("00") else 2
    return digits[:kept] + f"{number:0{len(digits) - kept}}"


_USUAL_KINDS: Final[Sequence[MaskedKind]] = (
    MaskedKind("keys", _KEYS, "", _unchanged, lambda _, number: f"masked-key-{number}"),
    MaskedKind("keys", _NAMED_SECRETS, "", _unmasked_key, lambda _, number: f"masked-key-{number}"),
    MaskedKind("e-mail addresses", _EMAIL, "@", str.lower, lambda _, number: f"person{number}@example.com"),
    MaskedKind("bank accounts", _ACCOUNT, "", _account, _account_for, laid_out=True),
    MaskedKind("cards", _CARD, "", _card, _card_for, laid_out=True),
    MaskedKind("telephone numbers", _PHONE, "", _phone, _phone_for, laid_out=True),
)


def masked_record(record: Record, masker: Masker) -> Record:
    """The record with everything masked that was said, called, given back and expected."""
    trail = tuple(_masked_message(message, masker) for message in record.trail)
    checks = None if record.checks is None else mapping(masker.value(record.checks))
    return replace(record, trail=trail, checks=checks)


def _masked_message(message: Message, masker: Masker) -> Message:
    told = dict(message)
    if message["role"] == "tool":
        told["content"] = _masked_text(str(message["content"]), masker)
    elif "content" in message:
        told["content"] = masker.value(message["content"])
    if "tool_calls" in message:
        told["tool_calls"] = [_masked_call(call, masker) for call in items(message["tool_calls"])]
    return told


def _masked_call(call: Json, masker: Masker) -> Json:
    function = mapping(mapping(call).get("function"))
    arguments = function.get("arguments")
    said = _masked_text(arguments, masker) if isinstance(arguments, str) else masker.value(arguments)
    return {**mapping(call), "function": {**function, "arguments": said}}


def _masked_text(text: str, masker: Masker) -> str:
    """A text that may be JSON: masked by its values, since an escape hides where one begins."""
    try:
        value = read_json(text)
    except ValueError:
        return masker.text(text)
    changed = masker.value(value)
    return text if changed == value else json.dumps(changed, ensure_ascii=False)
