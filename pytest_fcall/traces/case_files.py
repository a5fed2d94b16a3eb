"""Drafts of cases written as files without faults: case files, and the files of their tools."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Final, NamedTuple

from pytest_fcall.cases.case_file import read_case_text
from pytest_fcall.cases.faults import UnreadableFile
from pytest_fcall.cases.yaml.values import mark_literal, write_flow, write_flow_key
from pytest_fcall.core.case import FaultyCase
from pytest_fcall.core.digests import catalogue_digest, digest
from pytest_fcall.core.files import create_file, replace_file
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.traces.drafts import CaseDraft, DraftCall, DraftTurn
from pytest_fcall.traces.record import SkippedEntry
from pytest_fcall.traces.request_parts import is_instruction
from pytest_fcall.traces.spool import Spool
from pytest_fcall.traces.values import read_json

_REVIEW_MARK: Final = "# review"
_DEFAULT_STEPS: Final = 10
"""The default of `max_steps`."""
_MOST_CASES: Final = 1000
"""The most cases in one file. More cannot be reviewed at once."""


@dataclass(frozen=True, slots=True)
class NamedDraft:
    """A draft of a case, and its id."""

    name: str
    draft: CaseDraft
    earlier: str = ""
    """The name of an earlier case that is nearly the same; empty without one."""


class WrittenFile(NamedTuple):
    """A case file that was written."""

    path: Path
    cases: int
    without_expectation: int
    """The number of cases that have no expectation yet."""


def write_case_files(cases: Iterable[NamedDraft], folder: Path, stem: str) -> Iterator[WrittenFile | SkippedEntry]:
    """Write files for each catalogue of tools. Cases that a case file cannot express are skipped entries.

    A file is written when all cases are there; until then they wait on the disk. Raises FileExistsError before a case
    file would be overwritten, and what reading the cases raises.
    """
    number = 0
    drafts = Spool[NamedDraft]()
    for tools, places in _by_tools(cases, drafts):
        folder.mkdir(parents=True, exist_ok=True)
        name = f"tools-{catalogue_digest(tools)[:8]}.tools.yaml" if tools else ""
        if tools and not (folder / name).exists():  # an existing one holds the same tools, or was edited by hand
            replace_file(folder / name, [_tools_text(tools).encode()])
        for start in range(0, len(places), _MOST_CASES):
            number += 1
            path = folder / f"{stem}{f'_{number}' if number > 1 else ''}.fc.yaml"
            yield from _write_file(path, [*map(drafts.get, places[start : start + _MOST_CASES])], name)


def _by_tools(
    cases: Iterable[NamedDraft], drafts: Spool[NamedDraft]
) -> Iterator[tuple[tuple[Tool, ...], Sequence[int]]]:
    """Each catalogue, and the places of its cases. Those without known tools share one of all tools that they call."""
    groups: dict[str, tuple[tuple[Tool, ...], array[int]]] = {}
    called: dict[str, None] = {}
    for case in cases:
        record = case.draft.record
        if not record.tools:
            called |= dict.fromkeys((*(each.call.name for each in case.draft.calls), *record.named_tools))
        key = catalogue_digest(record.tools) if record.tools else ""
        if key not in groups:
            groups[key] = record.tools, array("Q")
            drafts.share(record.tools)
        groups[key][1].append(drafts.add(case))
    for tools, places in groups.values():
        yield tools or tuple(map(_unknown_tool, called)), places


def _unknown_tool(name: str) -> Tool:
    """A tool of which only the name is known, with parameters that allow any arguments."""
    return Tool(name, parameters={"type": "object", "additionalProperties": True})


def _tools_text(tools: Iterable[Tool]) -> str:
    lines = ["# Tools as they were offered when the cases that include this file were recorded.", "tools:"]
    for tool in tools:
        lines.append(f"  - name: {write_flow(tool.name)}")
        lines += [f"    description: {write_flow(tool.description)}"] if tool.description else []
        lines.append(f"    parameters: {write_flow(tool.parameters)}")
    return "\n".join(lines) + "\n"


def _write_file(path: Path, cases: Sequence[NamedDraft], tools: str) -> Iterator[WrittenFile | SkippedEntry]:
    text, faults = _checked_text(path, cases, tools)
    for case in cases:
        if case.name in faults:
            place = case.draft.record.place
            yield SkippedEntry(place, f"a case file cannot express the case: {faults[case.name]}")
    valid = [case for case in cases if case.name not in faults]
    if valid:
        create_file(path, [(case_file_text(valid, tools) if text is None else text).encode()])
        yield WrittenFile(path, len(valid), sum(map(_is_without_expectation, valid)))


def _checked_text(path: Path, cases: Sequence[NamedDraft], tools: str) -> tuple[str | None, dict[str, str]]:
    """The faults of the cases in a case file, by their names; and the text of the file where it can be used as it is.

    A missing expectation is no fault here, so such cases are checked with one.
    """
    checked = [_with_any_call(case) for case in cases]
    text = case_file_text(checked, tools)
    try:
        entries = read_case_text(text, path, root=path.parent).entries
    except UnreadableFile as unreadable:
        return None, {case.name: unreadable.fault.message for case in cases}
    faults = {entry.id: entry.faults[0].message for entry in entries if isinstance(entry, FaultyCase)}
    usable = not faults and not any(map(_is_without_expectation, cases))
    return text if usable else None, faults


def _with_any_call(case: NamedDraft) -> NamedDraft:
    if not _is_without_expectation(case):
        return case
    record = case.draft.record
    any_call: Mapping[str, Json] = {"expect": "any_call"}
    turns = tuple(each or any_call for each in record.turn_expectations)
    record = replace(record, expectation=record.expectation or any_call, turn_expectations=turns)
    return replace(case, draft=replace(case.draft, record=record))


def _is_without_expectation(case: NamedDraft) -> bool:
    """Whether it, or a turn of it, is without one."""
    record = case.draft.record
    if record.turn_expectations:
        return not all(record.turn_expectations)
    return record.expectation == {} and not any(case.draft.calls)


@dataclass(frozen=True, slots=True)
class FileDefaults:
    """The system message and the settings that all cases of a file share, written once."""

    system: str = ""
    settings: Mapping[str, Json] | None = None


def case_file_text(cases: Sequence[NamedDraft], tools: str) -> str:
    """The text of a case file. `tools` is the name of the file of tools beside it; empty without one."""
    common = _file_defaults(cases)
    defaults: dict[str, Json] = {"system": common.system} if common.system else {}
    if common.settings:
        defaults["settings"] = common.settings
    lines = [f"# Made from traces. Review each case, correct its expectation, and remove its `{_REVIEW_MARK}`."]
    lines += [f"include: {write_flow(tools)}"] if tools else []
    lines += ["defaults:", *(f"  {key}: {write_flow(value)}" for key, value in defaults.items())] if defaults else []
    lines += ["cases:", *(line for case in cases for line in _case_lines(case, common))]
    return "\n".join(lines) + "\n"


def _file_defaults(cases: Sequence[NamedDraft]) -> FileDefaults:
    drafts = [case.draft for case in cases]
    systems = {draft.system for draft in drafts if not draft.earlier_messages}
    # `{now` in defaults would be replaced, and defaults would add a system message to conversations without one.
    unsafe = any("{now" in system for system in systems) or any(
        draft.earlier_messages and not is_instruction(draft.earlier_messages[0]) for draft in drafts
    )
    settings = [draft.record.settings for draft in drafts]
    return FileDefaults(
        system=systems.pop() if len(systems) == 1 and not unsafe else "",
        settings=settings[0] if settings and all(each == settings[0] for each in settings) else None,
    )


def _case_lines(case: NamedDraft, common: FileDefaults) -> Iterator[str]:
    draft = case.draft
    record = draft.record
    yield f"  - id: {write_flow(case.name)}  {_REVIEW_MARK}"
    yield f"    # {_comment_text(', '.join(filter(None, (record.place, record.model, record.time))))}"
    if draft.answer:
        yield f"    # answered: {_comment_text(draft.answer)}"
    if draft.system != common.system and not draft.earlier_messages:
        yield f"    system: {write_flow(draft.system)}"
    if record.settings and common.settings is None:
        yield f"    settings: {write_flow(record.settings)}"
    if (steps := max(len(turn.steps) + 1 for turn in draft.turns)) > _DEFAULT_STEPS:
        yield f"    max_steps: {steps}"
    if record.skip:
        yield f"    skip: {write_flow(record.skip)}"
    if len(draft.turns) == 1 and not record.turn_expectations:
        yield from _prompt_lines(draft)
        yield from (f"    {line}" for line in _expectation_lines(draft.turns[0], record.expectation))
        return
    yield "    turns:"
    for turn, expectation in zip_longest(draft.turns, record.turn_expectations):
        yield f"      - user: {write_flow(turn.user)}"
        yield from (f"        {line}" for line in _expectation_lines(turn, expectation))


def _prompt_lines(draft: CaseDraft) -> Iterator[str]:
    if draft.earlier_messages:
        yield "    messages:"
        yield from (f"      - {write_flow(message)}" for message in draft.earlier_messages)
    else:
        yield f"    prompt: {write_flow(draft.turns[0].user)}"


def _expectation_lines(turn: DraftTurn, expectation: Mapping[str, Json] | None) -> Iterator[str]:
    """The calls of the turn; without any, the expectation of the source, or `no_call`."""
    if turn.steps:
        yield "expect:"
        for number, step in enumerate(turn.steps):
            indent = "      " if number else "  "
            yield from ["  - then:"] if number else []
            yield from (f"{indent}{line}" for line in _call_lines(step))
    elif expectation is not None:
        yield from (f"{key}: {write_flow(value)}" for key, value in expectation.items())
    else:
        yield "expect: no_call"


def _call_lines(step: Iterable[DraftCall]) -> Iterator[str]:
    """The calls of one reply. Equal calls are written once, with the results of each."""
    groups: dict[str, list[DraftCall]] = {}
    for each in step:
        groups.setdefault(digest([each.call.name, each.call.arguments]), []).append(each)
    for group in groups.values():
        call, errors = group[0].call, {each.result for each in group if each.is_error}
        results = [_given_value(each) for each in group if each.result is not None]
        yield f"- {write_flow_key(call.name)}: {write_flow(mark_literal(call.arguments))}"
        if len(group) > 1:
            yield f"  times: {len(group)}"
        if len(errors) == 1 and all(each.is_error for each in group):
            yield f"  raises: {write_flow(errors.pop())}"
        elif results and all(result == results[0] for result in results):
            yield f"  returns: {write_flow(results[0])}"
        elif results:
            yield f"  returns_each: {write_flow(results)}"


def _given_value(call: DraftCall) -> Json:
    """The result of a call. An error has the form that the model gets it in, where it stands among results."""
    return {"error": call.result} if call.is_error else _result_value(call.result or "")


def _result_value(result: str) -> Json:
    """The value of a result, where the model gets the same text of it again; else the text."""
    try:
        value = read_json(result)
    except ValueError:
        return result
    same = not isinstance(value, str) and json.dumps(value, ensure_ascii=False) == result
    return value if same else result


def _comment_text(text: str) -> str:
    """The text on one line, which is safe in a YAML comment."""
    return safe_line(" ".join(text.split()), limit=160)
