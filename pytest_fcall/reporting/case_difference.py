"""The differences between the questions of two cases, in a line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from pytest_fcall.core.case import Case
from pytest_fcall.core.request import Tool
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.reporting.transcript import content_text
from pytest_fcall.reporting.word_diff import marked_changes, word_diff
from pytest_fcall.schema.tool_changes import ToolChange, tool_changes

_LONGEST: Final = 600
_MOST_NAMED: Final = 8


def difference_text(case: Case, other: Case) -> str:
    """The difference of another case: its messages by their changed words, its tools by what became of them."""
    found = [*_message_changes(case, other), *_tool_changes(case.tools, other.tools)]
    return safe_line("; ".join(found), _LONGEST)


def _message_changes(case: Case, other: Case) -> Iterator[str]:
    old, new = _messages(case), _messages(other)
    if old != new:
        yield word_diff(old, new) or _blanks(old, new)


def _messages(case: Case) -> str:
    return "\n".join(
        f"{message.get('role')}: {content_text(message.get('content'))}"
        for turn in case.turns
        for message in turn.messages
    )


def _blanks(old: str, new: str) -> str:
    """The changed white space, which word diffs leave out."""
    changed = [f"{sign}{text!r}" for sign, text in marked_changes(old, new) if sign != " "]
    return f"white space: {' '.join(changed)}"


def _tool_changes(before: Sequence[Tool], after: Sequence[Tool]) -> Iterator[str]:
    changes = tool_changes(before, after)
    gone, added = ([each.tool for each in changes if each.kind == kind] for kind in ("removed", "added"))
    if gone and len(gone) == len(added):
        yield f"tools renamed: {_named(f'{was} → {now}' for was, now in zip(gone, added, strict=True))}"
    else:
        yield from [f"tools added: {_named(added)}"] if added else []
        yield from [f"tools gone: {_named(gone)}"] if gone else []
    changed = [_changed_text(each) for each in changes if each.kind == "changed"]
    yield from [f"tools changed: {_named(changed)}"] if changed else []
    if not changes and (names := [tool.name for tool in after]) != [tool.name for tool in before]:
        yield f"order of tools: {_named(names)}"


def _changed_text(change: ToolChange) -> str:
    return f"{change.tool} ({'; '.join(change.details)})"


def _named(names: Iterable[str]) -> str:
    found = list(names)
    more = len(found) - _MOST_NAMED
    return ", ".join([*found[:_MOST_NAMED], *([f"and {more} more"] if more > 0 else [])])
