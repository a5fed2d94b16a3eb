"""promptfoo: its configuration with the files that it names, and the results of its runs."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from itertools import islice, product
from pathlib import Path
from typing import Final, TypeGuard

from pytest_fcall.core import Json, Message, Tool
from pytest_fcall.traces.record import Record, SkippedEntry, UnreadableTrace, UnusableRecord
from pytest_fcall.traces.request_parts import messages_of, tools_of
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

UNREAD_KEY: Final = "fcall:unread"
"""The key under which, in the place of what a file holds, stands why it was not read."""

_FILE: Final = "file://"
_VALUE_SUFFIXES: Final = (".yaml", ".yml", ".json")
_TEXT_SUFFIXES: Final = (".txt", ".md", ".j2")
_MOST_FILES: Final = 1000
"""So many files may a pattern stand for."""


def with_files(told: Mapping[str, Json], folder: Path) -> Mapping[str, Json]:
    """The configuration with what its `file://` stand for, as far as that lies in `folder` and is no program."""
    files = _ConfigurationFiles(folder)
    prompts, tests, default = told.get("prompts"), told.get("tests"), mapping(told.get("defaultTest"))
    if prompts is None or tests is None:
        return told
    return {
        **told,
        "prompts": [prompt for each in _as_list(prompts) for prompt in files.prompts(each)],
        "tests": [test for each in _as_list(tests) for test in files.tests(each)],
        "defaultTest": files.test(default),
    }


def _as_list(told: Json) -> list[Json]:
    """Several, or one; prompts may also be a mapping of files to labels."""
    return list(told) if isinstance(told, Mapping) else [told] if isinstance(told, str) else list(items(told))


class _ConfigurationFiles:
    """The files below one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()

    def prompts(self, told: Json) -> Iterator[Json]:
        """The prompts that one entry stands for; several may stand in one file, with `---` between them."""
        written = (
            told
            if isinstance(told, str)
            else next(filter(_is_file_reference, map(mapping(told).get, ("raw", "id"))), None)
        )
        if not _is_file_reference(written):
            yield told
            return
        for path, content in self._of(str(written)):
            if path.suffix in _TEXT_SUFFIXES and isinstance(content, str):
                yield from (part.strip() for part in content.split("\n---\n") if part.strip())
            else:
                yield content if isinstance(content, str) or _is_unread(content) else json.dumps(content)

    def tests(self, told: Json) -> Iterator[Json]:
        """The tests that one entry stands for."""
        if not _is_file_reference(told):
            yield self.test(mapping(told))
            return
        for _, content in self._of(str(told)):
            if _is_unread(content):
                yield content
            else:
                yield from (self.test(mapping(each)) for each in items(content))

    def test(self, told: Mapping[str, Json]) -> Mapping[str, Json]:
        """A test with the values of its variables."""
        given = told.get("vars")
        if _is_file_reference(given):
            given = next((content for _, content in self._of(str(given))), None)
        if _is_unread(given):
            return mapping(given)
        return {**told, "vars": {name: self._value(value) for name, value in mapping(given).items()}}

    def _value(self, told: Json) -> Json:
        if not _is_file_reference(told):
            return told
        found = [content for _, content in self._of(str(told))]
        return found[0] if len(found) == 1 else found

    def _of(self, written: str) -> Iterator[tuple[Path, Json]]:
        """What a reference stands for: a file, or all that fit a pattern."""
        name = written.removeprefix(_FILE).removeprefix("./")
        try:
            fitting = sorted(self._folder.glob(name))[:_MOST_FILES] if "*" in name else [self._folder / name]
        except (ValueError, NotImplementedError, OSError):
            fitting = []
        if not fitting:
            yield Path(name), {UNREAD_KEY: f"there is no file {name[:80]}"}
        for path in fitting:
            try:
                yield path, self._content(path)
            except UnreadableTrace as why:
                yield path, {UNREAD_KEY: f"{path.name[:80]}: {why}"}

    def _content(self, path: Path) -> Json:
        try:
            if not path.resolve().is_relative_to(self._folder):
                raise UnreadableTrace("it lies outside of the folder of the configuration")
            if path.suffix not in (*_VALUE_SUFFIXES, *_TEXT_SUFFIXES, ".csv", ".jsonl"):
                raise UnreadableTrace("only text, YAML, JSON and CSV are read: programs are never run")
            if not path.is_file():
                raise UnreadableTrace("there is no such file")
            with path.open("rb") as file:
                content = file.read(MOST_BYTES + 1)
        except (OSError, ValueError) as error:
            if isinstance(error, UnreadableTrace):
                raise
            raise UnreadableTrace(f"it cannot be read: {getattr(error, 'strerror', None) or error}") from None
        return _file_value(content, path)


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
    """The tests of a table: each column is a variable, but for those that begin with two underscores."""
    try:
        rows = list(csv.DictReader(StringIO(written)))
    except csv.Error as error:
        raise UnreadableTrace(f"it is no table: {error}") from None
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
    """An assertion of a table: `contains: Oslo`, or the very answer."""
    kind, colon, value = written.partition(":")
    if colon and kind.strip().replace("-", "").isalpha() and kind.strip().islower():
        return {"type": kind.strip(), "value": value.strip()}
    return {"type": "equals", "value": written}


