"""Masking of secrets and personal data. Each value has one stand-in, wherever it occurs."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Final, NamedTuple

from pytest_fcall.core.key_formats import with_keys_replaced
from pytest_fcall.core.secrets import looks_secret
from pytest_fcall.core.values import Json, Message
from pytest_fcall.traces.record import Record, UnusableRecord
from pytest_fcall.traces.values import items, mapping, read_json


def is_card(digits: str) -> bool:
    """Whether it is a card number: the last digit is the check digit of Luhn's rule."""
    return 13 <= len(digits) <= 19 and digits[-1] == card_check_digit(digits[:-1]) and len(set(digits)) > 1


def card_check_digit(body: str) -> str:
    """The check digit that follows these digits."""
    doubled = [int(digit) * 2 for digit in body[::-2]]
    rest = [int(digit) for digit in body[-2::-2]]
    total = sum(number - 9 if number > 9 else number for number in doubled) + sum(rest)
    return str(-total % 10)


def is_account(number: str) -> bool:
    """Whether it is an IBAN without spaces, with the right check digits."""
    return 15 <= len(number) <= 34 and int(_digits_of(number[4:] + number[:4])) % 97 == 1


def account_check_digits(country: str, body: str) -> str:
    """The two check digits between the country and the number of an IBAN."""
    return f"{98 - int(_digits_of(f'{body}{country}00')) % 97:02}"


def _digits_of(text: str) -> str:
    return "".join(str(int(character, 36)) for character in text)


_ADDRESS: Final = re.compile(r"(?<=://)[^\s/:@]{1,100}:[^\s/@]{1,200}(?=@)")
"""Name and password in an address."""
_TELLING_NAME: Final = (
    r"(?:api[-_ ]?key|(?:access|auth|bearer|refresh|session|id)[-_ ]?token|secret"
    r"|(?:access|account|secret|private|signing|encryption|subscription|master)[-_ ]?key(?:[-_ ]?id)?"
    r"|password|passwd|passphrase|pwd|connection[-_ ]?string)"
)
"""The end of a name by which a key goes that has no format of its own."""
_NAMED_SECRETS: Final = re.compile(
    rf"""(?ix)
    (?<![a-z0-9]) (?:
        (?:bearer|basic) [ ]+ (?=[^\s"',;&]{{0,200}}[0-9]) (?=[^\s"',;&]{{12}})
      | {_TELLING_NAME} ["']? (?: [ ]?[:=][ ]? | [ ]is[ ] (?=[^\s"',;&]{{0,200}}[0-9]) )
    ) ["']? ([^\s"',;&]{{6,}})"""
)
_SECRET_FIELD: Final = re.compile(rf"(?i)(?:.*[^a-z0-9])?{_TELLING_NAME}")
_WORD_BOUNDARY: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
"""The boundary between words in a name such as `authToken`."""
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
    substitute: Callable[[Callable[[re.Match[str]], str], str], str]
    """Replaces what may be such a value in a text, as `re.Pattern.sub` does."""
    hint: str
    """A string that is in every text with such a value, for a quick check; empty without one."""
    normalise: Callable[[str], str]
    """The value without differences of spelling; empty where the match is no such value."""
    stand_in: Callable[[str, int], str]
    """The stand-in of a value. The number makes it unique."""
    keeps_layout: bool = False
    """Whether the stand-in gets the spaces and signs of the original."""


