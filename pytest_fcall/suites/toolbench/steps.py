"""Steps in a virtual home, scored by their order and by whether they can be carried out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_fcall.suites.toolbench.actions import Actions

_NUMBER = re.compile(r"\d+\. *")
_DROPPED = str.maketrans("", "", "\"';")


def lines_of(text: str) -> list[str]:
    """Give the steps up to the next task, without their numbers, quotes and semicolons; some may be empty."""
    return list(_lines(text))


def step_of(line: str) -> tuple[str, tuple[str, ...]] | None:
    """Take `Agent.Put(novel, table)` apart into the action and its things; None where there are no brackets."""
    name, opened, rest = line.partition("(")
    inside, closed, _ = rest.partition(")")
    if not (opened and closed):
        return None
    things = tuple(each.strip() for each in inside.split(","))
    return name, () if things == ("",) else things


def is_executable(line: str, actions: Actions) -> bool:
    """Whether a step can be carried out."""
    step = step_of(line)
    return step is not None and actions.allow(*step)


def _lines(text: str) -> Iterator[str]:
    for line in map(str.strip, text.split("\n")):
        if line.startswith("Task:"):
            return
        if line:
            yield _bare(line)


def _bare(line: str) -> str:
    plain = line.translate(_DROPPED)
    number = _NUMBER.match(plain)
    return plain[number.end() :].strip() if number else plain.strip()