def _is_file_reference(told: Json) -> bool:
    return isinstance(told, str) and told.startswith(_FILE)


def _is_unread(told: Json) -> bool:
    return UNREAD_KEY in mapping(told)


def why_unread(told: Json) -> str:
    """Why something could not be read; empty where it was."""
    return text(mapping(told).get(UNREAD_KEY)) or ""


_VARIABLE: Final = re.compile(r"\{\{-?\s*([\w.]+)\s*-?\}\}")
_TEMPLATE: Final = re.compile(r"\{\{|\{%")
_MOST_TESTS: Final = 1000
"""So many tests may the values of one make."""
_VALID_CALLS: Final = ("is-valid-openai-tools-call", "is-valid-openai-function-call")


def recognises(told: Mapping[str, Json]) -> bool:
    """Whether it is a configuration, the results of a run, or one of them."""
    return ("prompts" in told and "tests" in told) or bool(_result_rows(told))


def read(told: Mapping[str, Json], place: str) -> Iterator[Record | SkippedEntry]:
    """Each result is a record; of a configuration, each test with each prompt."""
    rows = _result_rows(told)
    tools = _provider_tools(mapping(told.get("config")) if rows else told)
    prompts = items(mapping(told.get("results")).get("prompts"))
    for number, row in enumerate(rows or _tests(told), 1):
        where = f"{place}: {'result' if rows else 'test'} {number}"
        try:
            yield (
                _result_record(mapping(row), prompts, where, tools)
                if rows
                else _test_record(mapping(row), where, tools)
            )
        except UnusableRecord as why:
            yield SkippedEntry(where, str(why))


def _result_rows(told: Mapping[str, Json]) -> Sequence[Json]:
    if "promptIdx" in told and "response" in told:  # as JSON lines have them
        return (told,)
    results = told.get("results")
    rows = mapping(results).get("results") if isinstance(results, Mapping) else results
    return rows if isinstance(rows, list) and all(mapping(row).keys() & {"prompt", "promptIdx"} for row in rows) else ()


def _result_record(row: Mapping[str, Json], prompts: Sequence[Json], place: str, tools: tuple[Tool, ...]) -> Record:
    response = mapping(row.get("response"))
    output = first(response, "output") or row.get("output")
    if row.get("error") or response.get("error") or output is None:
        raise UnusableRecord("it has no answer")
    return Record(
        trail=(*_prompt_messages(_row_prompt(row, prompts)), *_answer_messages(output)),
        place=place,
        tools=tools,
        model=text(mapping(row.get("provider")).get("id")) or text(row.get("provider")) or "",
    )


def _row_prompt(row: Mapping[str, Json], prompts: Sequence[Json]) -> Json:
    """What was asked: as the row has it, or the prompt that it names, with the row's values."""
    index = row.get("promptIdx")
    named = prompts[index] if isinstance(index, int) and 0 <= index < len(prompts) else None
    prompt = row.get("prompt") or named
    asked = mapping(prompt).get("raw") if isinstance(prompt, Mapping) else prompt
    if asked is None:
        raise UnusableRecord("it does not say what was asked")
    given = mapping(first(row, "vars") or mapping(row.get("testCase")).get("vars"))
    return _with_known_values(asked, given) if isinstance(asked, str) and _VARIABLE.search(asked) else asked


