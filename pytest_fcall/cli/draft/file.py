"""The file of drafts: cases that are skipped until a person has read them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Final

from pytest_fcall.cases.case_file import read_case_text
from pytest_fcall.cases.faults import UnreadableFile
from pytest_fcall.cases.files import anywhere
from pytest_fcall.cases.yaml.flow_style import mark_literal, write_flow, write_flow_key
from pytest_fcall.cli.draft.tasks import Draft
from pytest_fcall.core import FaultyCase
from pytest_fcall.reporting.safe_text import safe_line

_REVIEW_MARK: Final = "# review"


def file_text(drafts: Sequence[Draft], tools_line: str, model: str) -> str:
    """The text of the case file; `tools_line` is the line that takes the tools."""
    lines = [
        f"# Drafts by {safe_line(model)}, which nobody has read.",
        f"# Correct each case; then remove its `skip` and its `{_REVIEW_MARK}`.",
        tools_line,
        "cases:",
    ]
    for name, draft in zip(names_of(drafts), drafts, strict=True):
        lines += [f"  {line}" for line in _case_lines(name, draft, model)]
    return "\n".join(lines) + "\n"


def names_of(drafts: Sequence[Draft]) -> list[str]:
    """The id of each draft: its tool, and a number."""
    numbers: dict[str, int] = {}
    names = []
    for draft in drafts:
        stem = re.sub(r"[^\w.-]", "_", draft.tool.name if draft.tool else "no_tool", flags=re.ASCII)[:60]
        numbers[stem] = numbers.get(stem, 0) + 1
        names.append(f"{stem}_{numbers[stem]}")
    return names


def _case_lines(name: str, draft: Draft, model: str) -> Iterator[str]:
    yield f"- id: {write_flow(name)}  {_REVIEW_MARK}"
    yield f"  skip: {write_flow(f'a draft by {model}: read it, then remove this line')}"
    yield f"  prompt: {write_flow(draft.question)}"
    if draft.tool is None:
        yield "  expect: no_call"
        return
    yield "  expect:"
    if draft.arguments is None:
        yield "    # the arguments that the model gave do not fit the tool"
        yield f"    - {write_flow_key(draft.tool.name)}: {{$ignore: true}}"
    else:
        yield f"    - {write_flow_key(draft.tool.name)}: {write_flow(mark_literal(draft.arguments))}"


def faults_of(text: str, path: Path, root: Path, names: Collection[str]) -> dict[str, str]:
    """Why cases of the file cannot be used, by their ids."""
    try:
        file = read_case_text(text, path, root=root, outside=anywhere(path))
    except UnreadableFile as unreadable:
        return dict.fromkeys(names, unreadable.fault.message)
    return {entry.id: entry.faults[0].message for entry in file.entries if isinstance(entry, FaultyCase)}
