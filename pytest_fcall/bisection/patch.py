"""Patches that undo edits: in files, where a text stands there once, else in the question as a model gets it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import unified_diff
from typing import Final, NamedTuple

from pytest_fcall.bisection.edit import Edit
from pytest_fcall.bisection.search import Trial
from pytest_fcall.bisection.version import Difference, Version
from pytest_fcall.core.digests import without_paths
from pytest_fcall.core.values import Json

_SETTING: Final = "settings: "


class Patch(NamedTuple):
    """A unified diff of files, and the edits whose place in them is not known."""

    text: str
    unplaced: tuple[Edit, ...] = ()


def undo_patch(edits: Iterable[Edit], files: Mapping[str, str]) -> Patch:
    """The patch that undoes edits in files, which are given by their paths with slashes."""
    texts, unplaced = dict(files), list[Edit]()
    for edit in edits:
        places = [(path, changed) for path, text in texts.items() for changed in _undone(edit, text)]
        if len(places) == 1:
            path, changed = places[0]
            texts[path] = changed
        else:
            unplaced.append(edit)
    diffs = (_diff(text, texts[path], path) for path, text in files.items() if texts[path] != text)
    return Patch("".join(diffs), tuple(unplaced))


def _undone(edit: Edit, text: str) -> Sequence[str]:
    """The text without the edit, once for each place where it may have been made."""
    if edit.part == "setting":
        name = re.escape(edit.where.removeprefix(_SETTING))
        pattern = re.compile(rf"(\b{name}['\"]?\s*:\s*){re.escape(edit.after)}(?![\w.])") if edit.after else None
        found = [*pattern.finditer(text)] if pattern and edit.before else []
        return [f"{text[: each.end(1)]}{edit.before}{text[each.end() :]}" for each in found]
    if edit.part == "model" or (not edit.after and not edit.follows):
        return []
    searched = edit.after or edit.follows
    starts = [found.start() for found in re.finditer(re.escape(searched), text)]
    if not edit.after:
        return [f"{text[: at + len(searched)]} {edit.before}{text[at + len(searched) :]}" for at in starts]
    if edit.before:
        return [f"{text[:at]}{edit.before}{text[at + len(searched) :]}" for at in starts]
    return [_without(text, at, at + len(searched)) for at in starts]


def _without(text: str, start: int, end: int) -> str:
    """The text without a sentence, and without the line or the space that was there for it alone."""
    line_start, line_end = text.rfind("\n", 0, start) + 1, text.find("\n", end)
    line_end = len(text) if line_end < 0 else line_end + 1
    if not text[line_start:start].strip() and not text[end:line_end].strip():
        return text[:line_start] + text[line_end:]
    if text[start - 1 : start] == " ":
        return text[: start - 1] + text[end:]
    return text[:start] + text[end:].removeprefix(" ")


def question_diff(difference: Difference, guilty: Trial, name: str) -> str:
    """The diff from today's question to the one without these edits, as a model gets both."""
    old, new = (_rendered(difference.version(trial)) for trial in (difference.all, difference.all - guilty))
    return _diff(old, new, name)


def _rendered(version: Version) -> str:
    """A question in lines."""
    request = version.request
    lines = [f"model: {version.model}"]
    messages = [*request.messages, *(message for turn in version.turns for message in turn.messages)]
    for message in messages:
        content = message.get("content")
        others: Json = {key: without_paths(value) for key, value in message.items() if key not in ("role", "content")}
        lines += [f"{message.get('role')}:", content if isinstance(content, str) else _json(without_paths(content))]
        lines += [_json(others)] if others else []
    for tool in request.tools:
        lines += [f"tool {tool.name}:", tool.description, _json(tool.parameters)]
    return "\n".join(lines) + "\n"


def _json(value: Json) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False, sort_keys=True, default=dict)


def _diff(old: str, new: str, path: str) -> str:
    lines = unified_diff(old.splitlines(keepends=True), new.splitlines(keepends=True), f"a/{path}", f"b/{path}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
