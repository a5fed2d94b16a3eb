"""Answers questions about schemas, YAML and expressions by whichever libraries there are.

The test imports it beside the compiled ones, and a process imports it beside the playground's.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from typing import Any

from pytest_fcall.cases.faults import SourceFile, UnreadableFile
from pytest_fcall.cases.yaml.reader import read_yaml
from pytest_fcall.core import Tool
from pytest_fcall.core.bounded_text import compiled_expression
from pytest_fcall.schema.errors import SchemaError
from pytest_fcall.schema.tool_schema import tool_schema


def schema(question: Any) -> Any:
    """The findings about each value of a question, or that the schema is none."""
    parameters, values = question
    try:
        compiled = tool_schema(Tool("t", "", parameters))
    except SchemaError as error:
        return ["no schema", list(error.path)]
    found = []
    for value in values:
        findings = compiled.check(value)
        # Both are asked, since validity is found in another way than errors.
        is_valid = compiled.allows(value)
        parts = [[name, len(compiled.check_at((name,), item))] for name, item in value.items()]
        found.append(
            [is_valid, sorted([each.kind, list(map(str, each.path)), each.message] for each in findings), parts]
        )
    return found


def document(text: Any) -> Any:
    """The nodes of a YAML text, with their places, or its fault."""
    try:
        return _node(read_yaml(SourceFile("a.yaml", text)))
    except UnreadableFile as error:
        return ["fault", error.fault.message, error.fault.location.line, error.fault.location.column]


def _node(node: Any) -> Any:
    if node is None:
        return None
    place = [node.start_mark.line, node.start_mark.column, node.start_mark.index]
    value = node.value
    if isinstance(value, list):
        value = [[_node(part) for part in item] if isinstance(item, tuple) else _node(item) for item in value]
    return [node.tag, place, value]


def expression(question: Any) -> Any:
    """Whether each text matches an expression from end to end, or that the expression is none."""
    written, texts = question
    try:
        compiled = compiled_expression(written)
    except ValueError:
        return "not an expression"
    except BaseException as error:
        if type(error).__name__ == "Unavailable":
            return "unavailable"
        raise
    return [compiled.fullmatch(text, timeout=1) is not None for text in texts]


def judged(question: Any) -> Any:
    """The results of the playground."""
    return json.loads(import_module("judge").judge_text(*question))


def serve() -> None:
    """Answer lines of questions until there are no more."""
    for line in sys.stdin:
        name, questions = json.loads(line)
        print(json.dumps([globals()[name](each) for each in questions]), flush=True)
