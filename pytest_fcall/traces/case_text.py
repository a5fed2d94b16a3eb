"""A case in the making, as lines of a case file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pytest_fcall.cases.yaml.flow import flow, flow_key, literal
from pytest_fcall.core import Json, digest
from pytest_fcall.reporting import safe_line
from pytest_fcall.traces.questions import Made, Question, Turn
from pytest_fcall.traces.values import read_json

MARK: Final = "# review"
_STEPS: Final = 10
"""So many requests a turn may take where a case says nothing."""
_SYSTEM: Final = ("system", "developer")


@dataclass(frozen=True, slots=True)
class Named:
    """A case in the making, with its id."""

    name: str
    question: Question


@dataclass(frozen=True, slots=True)
class Shared:
    """What all cases of a file say alike, so that the file says it once."""

    system: str = ""
    settings: Mapping[str, Json] | None = None


def file_text(cases: Sequence[Named], tools: str) -> str:
    """The case file; `tools` names the file of tools beside it, empty where there are none."""
    shared = _shared(cases)
    defaults: dict[str, Json] = {"system": shared.system} if shared.system else {}
    if shared.settings:
        defaults["settings"] = shared.settings
    lines = [f"# Made of traces. Read each case, mend what it expects, and take its `{MARK}` away."]
    lines += [f"include: {flow(tools)}"] if tools else []
    lines += ["defaults:", *(f"  {key}: {flow(value)}" for key, value in defaults.items())] if defaults else []
    lines += ["cases:", *(line for case in cases for line in _case(case, shared))]
    return "\n".join(lines) + "\n"


def _shared(cases: Sequence[Named]) -> Shared:
    questions = [case.question for case in cases]
    systems = {question.system for question in questions if not question.before}
    apart = any("{now" in system for system in systems)  # what stands in defaults is filled in
    apart |= any(question.before and question.before[0]["role"] not in _SYSTEM for question in questions)
    settings = [question.record.settings for question in questions]
    alike = all(each == settings[0] for each in settings)
    return Shared(
        system=systems.pop() if len(systems) == 1 and not apart else "",
        settings=settings[0] if settings and alike else None,
    )


def _case(case: Named, shared: Shared) -> Iterator[str]:
    question = case.question
    record = question.record
    yield f"  - id: {flow(case.name)}  {MARK}"
    yield f"    # {_comment(', '.join(filter(None, (record.place, record.model, record.moment))))}"
    if question.answer:
        yield f"    # answered: {_comment(question.answer)}"
    if question.system != shared.system and not question.before:
        yield f"    system: {flow(question.system)}"
    if record.settings and shared.settings is None:
        yield f"    settings: {flow(record.settings)}"
    if (most := max(len(turn.steps) + 1 for turn in question.turns)) > _STEPS:
        yield f"    max_steps: {most}"
    if len(question.turns) == 1:
        yield from _said(question)
        yield from (f"    {line}" for line in _expected(question.turns[0], record.checks))
        return
    yield "    turns:"
    for turn in question.turns:
        yield f"      - user: {flow(turn.user)}"
        yield from (f"        {line}" for line in _expected(turn, None))


def _said(question: Question) -> Iterator[str]:
    if question.before:
        yield "    messages:"
        yield from (f"      - {flow(message)}" for message in question.before)
    else:
        yield f"    prompt: {flow(question.turns[0].user)}"


def _expected(turn: Turn, checks: Mapping[str, Json] | None) -> Iterator[str]:
    if checks is not None and not turn.steps:
        yield from (f"{key}: {flow(value)}" for key, value in checks.items())
    elif not turn.steps:
        yield "expect: no_call"
    else:
        yield "expect:"
        for number, step in enumerate(turn.steps):
            indent = "      " if number else "  "
            yield from ["  - then:"] if number else []
            yield from (f"{indent}{line}" for line in _calls(step))


def _calls(step: Iterable[Made]) -> Iterator[str]:
    """The calls of one reply; equal ones are one, with what each of them gave."""
    groups: dict[str, list[Made]] = {}
    for made in step:
        groups.setdefault(digest([made.call.name, made.call.arguments]), []).append(made)
    for group in groups.values():
        call, results = group[0].call, [_value(made.result) for made in group if made.result is not None]
        yield f"- {flow_key(call.name)}: {flow(literal(call.arguments))}"
        if len(group) > 1:
            yield f"  times: {len(group)}"
        if results and all(result == results[0] for result in results):
            yield f"  returns: {flow(results[0])}"
        elif results:
            yield f"  returns_each: {flow(results)}"


def _value(result: str) -> Json:
    """A result as a value, where it is told to the model just as it stood there; else the text that it is."""
    try:
        value = read_json(result)
    except ValueError:
        return result
    same = not isinstance(value, str) and json.dumps(value, ensure_ascii=False) == result
    return value if same else result


def _comment(text: str) -> str:
    """One line that YAML takes for a comment, whatever stands in it."""
    return safe_line(" ".join(text.split()), limit=160)
