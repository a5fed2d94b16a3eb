"""Cases in the making, as files that lint clean: case files, and the tools that they share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from pytest_fcall.cases import UnreadableFile, read_case_text
from pytest_fcall.cases.yaml.flow import flow
from pytest_fcall.core import FaultyCase, Tool, catalogue_digest
from pytest_fcall.traces.case_text import Named, file_text
from pytest_fcall.traces.record import Unread

_MOST: Final = 1000
"""So many cases stand in one file: more nobody reviews in one go."""


class Written(NamedTuple):
    """A file that was written."""

    path: Path
    cases: int
    unchecked: int
    """Cases that expect nothing yet."""


def write(cases: Sequence[Named], folder: Path, stem: str) -> Iterator[Written | Unread]:
    """Write the files, one catalogue of tools after the other; cases that cannot be said right are told instead.

    Raises FileExistsError before a file of cases would be overwritten.
    """
    number = 0
    for tools, own in _by_tools(cases):
        folder.mkdir(parents=True, exist_ok=True)
        name = f"tools-{catalogue_digest(tools)[:8]}.tools.yaml" if tools else ""
        if tools and not (folder / name).exists():  # an older one of the name holds the same, or was mended by hand
            (folder / name).write_text(_tools_text(tools), encoding="utf-8")
        for start in range(0, len(own), _MOST):
            number += 1
            path = folder / f"{stem}{f'_{number}' if number > 1 else ''}.fc.yaml"
            yield from _write(path, own[start : start + _MOST], name)


def _write(path: Path, cases: Sequence[Named], tools: str) -> Iterator[Written | Unread]:
    sound = list(cases)
    faults = _faults(path, sound, tools)
    for case in [case for case in sound if case.name in faults]:
        yield Unread(case.question.record.place, f"no case can say it: {faults[case.name]}")
    sound = [case for case in sound if case.name not in faults]
    if sound:
        with path.open("x", encoding="utf-8") as file:
            file.write(file_text(sound, tools))
        yield Written(path, len(sound), sum(_is_unchecked(case) for case in sound))


def _faults(path: Path, cases: Sequence[Named], tools: str) -> dict[str, str]:
    """What `fcall lint` would say of each case, but for those that are meant to expect nothing yet."""
    checked = [_with_a_check(case) for case in cases]
    try:
        entries = read_case_text(file_text(checked, tools), path, root=path.parent).entries
    except UnreadableFile as unreadable:
        return {case.name: unreadable.fault.message for case in cases}
    return {entry.id: entry.faults[0].message for entry in entries if isinstance(entry, FaultyCase)}


def _with_a_check(case: Named) -> Named:
    if not _is_unchecked(case):
        return case
    record = replace(case.question.record, checks={"expect": "any_call"})
    return replace(case, question=replace(case.question, record=record))


def _is_unchecked(case: Named) -> bool:
    return case.question.record.checks == {} and not any(case.question.made)


def _by_tools(cases: Sequence[Named]) -> Iterator[tuple[tuple[Tool, ...], list[Named]]]:
    """The cases of each catalogue. Those of which no tools are told share one of all that they call."""
    groups: dict[str, list[Named]] = {}
    for case in cases:
        tools = case.question.record.tools
        groups.setdefault(catalogue_digest(tools) if tools else "", []).append(case)
    for name, group in groups.items():
        yield group[0].question.record.tools if name else _called(group), group


def _called(cases: Iterable[Named]) -> tuple[Tool, ...]:
    """Tools that take any arguments, for whatever is called."""
    names = dict.fromkeys(made.call.name for case in cases for made in case.question.made)
    return tuple(Tool(name, parameters={"type": "object", "additionalProperties": True}) for name in names)


def _tools_text(tools: Iterable[Tool]) -> str:
    lines = ["# Tools as they were offered when the cases that include this file were recorded.", "tools:"]
    for tool in tools:
        lines.append(f"  - name: {flow(tool.name)}")
        lines += [f"    description: {flow(tool.description)}"] if tool.description else []
        lines.append(f"    parameters: {flow(tool.parameters)}")
    return "\n".join(lines) + "\n"
