"""The clock of a case: `now:` and what `{now:…}` writes. The same words in every locale."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from types import MappingProxyType

from yaml import Node

from pytest_fcall.cases import fields
from pytest_fcall.cases.faults import Faults, shown

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_DIRECTIVE = re.compile(r"%(.?)", re.DOTALL)
_WRITERS: Mapping[str, Callable[[datetime], str]] = MappingProxyType(
    {
        "A": lambda now: _DAYS[now.weekday()],
        "a": lambda now: _DAYS[now.weekday()][:3],
        "B": lambda now: _MONTHS[now.month - 1],
        "b": lambda now: _MONTHS[now.month - 1][:3],
        "d": lambda now: f"{now.day:02}",
        "H": lambda now: f"{now.hour:02}",
        "I": lambda now: f"{(now.hour - 1) % 12 + 1:02}",
        "j": lambda now: f"{now.timetuple().tm_yday:03}",
        "m": lambda now: f"{now.month:02}",
        "M": lambda now: f"{now.minute:02}",
        "p": lambda now: "AM" if now.hour < 12 else "PM",
        "S": lambda now: f"{now.second:02}",
        "u": lambda now: str(now.isoweekday()),
        "V": lambda now: f"{now.isocalendar().week:02}",
        "y": lambda now: f"{now.year % 100:02}",
        "Y": lambda now: f"{now.year:04}",
        "z": lambda now: now.strftime("%z"),
        "Z": lambda now: str(now.tzname()),
        "%": lambda _: "%",
    }
)


def clock(node: Node, faults: Faults) -> datetime | None:
    """Read `now:`, an ISO 8601 date and time. Without an offset it is UTC."""
    written = fields.word(node, faults, "`now`")
    try:
        now = datetime.fromisoformat(written)
    except ValueError:
        if written:
            faults.add("bad-now", node, f"{shown(written)} is no date and time", "such as 2026-11-21T16:30:00-08:00")
        return None
    return now if now.tzinfo else now.replace(tzinfo=UTC)


def written(now: datetime, form: str) -> str:
    """The clock in a form such as `%A %d %B %Y`. A ValueError names the directive that is not known."""

    def one(found: re.Match[str]) -> str:
        writer = _WRITERS.get(found[1])
        if writer is None:
            raise ValueError(found[0])
        return writer(now)

    return _DIRECTIVE.sub(one, form)


def directives() -> list[str]:
    """What may stand behind a percent sign."""
    return list(_WRITERS)
