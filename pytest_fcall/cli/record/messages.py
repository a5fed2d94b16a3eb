"""Lines that `fcall record` prints about requests and replies."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from pytest_fcall.reporting.number_text import plural_text
from pytest_fcall.reporting.safe_text import safe_line

OPEN: Final = 10
"""The exit status where requests are open still."""
_SHOWN: Final = 5
"""Lines of one kind that are printed; the others are counted."""


def reply_count(number: int) -> str:
    """A number of replies."""
    return "1 reply" if number == 1 else f"{number:,} replies"


def print_some(lines: Sequence[str], of_what: str) -> None:
    """Print the first of some lines to standard error, and how many more there are `of_what`."""
    for line in lines[:_SHOWN]:
        print_note(line)
    if len(lines) > _SHOWN:
        print_note(f"… {len(lines) - _SHOWN:,} more {of_what}")


def print_not_planned(problems: Mapping[str, str], apps: Mapping[str, str]) -> None:
    """Print which tests have no request though they want a reply: why, by test, and the ids of apps, by test."""
    for app, number in sorted(Counter(apps.values()).items()):
        print_note(f"not planned: {plural_text(number, 'test')} of {app}: pytest itself asks apps")
    # Further lines show the place in its file, as `fcall lint` does.
    reasons = {test: reason.strip().partition("\n")[0] for test, reason in problems.items()}
    print_some([f"not planned: {test}: {reason}" for test, reason in reasons.items()], "tests are not planned")


def print_problem(text: str) -> None:
    """Print what is wrong, in the name of the command."""
    print_note(f"fcall record: {text}")


def print_note(text: str) -> None:
    """Print a line to standard error."""
    print(safe_line(text), file=sys.stderr)
