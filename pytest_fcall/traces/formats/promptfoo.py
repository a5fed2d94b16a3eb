"""promptfoo: configurations with the files that they name, and results of runs."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from itertools import islice, product
from pathlib import Path
from typing import Final

from pytest_fcall.core import Json, Message, Tool
from pytest_fcall.traces.record import Record, SkippedEntry, UnreadableTrace, UnusableRecord
from pytest_fcall.traces.request_parts import messages_of, tools_in
from pytest_fcall.traces.values import (
    MOST_BYTES,
    document_text,
    document_value,
    first,
    items,
    mapping,
    parsed,
    read_json,
    text,
)

_UNREAD_KEY: Final = "fcall:unread"
"""A mapping with this key stands for the content of a file that was not read. Its value is the reason."""
_FILE: Final = "file://"
_VALUE_SUFFIXES: Final = (".yaml", ".yml", ".json")
_TEXT_SUFFIXES: Final = (".txt", ".md", ".j2")
_MOST_FILES: Final = 1000
"""The most files that one pattern matches."""
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
        raw = prompt if isinstance(prompt, str) or _unread_reason(prompt) else first(mapping(prompt), "raw", "content")
        for each in items(data["tests"]):
            test = mapping(each)
            for variables in _value_combinations({**mapping(default.get("vars")), **mapping(test.get("vars"))}):
                yield {
                    "prompt": raw,
                    "vars": variables,
                    "assert": [*items(default.get("assert")), *items(test.get("assert"))],
                    "unread": _unread_reason(prompt) or _unread_reason(test) or _unread_reason(default),
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
    if reason := _unread_reason(value):
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


def with_files(data: Mapping[str, Json], folder: Path) -> Mapping[str, Json]:
    """The configuration with the content of its `file://` references.

    Files outside `folder` and programs are not read.
    """
    files = _ConfigurationFiles(folder)
    prompts, tests, default = data.get("prompts"), data.get("tests"), mapping(data.get("defaultTest"))
    if prompts is None or tests is None:
        return data
    return {
        **data,
        "prompts": [prompt for each in _as_list(prompts) for prompt in files.prompts(each)],
        "tests": [test for each in _as_list(tests) for test in files.tests(each)],
        "defaultTest": files.test(default),
    }


def _as_list(data: Json) -> list[Json]:
    """A list of the entries. A mapping has files as keys, and labels as values."""
    return list(data) if isinstance(data, Mapping) else [data] if isinstance(data, str) else list(items(data))


class _ConfigurationFiles:
    """Reads the files below one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()

    def prompts(self, entry: Json) -> Iterator[Json]:
        """The prompts of one entry. In a text file, `---` separates them."""
        fields = mapping(entry)
        candidates = [entry] if isinstance(entry, str) else [fields.get("raw"), fields.get("id")]
        reference = next(filter(_is_reference, candidates), None)
        if reference is None:
            yield entry
            return
        for path, content in self._contents(str(reference)):
            if path.suffix in _TEXT_SUFFIXES and isinstance(content, str):
                yield from (part.strip() for part in content.split("\n---\n") if part.strip())
            else:
                yield content if isinstance(content, str) or _unread_reason(content) else json.dumps(content)

    def tests(self, entry: Json) -> Iterator[Json]:
        """The tests of one entry."""
        if not _is_reference(entry):
            yield self.test(mapping(entry))
            return
        for _, content in self._contents(str(entry)):
            if _unread_reason(content):
                yield content
            else:
                yield from (self.test(mapping(each)) for each in items(content))

    def test(self, data: Mapping[str, Json]) -> Mapping[str, Json]:
        """A test with the values of its variables."""
        variables = data.get("vars")
        if _is_reference(variables):
            variables = next((content for _, content in self._contents(str(variables))), None)
        if _unread_reason(variables):
            return mapping(variables)
        return {**data, "vars": {name: self._value(value) for name, value in mapping(variables).items()}}

    def _value(self, value: Json) -> Json:
        if not _is_reference(value):
            return value
        contents = [content for _, content in self._contents(str(value))]
        return contents[0] if len(contents) == 1 else contents

    def _contents(self, reference: str) -> Iterator[tuple[Path, Json]]:
        """The content of the file, or of all files that the pattern matches."""
        name = reference.removeprefix(_FILE).removeprefix("./")
        try:
            paths = sorted(self._folder.glob(name))[:_MOST_FILES] if "*" in name else [self._folder / name]
        except (ValueError, NotImplementedError, OSError):
            paths = []
        if not paths:
            yield Path(name), {_UNREAD_KEY: f"no such file: {name[:80]}"}
        for path in paths:
            try:
                yield path, self._content(path)
            except UnreadableTrace as problem:
                yield path, {_UNREAD_KEY: f"{path.name[:80]}: {problem}"}

    def _content(self, path: Path) -> Json:
        """The content of a file. Raises UnreadableTrace."""
        try:
            inside, exists = path.resolve().is_relative_to(self._folder), path.is_file()
        except (OSError, ValueError) as error:
            raise _unreadable_file(error) from None
        if not inside:
            raise UnreadableTrace("the file is outside of the folder of the configuration")
        if path.suffix not in (*_VALUE_SUFFIXES, *_TEXT_SUFFIXES, ".csv", ".jsonl"):
            raise UnreadableTrace("only text, YAML, JSON and CSV are read; programs are never run")
        if not exists:
            raise UnreadableTrace("no such file")
        try:
            with path.open("rb") as file:
                content = file.read(MOST_BYTES + 1)
        except OSError as error:
            raise _unreadable_file(error) from None
        return _file_value(content, path)


def _unreadable_file(error: OSError | ValueError) -> UnreadableTrace:
    return UnreadableTrace(f"the file cannot be read: {getattr(error, 'strerror', None) or error}")


def _file_value(content: bytes, path: Path) -> Json:
    if path.suffix in _VALUE_SUFFIXES:
        return document_value(content, path.name)
    written = document_text(content)
    if path.suffix == ".csv":
        return _table_tests(written)
    if path.suffix == ".jsonl":
        try:
            return [read_json(line) for line in written.splitlines() if line.strip()]
        except ValueError as error:
            raise UnreadableTrace(str(error)) from None
    return written


def _table_tests(written: str) -> Json:
    """The tests of a table. Its columns are variables, except those that begin with two underscores."""
    try:
        rows = list(csv.DictReader(StringIO(written)))
    except csv.Error as error:
        raise UnreadableTrace(f"not a CSV table: {error}") from None
    return [
        {
            "vars": {name: value or "" for name, value in row.items() if name and not name.startswith("__")},
            "assert": [
                _table_assertion(value)
                for name, value in row.items()
                if name and name.startswith("__expected") and value
            ],
        }
        for row in rows
    ]


def _table_assertion(written: str) -> Json:
    """An assertion in a table: a type and a value, such as `contains: Oslo`, or the exact answer."""
    kind, colon, value = written.partition(":")
    if colon and kind.strip().replace("-", "").isalpha() and kind.strip().islower():
        return {"type": kind.strip(), "value": value.strip()}
    return {"type": "equals", "value": written}


def _is_reference(value: Json) -> bool:
    return isinstance(value, str) and value.startswith(_FILE)


def _unread_reason(value: Json) -> str:
    """The reason why a file was not read; empty where the value stands for no such file."""
    return text(mapping(value).get(_UNREAD_KEY)) or ""
