"""Placeholders in braces: `{now}` and `{now:…}`, the clock of a case, and `{name}`, a value of its matrix row."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from types import MappingProxyType

from yaml import MappingNode, Node, ScalarNode, SequenceNode

from pytest_fcall.cases import node_values
from pytest_fcall.cases.faults import Faults, quote
from pytest_fcall.cases.yaml.values import NULL, STR
from pytest_fcall.core.message_text import did_you_mean

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
    text = node_values.word(node, faults, "`now`")
    try:
        now = datetime.fromisoformat(text)
    except ValueError:
        if text:
            faults.add("bad-now", node, f"{quote(text)} is not a date and time", "such as 2026-11-21T16:30:00-08:00")
        return None
    return now if now.tzinfo else now.replace(tzinfo=UTC)


def format_clock(now: datetime, form: str) -> str:
    """The clock in a form such as `%A %d %B %Y`. Raises ValueError with the directive if one is unknown."""

    def replacement(found: re.Match[str]) -> str:
        writer = _WRITERS.get(found[1])
        if writer is None:
            raise ValueError(found[0])
        return writer(now)

    return _DIRECTIVE.sub(replacement, form)


_BRACES = re.compile(r"\{(?:(?P<name>[^\W\d]\w*)|now:(?P<form>[^{}]*))\}")


class Placeholders:
    """Replaces the placeholders in nodes and strings by the clock and the values of a matrix row."""

    def __init__(self, now: datetime, values: Mapping[str, Node]) -> None:
        self.now = now
        self.values = values

    def fill_node(self, node: Node, faults: Faults) -> Node:
        """The node with its placeholders replaced; the same object if it has none.

        A string that is only `{name}` becomes the value of the row, of any type.
        """
        if isinstance(node, ScalarNode):
            return self._scalar(node, faults) if node.tag == STR and "{" in node.value else node
        if isinstance(node, SequenceNode):
            filled = [self.fill_node(item, faults) for item in node.value]
            same = all(new is old for new, old in zip(filled, node.value, strict=True))
            return node if same else SequenceNode(node.tag, filled, node.start_mark, node.end_mark, node.flow_style)
        if not isinstance(node, MappingNode):
            return node
        if (meant := self._unquoted(node, faults)) is not None:
            return meant
        pairs = [(self.fill_node(key, faults), self.fill_node(value, faults)) for key, value in node.value]
        if all(key is was[0] and value is was[1] for (key, value), was in zip(pairs, node.value, strict=True)):
            return node
        return MappingNode(node.tag, pairs, node.start_mark, node.end_mark)

    def fill_text(self, text: str, place: Node, faults: Faults) -> str:
        """The text with its placeholders replaced; `place` is the node of the faults."""
        return _BRACES.sub(lambda found: self._replacement(found, place, faults), text) if "{" in text else text

    def _scalar(self, node: ScalarNode, faults: Faults) -> Node:
        whole = _BRACES.fullmatch(node.value)
        value = self.values.get(whole["name"] or "") if whole else None
        if isinstance(value, ScalarNode):
            return ScalarNode(value.tag, value.value, node.start_mark, node.end_mark, node.style)
        if value is not None:
            return value
        text = self.fill_text(node.value, node, faults)
        if text == node.value:
            return node
        return ScalarNode(node.tag, text, node.start_mark, node.end_mark, node.style)

    def _replacement(self, found: re.Match[str], place: Node, faults: Faults) -> str:
        name = found["name"]
        if name is None or name == "now":
            return self._time(found, place, faults)
        value = self.values.get(name)
        if value is None:
            if self.values:
                hint = (
                    did_you_mean(name, self.values)
                    or f'for the braces themselves, give each row `{name}: "{{{name}}}"`'
                )
                faults.add("unknown-name", place, f"the matrix has no column {quote(name)}", hint)
            return found[0]
        if not isinstance(value, ScalarNode):
            hint = f'"{{{name}}}" alone may be any value'
            faults.add("wrong-type", place, f"the value of {quote(name)} cannot be put into a string", hint)
            return found[0]
        return str(value.value)

    def _time(self, found: re.Match[str], place: Node, faults: Faults) -> str:
        if found["form"] is None:
            return self.now.isoformat()
        try:
            return format_clock(self.now, found["form"])
        except ValueError as error:
            hint = "available: " + " ".join(f"%{letter}" for letter in _WRITERS)
            faults.add("bad-now", place, f"unknown part of a date {quote(str(error))}", hint)
            return found[0]

    def _unquoted(self, node: MappingNode, faults: Faults) -> Node | None:
        """The value of a placeholder without quotes: `{name}` alone is a mapping in YAML, which is a fault."""
        if len(node.value) != 1 or not node.flow_style:
            return None
        key, value = node.value[0]
        if not isinstance(key, ScalarNode) or key.value not in self.values or value.tag != NULL or value.value:
            return None
        hint = f'put it in quotes: "{{{key.value}}}"'
        faults.add("wrong-type", node, f"{quote(key.value)} in braces without quotes is a mapping", hint)
        return self.values[key.value]