class Masker:
    """Masks texts and values, and remembers their stand-ins."""

    def __init__(
        self, patterns: Sequence[re.Pattern[str]] = (), *, usual: bool = True, known: Iterable[str] = ()
    ) -> None:
        """Mask what the patterns match, the `usual` kinds, and secrets that are `known` on this machine."""
        longest_first = sorted(known, key=len, reverse=True)
        held = re.compile("|".join(map(re.escape, longest_first)))
        own = tuple(
            MaskedKind("own patterns", pattern.sub, "", _unchanged, lambda _, number: f"masked-{number}")
            for pattern in patterns
        )
        self._masks_usual = usual
        keys = [MaskedKind("keys", held.sub, "", _unchanged, _key_for)] if longest_first else []
        self._kinds = (*own, *keys, *(_USUAL_KINDS if usual else ()))
        self.mask_text = lru_cache(maxsize=1024)(self._mask_text)
        """Mask everything in a text. Cached: system messages repeat in every request of an app."""
        self._known: dict[tuple[str, str], str] = {}
        self._counts: Counter[str] = Counter()
        self._digits: dict[str, str] = {}
        """The stand-ins of digits of cards and telephone numbers, which arguments may hold without signs."""

    @property
    def counts(self) -> Mapping[str, int]:
        """The number of different values of each kind that were masked."""
        return self._counts

    def mask_value(self, value: Json) -> Json:
        """Mask everything in a value, keys of mappings included."""
        if isinstance(value, str):
            return self.mask_text(value)
        if isinstance(value, Mapping):
            return {self.mask_text(key): self._mask_field(key, inner) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self.mask_value(inner) for inner in value]
        if isinstance(value, int) and not isinstance(value, bool) and 10**6 < abs(value) < 10**19:
            return int(self._digits.get(str(value), value))
        return value

    def _mask_field(self, name: str, value: Json) -> Json:
        """Mask the value of a field, all of it where the field's name says that it is a secret."""
        masked = self.mask_value(value)
        if not self._masks_usual or masked != value or not isinstance(value, str) or not looks_secret(value):
            return masked
        is_telling = _SECRET_FIELD.fullmatch(_WORD_BOUNDARY.sub("_", name)) and _unmasked_key(value)
        return self._stand_in(_NAMED_KEY, value) if is_telling else value

    def _mask_text(self, text: str) -> str:
        for kind in self._kinds:
            if kind.hint in text:
                text = kind.substitute(partial(self._masked_match, kind=kind), text)
        return _DIGITS.sub(lambda match: self._digits.get(match[0], match[0]), text) if self._digits else text

    def _masked_match(self, match: re.Match[str], *, kind: MaskedKind) -> str:
        group = match.lastindex or 0
        value = kind.normalise(match[group])
        if not value:
            return match[0]
        stand_in = self._stand_in(kind, value)
        before = match[0][: match.start(group) - match.start()]
        if not kind.keeps_layout:
            return before + stand_in
        if value.isdecimal():
            self._digits[value] = stand_in
        return before + _with_layout(stand_in, match[group])

    def _stand_in(self, kind: MaskedKind, value: str) -> str:
        if (kind.name, value) not in self._known:
            self._counts[kind.name] += 1
            self._known[kind.name, value] = kind.stand_in(value, self._counts[kind.name])
        return self._known[kind.name, value]


def _with_layout(stand_in: str, written: str) -> str:
    """The stand-in with the spaces and signs of the original."""
    characters = iter(stand_in)
    return "".join(next(characters, "") if character.isalnum() else character for character in written)


def _unchanged(written: str) -> str:
    return written


def _unmasked_key(written: str) -> str:
    return "" if written.startswith("masked-key-") else written


def _key_for(_: str, number: int) -> str:
    return f"masked-key-{number}"


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
    """The stand-in keeps the first digits, because a pattern may require the country code."""
    kept = 4 if digits.startswith("00") else 2
    return digits[:kept] + f"{number:0{len(digits) - kept}}"


_NAMED_KEY: Final = MaskedKind("keys", _NAMED_SECRETS.sub, "", _unmasked_key, _key_for)
_USUAL_KINDS: Final[Sequence[MaskedKind]] = (
    MaskedKind("keys", with_keys_replaced, "", _unmasked_key, _key_for),
    MaskedKind("keys", _ADDRESS.sub, "://", _unchanged, _key_for),
    _NAMED_KEY,
    MaskedKind("e-mail addresses", _EMAIL.sub, "@", str.lower, lambda _, number: f"person{number}@example.com"),
    MaskedKind("bank accounts", _ACCOUNT.sub, "", _account, _account_for, keeps_layout=True),
    MaskedKind("cards", _CARD.sub, "", _card, _card_for, keeps_layout=True),
    MaskedKind("telephone numbers", _PHONE.sub, "", _phone, _phone_for, keeps_layout=True),
)


def masked_record(record: Record, masker: Masker) -> Record:
    """The record with its messages, calls, results and expectation masked."""
    messages = tuple(_masked_message(message, masker) for message in record.messages)
    expectation = None if record.expectation is None else mapping(masker.mask_value(record.expectation))
    turns = tuple(mapping(masker.mask_value(each)) for each in record.turn_expectations)
    return replace(record, messages=messages, expectation=expectation, turn_expectations=turns)


def _masked_message(message: Message, masker: Masker) -> Message:
    masked = dict(message)
    if message["role"] == "tool":
        masked["content"] = _masked_json(str(message["content"]), masker)
    elif "content" in message:
        masked["content"] = masker.mask_value(message["content"])
    if "tool_calls" in message:
        masked["tool_calls"] = [_masked_call(call, masker) for call in items(message["tool_calls"])]
    return masked


def _masked_call(call: Json, masker: Masker) -> Json:
    function = mapping(mapping(call).get("function"))
    arguments = function.get("arguments")
    masked = _masked_json(arguments, masker) if isinstance(arguments, str) else masker.mask_value(arguments)
    return {**mapping(call), "function": {**function, "arguments": masked}}


def _masked_json(text: str, masker: Masker) -> str:
    """A text that may be JSON. Its values are masked one by one, because escapes hide where a value begins."""
    try:
        value = read_json(text)
    except ValueError:
        return masker.mask_text(text)
    try:
        masked = masker.mask_value(value)
        return text if masked == value else json.dumps(masked, ensure_ascii=False)
    except RecursionError:
        raise UnusableRecord("a value is nested too deeply") from None
