"""promptfoo: configurations, and results of runs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product
from typing import Final, NamedTuple

from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json, Message
from pytest_fcall.traces.formats.promptfoo_assertions import MappedAssertions, expectation_of
from pytest_fcall.traces.formats.promptfoo_files import unread_reason
from pytest_fcall.traces.record import Record, SkippedEntry, UnusableRecord
from pytest_fcall.traces.request_parts import messages_of, tools_in
from pytest_fcall.traces.values import first_field, items, mapping, parse_json_text, text

_MOST_TESTS: Final = 1000
"""The most tests that the values of one test make."""
_VARIABLE: Final = re.compile(r"\{\{-?\s*([\w.]+)\s*-?\}\}")
_TEMPLATE: Final = re.compile(r"\{\{|\{%")
_REFERENCE: Final = "#/assertionTemplates/"
_LONGEST_SKIP: Final = 300
_SKIP: Final = "write what is still to be asserted, then take this line away; promptfoo asserted: "


def matches(data: Mapping[str, Json]) -> bool:
    """Whether it is a configuration, the results of a run, or a single result."""
    return ("prompts" in data and "tests" in data) or bool(_result_rows(data))


def read(data: Mapping[str, Json], place: str) -> Iterator[Record | SkippedEntry]:
    """A record for each result; for a configuration, one for each test with each prompt."""
    rows = _result_rows(data)
    configuration = mapping(data.get("config")) if rows else data
    tools = _provider_tools(configuration)
    if not rows:
        yield from _test_records(data, place, tools)
        return
    prompts = items(mapping(data.get("results")).get("prompts"))
    transform = _common_transform(configuration)
    for number, row in enumerate(map(mapping, rows), 1):
        where = f"{place}: result {number}"
        try:
            yield _result_record(row, prompts, where, tools, transform)
        except UnusableRecord as problem:
            yield SkippedEntry(where, str(problem))


def _common_transform(configuration: Mapping[str, Json]) -> Json:
    """The transformation of an output by a provider, or by each test, before it is judged; None for none."""
    for provider in map(mapping, items(configuration.get("providers"))):
        own = first_field(provider, "transform") or first_field(
            mapping(provider.get("config")), "transform", "transformResponse"
        )
        if own is not None:
            return own
    return _test_transform(mapping(configuration.get("defaultTest")))


def _test_transform(test: Mapping[str, Json]) -> Json:
    return first_field(mapping(test.get("options")), "transform", "postprocess")


def _provider_tools(data: Mapping[str, Json]) -> tuple[Tool, ...]:
    tools: dict[str, Tool] = {}
    for provider in items(data.get("providers")):
        for tool in tools_in(mapping(mapping(provider).get("config"))):
            tools.setdefault(tool.name, tool)
    return tuple(tools.values())


def _prompt_messages(prompt: Json) -> tuple[Message, ...]:
    """The messages of a prompt, which is a string, or messages as JSON."""
    value = parse_json_text(prompt)
    return messages_of(value if isinstance(value, list) else prompt)


def _result_rows(data: Mapping[str, Json]) -> Sequence[Json]:
    if "promptIdx" in data and "response" in data:  # a line of JSON Lines
        return (data,)
    results = data.get("results")
    rows = mapping(results).get("results") if isinstance(results, Mapping) else results
    return rows if isinstance(rows, list) and all(mapping(row).keys() & {"prompt", "promptIdx"} for row in rows) else ()


def _result_record(
    row: Mapping[str, Json], prompts: Sequence[Json], place: str, tools: tuple[Tool, ...], transform: Json
) -> Record:
    response = mapping(row.get("response"))
    output = first_field(response, "output") or row.get("output")
    if transform is not None or _test_transform(mapping(row.get("testCase"))) is not None:
        output = _untransformed_output(response)
    if row.get("error") or response.get("error") or output is None:
        raise UnusableRecord("there is no answer")
    return Record(
        messages=(*_prompt_messages(_row_prompt(row, prompts)), *_answer_messages(output)),
        place=place,
        tools=tools,
        model=text(mapping(row.get("provider")).get("id")) or text(row.get("provider")) or "",
    )


def _untransformed_output(response: Mapping[str, Json]) -> Json:
    """The answer of the model, where the output is something else. Raises UnusableRecord."""
    choice = mapping(next(iter(items(mapping(parse_json_text(response.get("raw"))).get("choices"))), None))
    if not choice.get("message"):
        raise UnusableRecord("a `transform` made the output, and what the model answered is not in the results")
    return choice["message"]


def _row_prompt(row: Mapping[str, Json], prompts: Sequence[Json]) -> Json:
    """The prompt of the row, or the one that it refers to, with the variables of the row.

    A variable without a value stays: the braces may be part of the prompt.
    """
    index = row.get("promptIdx")
    prompt = row.get("prompt") or (prompts[index] if isinstance(index, int) and 0 <= index < len(prompts) else None)
    raw = mapping(prompt).get("raw") if isinstance(prompt, Mapping) else prompt
    if raw is None:
        raise UnusableRecord("the row has no prompt")
    variables = mapping(first_field(row, "vars") or mapping(row.get("testCase")).get("vars"))
    if not isinstance(raw, str):
        return raw
    return _VARIABLE.sub(lambda match: _variable_text(match, variables) if match[1] in variables else match[0], raw)


def _answer_messages(output: Json) -> tuple[Message, ...]:
    """The answer, which is a string, a list of calls, or a message with calls."""
    value = parse_json_text(output)
    listed = value if isinstance(value, list) else mapping(value).get("tool_calls")
    calls = [mapping(each) for each in items(listed)]
    if calls and all("function" in each or "name" in each for each in calls):
        return messages_of({"role": "assistant", "content": mapping(value).get("content"), "tool_calls": calls})
    return ({"role": "assistant", "content": output if isinstance(output, str) else str(output)},)


class _Test(NamedTuple):
    """A test of a configuration with one prompt, and with one value of each variable."""

    prompt: Json
    test: Mapping[str, Json]
    variables: Mapping[str, Json]
    assertions: list[Json]
    options: Mapping[str, Json]


def _tests(data: Mapping[str, Json]) -> Iterator[_Test]:
    """Each prompt with each test and the defaults. Variables with several values make several tests."""
    default = mapping(data.get("defaultTest"))
    for prompt in items(data["prompts"]):
        raw = (
            prompt
            if isinstance(prompt, str) or unread_reason(prompt)
            else first_field(mapping(prompt), "raw", "content")
        )
        for each in items(data["tests"]):
            test = mapping(each)
            common = {"fcall:unread": reason} if (reason := unread_reason(prompt) or unread_reason(default)) else {}
            assertions = [*items(default.get("assert")), *items(test.get("assert"))]
            options = {**mapping(default.get("options")), **mapping(test.get("options"))}
            for variables in _value_combinations({**mapping(default.get("vars")), **mapping(test.get("vars"))}):
                yield _Test(raw, {**default, **test, **common}, variables, assertions, options)


def _test_records(data: Mapping[str, Json], place: str, tools: tuple[Tool, ...]) -> Iterator[Record | SkippedEntry]:
    templates = mapping(data.get("assertionTemplates"))
    common = _common_transform({**data, "defaultTest": {}})
    for number, test in enumerate(_tests(data), 1):
        where = f"{place}: test {number}"
        try:
            messages, expectation = _test_messages(test), _test_expectation(test, tools, templates, common)
        except UnusableRecord as problem:
            yield SkippedEntry(where, str(problem))
            continue
        for each in expectation.unmapped:
            yield SkippedEntry(each.place or where, f"no case can hold the assertion {each.reason}")
        if expectation.keys or not expectation.unmapped:
            reasons = ", ".join(dict.fromkeys(each.reason for each in expectation.unmapped))
            yield Record(
                messages,
                where,
                tools,
                expectation=expectation.keys,
                skip=f"{_SKIP}{reasons}"[:_LONGEST_SKIP] if reasons else "",
            )
        else:
            yield SkippedEntry(where, "the test asserts nothing that a case can hold")


def _test_messages(test: _Test) -> tuple[Message, ...]:
    """The messages of a test. Raises UnusableRecord."""
    if reason := unread_reason(test.test):
        raise UnusableRecord(reason)
    if not isinstance(test.prompt, str):
        raise UnusableRecord("the prompt is not a string")
    if "transformVars" in test.options:
        raise UnusableRecord("`transformVars` makes its variables by a program")
    prompt = f"{text(test.options.get('prefix')) or ''}{test.prompt}{text(test.options.get('suffix')) or ''}"
    filled = _VARIABLE.sub(lambda match: _variable_text(match, test.variables), prompt)
    if _TEMPLATE.search(_VARIABLE.sub("", prompt)):
        raise UnusableRecord("the prompt is a template with more than variables")
    return _prompt_messages(filled)


def _test_expectation(
    test: _Test, tools: tuple[Tool, ...], templates: Mapping[str, Json], common_transform: Json
) -> MappedAssertions:
    """The expectation of a test. Raises UnusableRecord where it does not hold by its assertions alone."""
    if "assertScoringFunction" in test.test or (len(test.assertions) > 1 and test.test.get("threshold") is not None):
        raise UnusableRecord("the test passes by a score, and not by each of its assertions")
    own = first_field(test.options, "transform", "postprocess")
    if own is not None and common_transform is not None:
        raise UnusableRecord("two transforms make its output")
    return expectation_of(
        [_from_template(each, templates) for each in test.assertions],
        own if own is not None else common_transform,
        tools,
        test.variables,
        lambda value: _filled_text(value, test.variables),
    )


def _from_template(assertion: Json, templates: Mapping[str, Json]) -> Json:
    name = (text(mapping(assertion).get("$ref")) or "").removeprefix(_REFERENCE)
    return templates.get(name, assertion) if name else assertion


def _value_combinations(variables: Mapping[str, Json]) -> Iterator[Mapping[str, Json]]:
    choices = [
        [(name, each) for each in value] if isinstance(value, list) and value else [(name, value)]
        for name, value in variables.items()
    ]
    return (dict(values) for values in islice(product(*choices), _MOST_TESTS))


def _variable_text(match: re.Match[str], variables: Mapping[str, Json]) -> str:
    name = match[1]
    if name not in variables:
        raise UnusableRecord(f"the prompt needs {name!r}, which the test does not define")
    value = variables[name]
    if reason := unread_reason(value):
        raise UnusableRecord(f"the value of {name!r} is missing: {reason}")
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _filled_text(value: str, variables: Mapping[str, Json]) -> str | None:
    """The text with the variables of its test. None where it is a template with more than these."""
    try:
        filled = _VARIABLE.sub(lambda match: _variable_text(match, variables), value)
    except UnusableRecord:
        return None
    return None if _TEMPLATE.search(_VARIABLE.sub("", value)) else filled
