"""Placeholders in braces: `{now:…}`, the clock of a case, and the columns of a matrix."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from types import MappingProxyType

from yaml import MappingNode, Node, ScalarNode, SequenceNode

from pytest_fcall.cases import node_values
from pytest_fcall.cases.faults import Faults, did_you_mean, shown
from pytest_fcall.cases.yaml.tags import NULL, STR

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


def read_clock(node: Node, faults: Faults) -> datetime | None:
    """Read `now:`, an ISO 8601 date and time. Without an offset it is UTC."""
    written = node_values.word(node, faults, "`now`")
    try:
        now = datetime.fromisoformat(written)
    except ValueError:
        if written:
            faults.add("bad-now", node, f"{shown(written)} is no date and time", "such as 2026-11-21T16:30:00-08:00")
        return None
    return now if now.tzinfo else now.replace(tzinfo=UTC)


def format_clock(now: datetime, form: str) -> str:
    """The clock in a form such as `%A %d %B %Y`. A ValueError names the directive that is not known."""

    def one(found: re.Match[str]) -> str:
        writer = _WRITERS.get(found[1])
        if writer is None:
            raise ValueError(found[0])
        return writer(now)

    return _DIRECTIVE.sub(one, form)


def clock_directives() -> list[str]:
    """What may stand behind a percent sign."""
    return list(_WRITERS)


_BRACES = re.compile(r"\{(?:(?P<name>[^\W\d]\w*)|now:(?P<form>[^{}]*))\}")


class Placeholders:
    """Puts the clock and a row of a matrix into nodes and texts."""

    def __init__(self, now: datetime, row: Mapping[str, Node]) -> None:
        self.now = now
        self.row = row

    def node(self, node: Node, faults: Faults) -> Node:
        """The node with its braces filled; the same one where it has none.

        A text that is nothing but `{name}` becomes the row's value, whatever its type.
        """
        if isinstance(node, ScalarNode):
            return self._scalar(node, faults) if node.tag == STR and "{" in node.value else node
        if isinstance(node, SequenceNode):
            filled = [self.node(item, faults) for item in node.value]
            same = all(new is old for new, old in zip(filled, node.value, strict=True))
            return node if same else SequenceNode(node.tag, filled, node.start_mark, node.end_mark, node.flow_style)
        if not isinstance(node, MappingNode):
            return node
        if (meant := self._bare(node, faults)) is not None:
            return meant
        pairs = [(self.node(key, faults), self.node(value, faults)) for key, value in node.value]
        if all(key is was[0] and value is was[1] for (key, value), was in zip(pairs, node.value, strict=True)):
            return node
        return MappingNode(node.tag, pairs, node.start_mark, node.end_mark)

    def text(self, text: str, place: Node, faults: Faults) -> str:
        """The text with its braces filled; faults belong to `place`."""
        return _BRACES.sub(lambda found: self._written(found, place, faults), text) if "{" in text else text

    def _scalar(self, node: ScalarNode, faults: Faults) -> Node:
        whole = _BRACES.fullmatch(node.value)
        value = self.row.get(whole["name"] or "") if whole else None
        if isinstance(value, ScalarNode):
            return ScalarNode(value.tag, value.value, node.start_mark, node.end_mark, node.style)
        if value is not None:
            return value
        text = self.text(node.value, node, faults)
        if text == node.value:
            return node
        return ScalarNode(node.tag, text, node.start_mark, node.end_mark, node.style)

    def _written(self, found: re.Match[str], place: Node, faults: Faults) -> str:
        name = found["name"]
        if name is None or name == "now":
            return self._time(found, place, faults)
        value = self.row.get(name)
        if value is None:
            if self.row and (hint := did_you_mean(name, self.row)):
                faults.add("unknown-name", place, f"the matrix has no name {shown(name)}", hint)
            return found[0]
        if not isinstance(value, ScalarNode):
            hint = f'alone, as "{{{name}}}", it may be any value'
            faults.add("wrong-type", place, f"{shown(name)} is no text that could stand inside a text", hint)
            return found[0]
        return str(value.value)

    def _time(self, found: re.Match[str], place: Node, faults: Faults) -> str:
        if found["form"] is None:
            return self.now.isoformat()
        try:
            return format_clock(self.now, found["form"])
        except ValueError as error:
            hint = "known are " + " ".join(f"%{letter}" for letter in clock_directives())
            faults.add("bad-now", place, f"{shown(str(error))} is no part of a date", hint)
            return found[0]

    def _bare(self, node: MappingNode, faults: Faults) -> Node | None:
        """What was meant where somebody wrote `{name}` without quotes, which YAML reads as a mapping."""
        if len(node.value) != 1 or not node.flow_style:
            return None
        key, value = node.value[0]
        if not isinstance(key, ScalarNode) or key.value not in self.row or value.tag != NULL or value.value:
            return None
        hint = f'put it in quotes: "{{{key.value}}}"'
        faults.add("wrong-type", node, f"{shown(key.value)} in braces is a mapping here", hint)
        return self.row[key.value]
