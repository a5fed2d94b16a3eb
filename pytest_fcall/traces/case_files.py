"""Drafts of cases as files that lint clean: case files, and the tools that they share."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NamedTuple

from pytest_fcall.cases.case_file import read_case_text
from pytest_fcall.cases.faults import UnreadableFile
from pytest_fcall.cases.yaml.flow_style import mark_literal, write_flow, write_flow_key
from pytest_fcall.core import FaultyCase, Json, Tool, catalogue_digest, digest
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.traces.drafts import CaseDraft, DraftCall, DraftTurn
from pytest_fcall.traces.record import SkippedEntry
from pytest_fcall.traces.values import read_json

REVIEW_MARK: Final = "# review"
_USUAL_STEPS: Final = 10
"""So many requests a turn may take where a case says nothing."""
_SYSTEM_ROLES: Final = ("system", "developer")


@dataclass(frozen=True, slots=True)
class NamedDraft:
    """A case in the making, with its id."""

    name: str
    question: CaseDraft


@dataclass(frozen=True, slots=True)
class FileDefaults:
    """What all cases of a file say alike, so that the file says it once."""

    system: str = ""
    settings: Mapping[str, Json] | None = None


def case_file_text(cases: Sequence[NamedDraft], tools: str) -> str:
    """The case file; `tools` names the file of tools beside it, empty where there are none."""
    shared = _file_defaults(cases)
    defaults: dict[str, Json] = {"system": shared.system} if shared.system else {}
    if shared.settings:
        defaults["settings"] = shared.settings
    lines = [f"# Made of traces. Read each case, mend what it expects, and take its `{REVIEW_MARK}` away."]
    lines += [f"include: {write_flow(tools)}"] if tools else []
    lines += ["defaults:", *(f"  {key}: {write_flow(value)}" for key, value in defaults.items())] if defaults else []
    lines += ["cases:", *(line for case in cases for line in _case_lines(case, shared))]
    return "\n".join(lines) + "\n"


def _file_defaults(cases: Sequence[NamedDraft]) -> FileDefaults:
    questions = [case.question for case in cases]
    systems = {question.system for question in questions if not question.before}
    apart = any("{now" in system for system in systems)  # what stands in defaults is filled in
    apart |= any(question.before and question.before[0]["role"] not in _SYSTEM_ROLES for question in questions)
    settings = [question.record.settings for question in questions]
    alike = all(each == settings[0] for each in settings)
    return FileDefaults(
        system=systems.pop() if len(systems) == 1 and not apart else "",
        settings=settings[0] if settings and alike else None,
    )


def _case_lines(case: NamedDraft, shared: FileDefaults) -> Iterator[str]:
    question = case.question
    record = question.record
    yield f"  - id: {write_flow(case.name)}  {REVIEW_MARK}"
    yield f"    # {_comment_text(', '.join(filter(None, (record.place, record.model, record.moment))))}"
    if question.answer:
        yield f"    # answered: {_comment_text(question.answer)}"
    if question.system != shared.system and not question.before:
        yield f"    system: {write_flow(question.system)}"
    if record.settings and shared.settings is None:
        yield f"    settings: {write_flow(record.settings)}"
    if (most := max(len(turn.steps) + 1 for turn in question.turns)) > _USUAL_STEPS:
        yield f"    max_steps: {most}"
    if len(question.turns) == 1:
        yield from _prompt_lines(question)
        yield from (f"    {line}" for line in _expectation_lines(question.turns[0], record.checks))
        return
    yield "    turns:"
    for turn in question.turns:
        yield f"      - user: {write_flow(turn.user)}"
        yield from (f"        {line}" for line in _expectation_lines(turn, None))


def _prompt_lines(question: CaseDraft) -> Iterator[str]:
    if question.before:
        yield "    messages:"
        yield from (f"      - {write_flow(message)}" for message in question.before)
    else:
        yield f"    prompt: {write_flow(question.turns[0].user)}"


def _expectation_lines(turn: DraftTurn, checks: Mapping[str, Json] | None) -> Iterator[str]:
    if checks is not None and not turn.steps:
        yield from (f"{key}: {write_flow(value)}" for key, value in checks.items())
    elif not turn.steps:
        yield "expect: no_call"
    else:
        yield "expect:"
        for number, step in enumerate(turn.steps):
            indent = "      " if number else "  "
            yield from ["  - then:"] if number else []
            yield from (f"{indent}{line}" for line in _call_lines(step))


def _call_lines(step: Iterable[DraftCall]) -> Iterator[str]:
    """The calls of one reply; equal ones are one, with what each of them gave."""
    groups: dict[str, list[DraftCall]] = {}
    for made in step:
        groups.setdefault(digest([made.call.name, made.call.arguments]), []).append(made)
    for group in groups.values():
        call, results = group[0].call, [_result_value(made.result) for made in group if made.result is not None]
        yield f"- {write_flow_key(call.name)}: {write_flow(mark_literal(call.arguments))}"
        if len(group) > 1:
            yield f"  times: {len(group)}"
        if results and all(result == results[0] for result in results):
            yield f"  returns: {write_flow(results[0])}"
        elif results:
            yield f"  returns_each: {write_flow(results)}"


def _result_value(result: str) -> Json:
    """A result as a value, where it is told to the model just as it stood there; else the text that it is."""
    try:
        value = read_json(result)
    except ValueError:
        return result
    same = not isinstance(value, str) and json.dumps(value, ensure_ascii=False) == result
    return value if same else result


def _comment_text(text: str) -> str:
    """One line that YAML takes for a comment, whatever stands in it."""
    return safe_line(" ".join(text.split()), limit=160)


_MOST_CASES: Final = 1000
"""So many cases stand in one file: more nobody reviews in one go."""


class WrittenFile(NamedTuple):
    """A file that was written."""

    path: Path
    cases: int
    unchecked: int
    """Cases that expect nothing yet."""


def write_case_files(cases: Sequence[NamedDraft], folder: Path, stem: str) -> Iterator[WrittenFile | SkippedEntry]:
    """Write the files, one catalogue of tools after the other; cases that cannot be said right are told instead.

    Raises FileExistsError before a file of cases would be overwritten.
    """
    number = 0
    for tools, own in _by_tools(cases):
        folder.mkdir(parents=True, exist_ok=True)
        name = f"tools-{catalogue_digest(tools)[:8]}.tools.yaml" if tools else ""
        if tools and not (folder / name).exists():  # an older one of the name holds the same, or was mended by hand
            (folder / name).write_text(_tools_text(tools), encoding="utf-8")
        for start in range(0, len(own), _MOST_CASES):
            number += 1
            path = folder / f"{stem}{f'_{number}' if number > 1 else ''}.fc.yaml"
            yield from _write_file(path, own[start : start + _MOST_CASES], name)


def _write_file(path: Path, cases: Sequence[NamedDraft], tools: str) -> Iterator[WrittenFile | SkippedEntry]:
    sound = list(cases)
    faults = _faults(path, sound, tools)
    for case in [case for case in sound if case.name in faults]:
        yield SkippedEntry(case.question.record.place, f"no case can say it: {faults[case.name]}")
    sound = [case for case in sound if case.name not in faults]
    if sound:
        with path.open("x", encoding="utf-8") as file:
            file.write(case_file_text(sound, tools))
        yield WrittenFile(path, len(sound), sum(_is_unchecked(case) for case in sound))


def _faults(path: Path, cases: Sequence[NamedDraft], tools: str) -> dict[str, str]:
    """What `fcall lint` would say of each case, but for those that are meant to expect nothing yet."""
    checked = [_with_any_call(case) for case in cases]
    try:
        entries = read_case_text(case_file_text(checked, tools), path, root=path.parent).entries
    except UnreadableFile as unreadable:
        return {case.name: unreadable.fault.message for case in cases}
    return {entry.id: entry.faults[0].message for entry in entries if isinstance(entry, FaultyCase)}


def _with_any_call(case: NamedDraft) -> NamedDraft:
    if not _is_unchecked(case):
        return case
    record = replace(case.question.record, checks={"expect": "any_call"})
    return replace(case, question=replace(case.question, record=record))


def _is_unchecked(case: NamedDraft) -> bool:
    return case.question.record.checks == {} and not any(case.question.made)


def _by_tools(cases: Sequence[NamedDraft]) -> Iterator[tuple[tuple[Tool, ...], list[NamedDraft]]]:
    """The cases of each catalogue. Those of which no tools are told share one of all that they call."""
    groups: dict[str, list[NamedDraft]] = {}
    for case in cases:
        tools = case.question.record.tools
        groups.setdefault(catalogue_digest(tools) if tools else "", []).append(case)
    for name, group in groups.items():
        yield group[0].question.record.tools if name else _called_tools(group), group


def _called_tools(cases: Iterable[NamedDraft]) -> tuple[Tool, ...]:
    """Tools that take any arguments, for whatever is called."""
    names = dict.fromkeys(made.call.name for case in cases for made in case.question.made)
    return tuple(Tool(name, parameters={"type": "object", "additionalProperties": True}) for name in names)


def _tools_text(tools: Iterable[Tool]) -> str:
    lines = ["# Tools as they were offered when the cases that include this file were recorded.", "tools:"]
    for tool in tools:
        lines.append(f"  - name: {write_flow(tool.name)}")
        lines += [f"    description: {write_flow(tool.description)}"] if tool.description else []
        lines.append(f"    parameters: {write_flow(tool.parameters)}")
    return "\n".join(lines) + "\n"
