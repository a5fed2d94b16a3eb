"""The files of NESTFUL: its questions, and the prompt and the examples in its code."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pytest_fcall.core.case import FaultyCase, Location
from pytest_fcall.core.json_data import read_json as read_json_text
from pytest_fcall.core.values import Json, Message
from pytest_fcall.suites.json_files import (
    BrokenRow,
    broken_case,
    find_file,
    objects_field,
    read_json,
    read_rows,
    required_file,
    required_path,
    string_field,
    text_field,
)
from pytest_fcall.suites.original_code import parse_module

HOW_TO_GET_IT: Final = (
    "get https://github.com/IBM/NESTFUL, and name its folder, or the one above it, with path: or --fc-suite-path"
)
_FOLDERS: Final = ("", "NESTFUL")
_QUESTIONS: Final = "data_v2/nestful_data.jsonl"
_EXAMPLES: Final = 3
_PROMPT: Final = "deepseek_prompt_input"
"""The function with the one prompt of the original that is made of messages, and not of the text of one template."""


@dataclass(frozen=True, slots=True)
class NestfulQuestion:
    """A question with the functions that are offered for it, and the right calls."""

    id: str
    location: Location
    text: str
    tools: Json
    right: Sequence[Mapping[str, Json]]


def find_questions(path: Path | None) -> Path | None:
    """Return the file with the questions; None without one."""
    return None if path is None else find_file(path, _QUESTIONS, _FOLDERS)


def read_questions(path: Path | None) -> Iterator[NestfulQuestion | FaultyCase]:
    """Yield all questions. Raises ValueError or OSError where there are none."""
    folder = required_path(path, "nestful", HOW_TO_GET_IT)
    file = find_questions(folder)
    if file is None:
        raise ValueError(f"no {_QUESTIONS} in {folder}: {HOW_TO_GET_IT}")
    for number, row in enumerate(read_rows(file), 1):
        try:
            yield _question(row.location, row.record)
        except BrokenRow as error:
            yield broken_case(f"nestful_{number}", row.location, str(error))


def _question(location: Location, row: Mapping[str, Json]) -> NestfulQuestion:
    tools = value_of(row, "tools")
    objects_field({"tools": tools}, "tools")
    id_ = text_field(row, "sample_id")
    if not id_.isprintable() or "::" in id_:
        raise BrokenRow("`sample_id` has unprintable characters, or `::`")
    return NestfulQuestion(id_, location, string_field(row, "input"), tools, right_calls(row))


def right_calls(row: Mapping[str, Json]) -> list[Mapping[str, Json]]:
    """Return the right calls of a row. Raises BrokenRow."""
    calls = objects_field({"output": value_of(row, "output")}, "output")
    if not calls or not all(_is_call(call) for call in calls):
        raise BrokenRow("`output` must be a list of calls with `name`, `arguments` and, if others refer to it, `label`")
    return calls


def _is_call(call: Mapping[str, Json]) -> bool:
    return (
        isinstance(call.get("name"), str)
        and isinstance(call.get("arguments"), Mapping)
        and isinstance(call.get("label", ""), str)
    )


def value_of(row: Mapping[str, Json], name: str) -> Json:
    """Return a field, which is JSON text in some files. Raises BrokenRow."""
    value = row.get(name)
    if not isinstance(value, str):
        return value
    try:
        return read_json_text(value)
    except ValueError as error:
        raise BrokenRow(f"`{name}` is {error}") from None


class NestfulPrompt:
    """The original's prompt for chat models, with its examples. Raises ValueError where it cannot be read."""

    def __init__(self, path: Path) -> None:
        names = ("instruct_data_prep.py", "icl_examples.json")
        code, examples = (required_file(path, f"src/{name}", _FOLDERS, HOW_TO_GET_IT) for name in names)
        self._template = _prompt_template(code)
        self._examples = "".join(_example_texts(examples))

    def messages(self, question: NestfulQuestion) -> tuple[Message, ...]:
        """Return the messages of a question. Functions are JSON in JSON, as in the original."""
        values = {"function": json.dumps(json.dumps(question.tools)), "icl_str": self._examples}
        system = "".join(part.text if isinstance(part, _Text) else values[part] for part in self._template)
        return {"role": "system", "content": system}, {"role": "user", "content": question.text}


@dataclass(frozen=True, slots=True)
class _Text:
    """A part of the prompt that is the same for all questions."""

    text: str


def _prompt_template(file: Path) -> list[_Text | str]:
    """The parts of the system prompt: texts, and the names of values."""
    functions = (each for each in parse_module(file).body if isinstance(each, ast.FunctionDef) and each.name == _PROMPT)
    for statement in (each for function in functions for each in function.body):
        match statement:
            case ast.Assign(targets=[ast.Name("system_prompt")], value=value):
                return [*_parts(value, file)]
    raise _unknown_version(file)


def _parts(node: ast.expr, file: Path) -> Iterator[_Text | str]:
    match node:
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            yield from _parts(left, file)
            yield from _parts(right, file)
        case ast.Constant(str() as text):
            yield _Text(text)
        case ast.Name("icl_str" as name) | ast.Call(args=[ast.Name("function" as name)]):
            yield name
        case _:
            raise _unknown_version(file)


def _unknown_version(file: Path) -> ValueError:
    return ValueError(f"{file} is not that of NESTFUL: it makes no `system_prompt` of known parts in {_PROMPT}()")


def _example_texts(file: Path) -> Iterator[str]:
    examples = read_json(file)
    for number, each in enumerate(examples[:_EXAMPLES] if isinstance(examples, list) else [], 1):
        match each:
            case {"input": str(asked), "output": output}:
                yield f"\n#Example-{number}\nInput: {asked}\nOutput: {json.dumps(output)}\n"
            case _:
                raise ValueError(f"{file}: an example needs `input` and `output`")