def _with_known_values(asked: str, given: Mapping[str, Json]) -> str:
    """A prompt with the values that there are: braces may also be what somebody wrote."""
    return _VARIABLE.sub(lambda found: _variable_text(found, given) if found[1] in given else found[0], asked)


def _answer_messages(output: Json) -> tuple[Message, ...]:
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
            for values in _value_combinations({**mapping(default.get("vars")), **mapping(given.get("vars"))}):
                yield {
                    "prompt": raw,
                    "vars": values,
                    "assert": [*items(default.get("assert")), *items(given.get("assert"))],
                    "why": why_unread(prompt) or why_unread(test) or why_unread(default),
                }


def _value_combinations(given: Mapping[str, Json]) -> Iterator[Mapping[str, Json]]:
    several = [
        [(name, each) for each in value] if _is_several(value) else [(name, value)] for name, value in given.items()
    ]
    return (dict(values) for values in islice(product(*several), _MOST_TESTS))


def _is_several(value: Json) -> TypeGuard[list[Json]]:
    return isinstance(value, list) and bool(value)


def _test_record(test: Mapping[str, Json], place: str, tools: tuple[Tool, ...]) -> Record:
    prompt, given = test["prompt"], mapping(test["vars"])
    if why := test["why"]:
        raise UnusableRecord(str(why))
    if not isinstance(prompt, str):
        raise UnusableRecord("its prompt is no text")
    filled = _VARIABLE.sub(lambda found: _variable_text(found, given), prompt)
    if _TEMPLATE.search(_VARIABLE.sub("", prompt)):
        raise UnusableRecord("its prompt is a template that does more than to put in values")
    return Record(trail=_prompt_messages(filled), place=place, tools=tools, checks=_checks(test["assert"], given))


def _variable_text(found: re.Match[str], given: Mapping[str, Json]) -> str:
    if found[1] not in given:
        raise UnusableRecord(f"its prompt wants {found[1]!r}, which the test does not give")
    value = given[found[1]]
    if why := why_unread(value):
        raise UnusableRecord(f"the value of {found[1]!r} is not known: {why}")
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _prompt_messages(prompt: Json) -> tuple[Message, ...]:
    """A prompt is a text, or messages as JSON."""
    given = parsed(prompt)
    return messages_of(given if isinstance(given, list) else prompt)


def _checks(asserts: Json, given: Mapping[str, Json]) -> dict[str, Json]:
    """What the assertions say that a case says, too; scripts and judges are left to the person who reviews."""
    checks: dict[str, Json] = {}
    for each in map(mapping, items(asserts)):
        kind, value = text(each.get("type")) or "", _assertion_value(each.get("value"), given)
        if kind in _VALID_CALLS:
            checks.setdefault("expect", "any_call")
        elif kind == "tool-call-f1":
            names = value.split(",") if isinstance(value, str) else items(value)
            checks["expect"] = [{str(name).strip(): {"$ignore": True}} for name in names]
        elif kind in ("contains", "icontains", "equals") and isinstance(value, str) and value:
            checks["answer"] = value if kind == "equals" else {"$contains": value}
    return checks


def _assertion_value(value: Json, given: Mapping[str, Json]) -> Json:
    """The value of an assertion with the variables of its test; None where it says more than that."""
    if not isinstance(value, str):
        return value
    try:
        filled = _VARIABLE.sub(lambda found: _variable_text(found, given), value)
    except UnusableRecord:
        return None
    return None if _TEMPLATE.search(_VARIABLE.sub("", value)) else filled


def _provider_tools(told: Mapping[str, Json]) -> tuple[Tool, ...]:
    found: dict[str, Tool] = {}
    for provider in items(told.get("providers")):
        config = mapping(mapping(provider).get("config"))
        for tool in tools_of(first(config, "tools", "functions")):
            found.setdefault(tool.name, tool)
    return tuple(found.values())
