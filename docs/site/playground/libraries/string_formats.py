"""The formats of strings that are checked in the browser, by the rules that jsonschema-rs has for them."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Mapping
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from types import MappingProxyType

_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)", re.ASCII)
_TIME = re.compile(r"(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[zZ]|([+-])(\d\d):(\d\d))", re.ASCII)
_DURATION = re.compile(
    r"P(?!$)(?:\d+W|(?:\d+Y(?:\d+M(?:\d+D)?)?|\d+M(?:\d+D)?|\d+D)?"
    r"(?:T(?=\d)(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S))?)",
    re.ASCII,
)
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_POINTER = re.compile(r"(?:/(?:[^~/]|~[01])*)*", re.DOTALL)
_RELATIVE_POINTER = re.compile(r"(?:0|[1-9][0-9]*)(?:#|(?:/(?:[^~/]|~[01])*)*)", re.DOTALL)
_LABEL = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?")
_LOCAL_PART = re.compile(
    r'"(?:[ !#-\[\]-~]|\\[ -~])*"|'
    r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*"
)


def _is_date(text: str) -> bool:
    found = _DATE.fullmatch(text)
    if found is None:
        return False
    year, month, day = map(int, found.groups())
    # The calendar begins with the year 1; any year that is leap as often does as well.
    return 1 <= month <= 12 and 1 <= day <= monthrange(year or 2000, month)[1]


def _is_time(text: str) -> bool:
    found = _TIME.fullmatch(text)
    if found is None:
        return False
    hour, minute, second = (int(part) for part in found.groups()[:3])
    sign, hours, minutes = found[4], int(found[5] or 0), int(found[6] or 0)
    if hour > 23 or minute > 59 or second > 60 or hours > 23 or minutes > 59:
        return False
    # A leap second is the last one of a day in UTC.
    shift = (hours * 60 + minutes) * (-1 if sign == "+" else 1)
    return second < 60 or (hour * 60 + minute + shift) % 1440 == 1439


def _is_date_time(text: str) -> bool:
    return text[10:11] in ("T", "t") and _is_date(text[:10]) and _is_time(text[11:])


def _is_address(kind: type[IPv4Address | IPv6Address]) -> Callable[[str], bool]:
    def is_address(text: str) -> bool:
        try:
            kind(text)
        except AddressValueError:
            return False
        return "%" not in text

    return is_address


def _is_hostname(text: str) -> bool:
    labels = text.split(".")
    return len(text) <= 253 and all(_LABEL.fullmatch(label) and label[2:4] != "--" for label in labels)


def _is_email(text: str) -> bool:
    local, at, domain = text.rpartition("@")
    if domain.startswith("[") and domain.endswith("]"):
        inside = domain[1:-1]
        six = inside.startswith("IPv6:")
        is_domain = _is_address(IPv6Address)(inside[5:]) if six else _is_address(IPv4Address)(inside)
    else:
        is_domain = _is_hostname(domain)
    return bool(at and len(local) <= 64 and _LOCAL_PART.fullmatch(local) and is_domain)


FORMATS: Mapping[str, Callable[[str], bool]] = MappingProxyType(
    {
        "date": _is_date,
        "date-time": _is_date_time,
        "duration": lambda text: _DURATION.fullmatch(text) is not None,
        "email": _is_email,
        "hostname": _is_hostname,
        "ipv4": _is_address(IPv4Address),
        "ipv6": _is_address(IPv6Address),
        "json-pointer": lambda text: _POINTER.fullmatch(text) is not None,
        "relative-json-pointer": lambda text: _RELATIVE_POINTER.fullmatch(text) is not None,
        "time": _is_time,
        "uuid": lambda text: _UUID.fullmatch(text) is not None,
    }
)
"""Whether a string is of a format, by its name."""
