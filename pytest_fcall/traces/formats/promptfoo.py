"""promptfoo: configurations, and results of runs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product
from typing import Final

from pytest_fcall.core import Json, Message, Tool
from pytest_fcall.traces.formats.promptfoo_files import unread_reason
from pytest_fcall.traces.record import Record, SkippedEntry, UnusableRecord
from pytest_fcall.traces.request_parts import messages_of, tools_in
from pytest_fcall.traces.values import first, items, mapping, parsed, text

_MOST_TESTS: Final = 1000
"""The most tests that the values of one test make."""
_VARIABLE: Final = re.compile(r"\{\{-?\s*([\w.]+)\s*-?\}\}")
_TEMPLATE: Final = re.compile(r"\{\{|\{%")
_VALID_CALLS: Final = ("is-valid-openai-tools-call", "is-valid-openai-function-call")


def matches(data: Mapping[str, Json]) -> bool:
    """Whether it is a configuration, the results of a run, or a single result."""
    return ("prompts" in data and "tests" in data) or bool(_result_rows(data))


def read(data: Mapping[str, Json], place: str) -> Iterator[Record | SkippedEntry]:
    """A record for each result; for a configuration, one for each test with each prompt."""
    rows = _result_rows(data)
    tools = _provider_tools(mapping(data.get("config")) if rows else data)
    prompts = items(mapping(data.get("results")).get("prompts"))
    for number, row in enumerate(rows or _tests(data), 1):
        where = f"{place}: {'result' if rows else 'test'} {number}"
        try:
            if rows:
                yield _result_record(mapping(row), prompts, where, tools)
            else:
                yield _test_record(mapping(row), where, tools)
        except UnusableRecord as problem:
            yield SkippedEntry(where, str(problem))


def _provider_tools(data: Mapping[str, Json]) -> tuple[Tool, ...]:
    tools: dict[str, Tool] = {}
    for provider in items(data.get("providers")):
        for tool in tools_in(mapping(mapping(provider).get("config"))):
            tools.setdefault(tool.name, tool)
    return tuple(tools.values())


def _prompt_messages(prompt: Json) -> tuple[Message, ...]:
    """The messages of a prompt, which is a string, or messages as JSON."""
    value = parsed(prompt)
    return messages_of(value if isinstance(value, list) else prompt)


def _result_rows(data: Mapping[str, Json]) -> Sequence[Json]:
    if "promptIdx" in data and "response" in data:  # a line of JSON Lines
        return (data,)
    results = data.get("results")
    rows = mapping(results).get("results") if isinstance(results, Mapping) else results
    return rows if isinstance(rows, list) and all(mapping(row).keys() & {"prompt", "promptIdx"} for row in rows) else ()


def _result_record(row: Mapping[str, Json], prompts: Sequence[Json], place: str, tools: tuple[Tool, ...]) -> Record:
    response = mapping(row.get("response"))
    output = first(response, "output") or row.get("output")
    if row.get("error") or response.get("error") or output is None:
        raise UnusableRecord("there is no answer")
    return Record(
        messages=(*_prompt_messages(_row_prompt(row, prompts)), *_answer_messages(output)),
        place=place,
        tools=tools,
        model=text(mapping(row.get("provider")).get("id")) or text(row.get("provider")) or "",
    )


def _row_prompt(row: Mapping[str, Json], prompts: Sequence[Json]) -> Json:
    """The prompt of the row, or the one that it refers to, with the variables of the row.

    A variable without a value stays: the braces may be part of the prompt.
    """
    index = row.get("promptIdx")
    prompt = row.get("prompt") or (prompts[index] if isinstance(index, int) and 0 <= index < len(prompts) else None)
    raw = mapping(prompt).get("raw") if isinstance(prompt, Mapping) else prompt
    if raw is None:
        raise UnusableRecord("the row has no prompt")
    variables = mapping(first(row, "vars") or mapping(row.get("testCase")).get("vars"))
    if not isinstance(raw, str):
        return raw
    return _VARIABLE.sub(lambda match: _variable_text(match, variables) if match[1] in variables else match[0], raw)


def _answer_messages(output: Json) -> tuple[Message, ...]:
    """The answer, which is a string, a list of calls, or a message with calls."""
    value = parsed(output)
    listed = value if isinstance(value, list) else mapping(value).get("tool_calls")
    calls = [mapping(each) for each in items(listed)]
    if calls and all("function" in each or "name" in each for each in calls):
        return messages_of({"role": "assistant", "content": mapping(value).get("content"), "tool_calls": calls})
    return ({"role": "assistant", "content": output if isinstance(output, str) else str(output)},)


def _tests(data: Mapping[str, Json]) -> Iterator[Json]:
    """Each prompt with each test and the defaults. Variables with several values make several tests."""
    default = mapping(data.get("defaultTest"))
    for prompt in items(data["prompts"]):
        raw = prompt if isinstance(prompt, str) or unread_reason(prompt) else first(mapping(prompt), "raw", "content")
        for each in items(data["tests"]):
            test = mapping(each)
            for variables in _value_combinations({**mapping(default.get("vars")), **mapping(test.get("vars"))}):
                yield {
                    "prompt": raw,
                    "vars": variables,
                    "assert": [*items(default.get("assert")), *items(test.get("assert"))],
                    "unread": unread_reason(prompt) or unread_reason(test) or unread_reason(default),
                }


def _value_combinations(variables: Mapping[str, Json]) -> Iterator[Mapping[str, Json]]:
    choices = [
        [(name, each) for each in value] if isinstance(value, list) and value else [(name, value)]
        for name, value in variables.items()
    ]
    return (dict(values) for values in islice(product(*choices), _MOST_TESTS))


def _test_record(test: Mapping[str, Json], place: str, tools: tuple[Tool, ...]) -> Record:
    prompt, variables = test["prompt"], mapping(test["vars"])
    if reason := test["unread"]:
        raise UnusableRecord(str(reason))
    if not isinstance(prompt, str):
        raise UnusableRecord("the prompt is not a string")
    filled = _VARIABLE.sub(lambda match: _variable_text(match, variables), prompt)
    if _TEMPLATE.search(_VARIABLE.sub("", prompt)):
        raise UnusableRecord("the prompt is a template with more than variables")
    return Record(_prompt_messages(filled), place, tools, expectation=_expectation(test["assert"], variables))


def _variable_text(match: re.Match[str], variables: Mapping[str, Json]) -> str:
    name = match[1]
    if name not in variables:
        raise UnusableRecord(f"the prompt needs {name!r}, which the test does not define")
    value = variables[name]
    if reason := unread_reason(value):
        raise UnusableRecord(f"the value of {name!r} is missing: {reason}")
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _expectation(assertions: Json, variables: Mapping[str, Json]) -> dict[str, Json]:
    """The assertions that a case can express, as its keys. Scripts and model-graded ones are left to the reviewer."""
    expectation: dict[str, Json] = {}
    for each in map(mapping, items(assertions)):
        kind, value = text(each.get("type")) or "", _assertion_value(each.get("value"), variables)
        if kind in _VALID_CALLS:
            expectation.setdefault("expect", "any_call")
        elif kind == "tool-call-f1":
            names = value.split(",") if isinstance(value, str) else items(value)
            expectation["expect"] = [{str(name).strip(): {"$ignore": True}} for name in names]
        elif kind in ("contains", "icontains", "equals") and isinstance(value, str) and value:
            expectation["answer"] = value if kind == "equals" else {"$contains": value}
    return expectation


def _assertion_value(value: Json, variables: Mapping[str, Json]) -> Json:
    """The value of an assertion with the variables of its test. None where it is a template with more than these."""
    if not isinstance(value, str):
        return value
    try:
        filled = _VARIABLE.sub(lambda match: _variable_text(match, variables), value)
    except UnusableRecord:
        return None
    return None if _TEMPLATE.search(_VARIABLE.sub("", value)) else filled
