"""What is wrong with a call whatever was expected."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from pytest_fcall.core.expectation import Expectation
from pytest_fcall.core.verdict import Reason
from pytest_fcall.matching.comparison import Comparison
from pytest_fcall.matching.wording import plain_name, show_made

_LONGEST_NAME = 100
"""Characters of a name that may still be a slip of the pen."""


class Alarms:
    """A call is forbidden, or its tool does not exist."""

    def __init__(self, expectation: Expectation, comparison: Comparison) -> None:
        self.never = (*expectation.never, *comparison.rules.never)
        self.comparison = comparison

    def of(self, index: int) -> Iterator[Reason]:
        """Give what is wrong with one call; whether it is forbidden where nobody can say counts as forbidden."""
        name = self.comparison.calls[index].name
        if self.comparison.is_unknown(index):
            message = f"`{plain_name(name)}` is not one of the tools offered{self._suggestion(name)}"
            yield Reason("unknown_tool", f"calls[{index}]", message, got=name)
        for pattern in self.never:
            found = self.comparison.pattern(pattern, index)
            if found is not None and all(each.undecided for each in found):
                why = f", unless this says otherwise: {found[0].tell()}" if found else ""
                message = f"{show_made(self.comparison.calls[index])} must never be called{why}"
                yield Reason("forbidden_call", f"calls[{index}]", message, got=name)
                return

    def _suggestion(self, name: str) -> str:
        near = get_close_matches(name, self.comparison.offered, 1) if len(name) <= _LONGEST_NAME else []
        return f"; did the model mean `{near[0]}`?" if near else ""
