"""promptfoo: its configuration, whose tests become cases, and the results of its runs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product
from typing import Final, TypeGuard

from pytest_fcall.core import Json, Message, Tool
from pytest_fcall.traces.formats.promptfoo_files import why_unread
from pytest_fcall.traces.messages import messages_of
from pytest_fcall.traces.record import NotSaid, Record, Unread
from pytest_fcall.traces.tools import tools_of
from pytest_fcall.traces.values import first, items, mapping, parsed, text

_VARIABLE: Final = re.compile(r"\{\{-?\s*([\w.]+)\s*-?\}\}")
_TEMPLATE: Final = re.compile(r"\{\{|\{%")
_MOST: Final = 1000
"""So many tests may the values of one make."""
_VALID_CALLS: Final = ("is-valid-openai-tools-call", "is-valid-openai-function-call")


def recognises(told: Mapping[str, Json]) -> bool:
    """Whether it is a configuration, the results of a run, or one of them."""
    return ("prompts" in told and "tests" in told) or bool(_rows(told))


def read(told: Mapping[str, Json], place: str) -> Iterator[Record | Unread]:
    """Each result is a record; of a configuration, each test with each prompt."""
    rows = _rows(told)
    tools = _tools(mapping(told.get("config")) if rows else told)
    prompts = items(mapping(told.get("results")).get("prompts"))
    for number, row in enumerate(rows or _tests(told), 1):
        where = f"{place}: {'result' if rows else 'test'} {number}"
        try:
            yield _result(mapping(row), prompts, where, tools) if rows else _test(mapping(row), where, tools)
        except NotSaid as why:
            yield Unread(where, str(why))


def _rows(told: Mapping[str, Json]) -> Sequence[Json]:
    if "promptIdx" in told and "response" in told:  # as JSON lines have them
        return (told,)
    results = told.get("results")
    rows = mapping(results).get("results") if isinstance(results, Mapping) else results
    return rows if isinstance(rows, list) and all(mapping(row).keys() & {"prompt", "promptIdx"} for row in rows) else ()


def _result(row: Mapping[str, Json], prompts: Sequence[Json], place: str, tools: tuple[Tool, ...]) -> Record:
    response = mapping(row.get("response"))
    output = first(response, "output") or row.get("output")
    if row.get("error") or response.get("error") or output is None:
        raise NotSaid("it has no answer")
    return Record(
        trail=(*_asked(_asked_in(row, prompts)), *_answered(output)),
        place=place,
        tools=tools,
        model=text(mapping(row.get("provider")).get("id")) or text(row.get("provider")) or "",
    )


def _asked_in(row: Mapping[str, Json], prompts: Sequence[Json]) -> Json:
    """What was asked: as the row has it, or the prompt that it names, with the row's values."""
    index = row.get("promptIdx")
    named = prompts[index] if isinstance(index, int) and 0 <= index < len(prompts) else None
    prompt = row.get("prompt") or named
    asked = mapping(prompt).get("raw") if isinstance(prompt, Mapping) else prompt
    if asked is None:
        raise NotSaid("it does not say what was asked")
    given = mapping(first(row, "vars") or mapping(row.get("testCase")).get("vars"))
    return _put_in(asked, given) if isinstance(asked, str) and _VARIABLE.search(asked) else asked


def _put_in(asked: str, given: Mapping[str, Json]) -> str:
    """A prompt with the values that there are: braces may also be what somebody wrote."""
    return _VARIABLE.sub(lambda found: _filled(found, given) if found[1] in given else found[0], asked)


def _answered(output: Json) -> tuple[Message, ...]:
    """An answer is a text, a list of calls, or a message with calls."""
    given = parsed(output)
    told = given if isinstance(given, list) else mapping(given).get("tool_calls")
    calls = [mapping(each) for each in items(told)]
    if calls and all("function" in each or "name" in each for each in calls):
        return messages_of({"role": "assistant", "content": mapping(given).get("content"), "tool_calls": calls})
    return ({"role": "assistant", "content": output if isinstance(output, str) else str(output)},)


def _tests(told: Mapping[str, Json]) -> Iterator[Json]:
    """Every prompt with every test, defaults put in; a variable with several values makes several tests."""
    default = mapping(told.get("defaultTest"))
    for prompt in items(told["prompts"]):
        raw = prompt if isinstance(prompt, str) or why_unread(prompt) else first(mapping(prompt), "raw", "content")
        for test in items(told["tests"]):
            given = mapping(test)
            for values in _each({**mapping(default.get("vars")), **mapping(given.get("vars"))}):
                yield {
                    "prompt": raw,
                    "vars": values,
                    "assert": [*items(default.get("assert")), *items(given.get("assert"))],
                    "why": why_unread(prompt) or why_unread(test) or why_unread(default),
                }


def _each(given: Mapping[str, Json]) -> Iterator[Mapping[str, Json]]:
    several = [
        [(name, each) for each in value] if _is_several(value) else [(name, value)] for name, value in given.items()
    ]
    return (dict(values) for values in islice(product(*several), _MOST))


def _is_several(value: Json) -> TypeGuard[list[Json]]:
    return isinstance(value, list) and bool(value)


def _test(test: Mapping[str, Json], place: str, tools: tuple[Tool, ...]) -> Record:
    prompt, given = test["prompt"], mapping(test["vars"])
    if why := test["why"]:
        raise NotSaid(str(why))
    if not isinstance(prompt, str):
        raise NotSaid("its prompt is no text")
    filled = _VARIABLE.sub(lambda found: _filled(found, given), prompt)
    if _TEMPLATE.search(_VARIABLE.sub("", prompt)):
        raise NotSaid("its prompt is a template that does more than to put in values")
    return Record(trail=_asked(filled), place=place, tools=tools, checks=_checks(test["assert"], given))


def _filled(found: re.Match[str], given: Mapping[str, Json]) -> str:
    if found[1] not in given:
        raise NotSaid(f"its prompt wants {found[1]!r}, which the test does not give")
    value = given[found[1]]
    if why := why_unread(value):
        raise NotSaid(f"the value of {found[1]!r} is not known: {why}")
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _asked(prompt: Json) -> tuple[Message, ...]:
    """A prompt is a text, or messages as JSON."""
    given = parsed(prompt)
    return messages_of(given if isinstance(given, list) else prompt)


def _checks(asserts: Json, given: Mapping[str, Json]) -> dict[str, Json]:
    """What the assertions say that a case says, too; scripts and judges are left to the person who reviews."""
    checks: dict[str, Json] = {}
    for each in map(mapping, items(asserts)):
        kind, value = text(each.get("type")) or "", _with(each.get("value"), given)
        if kind in _VALID_CALLS:
            checks.setdefault("expect", "any_call")
        elif kind == "tool-call-f1":
            names = value.split(",") if isinstance(value, str) else items(value)
            checks["expect"] = [{str(name).strip(): {"$ignore": True}} for name in names]
        elif kind in ("contains", "icontains", "equals") and isinstance(value, str) and value:
            checks["answer"] = value if kind == "equals" else {"$contains": value}
    return checks


def _with(value: Json, given: Mapping[str, Json]) -> Json:
    """The value of an assertion with the variables of its test; None where it says more than that."""
    if not isinstance(value, str):
        return value
    try:
        filled = _VARIABLE.sub(lambda found: _filled(found, given), value)
    except NotSaid:
        return None
    return None if _TEMPLATE.search(_VARIABLE.sub("", value)) else filled


def _tools(told: Mapping[str, Json]) -> tuple[Tool, ...]:
    found: dict[str, Tool] = {}
    for provider in items(told.get("providers")):
        config = mapping(mapping(provider).get("config"))
        for tool in tools_of(first(config, "tools", "functions")):
            found.setdefault(tool.name, tool)
    return tuple(found.values())
