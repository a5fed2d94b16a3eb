"""The leaderboard's system prompts, read from its package, and functions written in their notations."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pytest_fcall.core.values import Json, Message
from pytest_fcall.suites.bfcl.prompt_formats import DEFAULT_FORMAT, Notation, PromptFormat

Document = Mapping[str, Json]

_PYTHON_TYPES: Mapping[str, str] = MappingProxyType(
    {"string": "str", "number": "float", "integer": "int", "boolean": "bool"}
)
_MARGIN = " " * 8


class FunctionTexts:
    """Functions as text, word for word as the official harness writes them. What is odd about a schema is passed over.

    Each is written down once: cases have many in common, and are told of them in several notations.
    """

    def __init__(self) -> None:
        self._written: dict[tuple[Notation, str], str] = {}

    def told(self, documents: Sequence[Document], notation: Notation) -> str:
        """Write functions down."""
        return _JOINERS[notation]([self._one(document, notation) for document in documents])

    def _one(self, document: Document, notation: Notation) -> str:
        key = notation, json.dumps(document)
        if key not in self._written:
            self._written[key] = "".join(_WRITERS[notation](document))
        return self._written[key]


def _json_function(document: Document) -> Iterator[str]:
    yield json.dumps(document, indent=4).replace("\n", "\n    ")


def _json(functions: Sequence[str]) -> str:
    return "[\n    {}\n]".format(",\n    ".join(functions)) if functions else "[]"


def _xml(functions: Sequence[str]) -> str:
    return "\n".join(functions)


def _xml_function(document: Document) -> Iterator[str]:
    parameters = _mapping(document.get("parameters"))
    yield f'<function name="{document.get("name")}">\n'
    yield f"  <desc>{document.get('description', '')}</desc>\n  <params>\n"
    for name, schema in _mapping(parameters.get("properties")).items():
        yield from _xml_parameter(name, _mapping(schema), parameters.get("required"), " " * 4)
    yield "  </params>\n</function>\n"


def _xml_parameter(name: str, schema: Document, required: Json, margin: str) -> Iterator[str]:
    """A parameter, and what it has inside. Commas are dropped from its tag, in its default, too."""
    needed = required is None or (isinstance(required, list) and name in required)
    tag = f'name="{name}" type="{_xml_type(schema)}" required="{str(needed).lower()}"'
    if "default" in schema:
        tag += f' default="{schema["default"]!r}"'
    yield f"{margin}<param {tag.replace(',', '')}>\n{margin}  <desc>{_described(schema)}</desc>\n"
    if "properties" in schema:
        yield f"{margin}  <params>\n"
        for inner, its in _mapping(schema["properties"]).items():
            yield from _xml_parameter(inner, _mapping(its), schema.get("required"), margin + " " * 4)
        yield f"{margin}  </params>\n"
    yield f"{margin}</param>\n"


def _xml_type(schema: Document) -> str:
    told, items = str(schema.get("type", "string")), _mapping(schema.get("items"))
    if "type" in items:
        return f"{told}[{items['type']}]"
    if "additionalProperties" in schema:
        return f"{told}[{_mapping(schema['additionalProperties']).get('type', 'string')}]"
    return told


def _python(functions: Sequence[str]) -> str:
    return "\n\n".join(f"{function}\n\n\n" for function in functions)


def _python_function(document: Document) -> Iterator[str]:
    yield f'# Function: {document.get("name")}\n    """\n    {document.get("description", "")}\n\n'
    if properties := _mapping(_mapping(document.get("parameters")).get("properties")):
        yield "    Args:\n"
        for name, schema in properties.items():
            yield from _python_parameter(name, _mapping(schema), _MARGIN)
    yield '    """\n'


def _python_parameter(name: str, schema: Document, margin: str) -> Iterator[str]:
    default = f", default={schema['default']!r}" if "default" in schema else ""
    yield f"{margin}{name} ({_python_type(schema)}{default}): {_described(schema)}\n"
    for inner, its in _mapping(schema.get("properties")).items():
        yield from _python_parameter(inner, _mapping(its), margin + " " * 4)


def _python_type(schema: Document) -> str:
    told = str(schema.get("type", "string"))
    if told in ("array", "list", "tuple") and "items" in schema:
        return f"list[{_python_type(_mapping(schema['items']))}]"
    if told in ("object", "dict"):
        if "additionalProperties" in schema:
            return f"dict[str, {_python_type(_mapping(schema['additionalProperties']))}]"
        return "dict"
    return _PYTHON_TYPES.get(told, told)


def _described(schema: Document) -> str:
    said = str(schema.get("description", ""))
    return f"{said} Enum values: {schema['enum']}." if "enum" in schema else said


def _mapping(value: Json) -> Document:
    return value if isinstance(value, Mapping) else {}


_WRITERS: Mapping[Notation, Callable[[Document], Iterator[str]]] = MappingProxyType(
    {"json": _json_function, "xml": _xml_function, "python": _python_function}
)
_JOINERS: Mapping[Notation, Callable[[Sequence[str]], str]] = MappingProxyType(
    {"json": _json, "xml": _xml, "python": _python}
)


_PLACES = ("../constants/default_prompts.py", "default_prompts.py")
_BRACES = re.compile(r"\{(\w+)\}")


class Prompt:
    """Tells functions in a system prompt. Raises ValueError, in words, where the package's words are not at hand."""

    def __init__(self, folder: Path) -> None:
        self._words = _constants(folder)
        self._templates = {DEFAULT_FORMAT: _template(self._words, DEFAULT_FORMAT)}
        self._notes = FunctionTexts()

    def told(
        self, messages: Sequence[Message], documents: Sequence[Mapping[str, Json]], form: PromptFormat = DEFAULT_FORMAT
    ) -> tuple[Message, ...]:
        """The messages with the prompt before them, above a system prompt of their own."""
        if form not in self._templates:
            self._templates[form] = _template(self._words, form)
        said = _filled(self._templates[form], {"functions": self._notes.told(documents, form.functions)})
        return with_system_text(said, messages)


def _template(words: Mapping[str, Any], form: PromptFormat) -> str:
    """The prompt in a format, with `{functions}` left to be filled."""
    try:
        style = words["PROMPT_STYLE_TEMPLATES"][form.style]
        calls = {
            "output_format": words["OUTPUT_FORMAT_MAPPING"][form.calls],
            "param_types": words["PARAM_TYPE_MAPPING"][form.calls],
        }
        parts = {
            **{name: style[name] for name in ("persona", "task", "multiturn_behavior", "available_tools")},
            "tool_call_format": _filled(style[f"tool_call_{'with' if form.tagged else 'no'}_tag"], calls),
        }
        whole = _filled(words[f"_{form.layout.upper()}_SYSTEM_PROMPT_TEMPLATE"], parts)
    except (KeyError, TypeError) as error:
        raise ValueError(f"the prompts of the suite bfcl are not those of bfcl-eval 2026: no {error}") from None
    return _filled(whole, {"format": form.functions})


def with_system_text(said: str, messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages with something said before them, above a system prompt of their own."""
    if messages and messages[0].get("role") == "system":
        return ({**messages[0], "content": f"{said}\n\n{messages[0].get('content')}"}, *messages[1:])
    return ({"role": "system", "content": said}, *messages)


def more_functions_text(folder: Path) -> str:
    """What a user says when there are more functions from now on. Raises ValueError, as above."""
    return _words(folder, "DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_FC")


def answer_format_text(folder: Path) -> str:
    """How an agent is asked to answer. Raises ValueError, as above."""
    return _words(folder, "ADDITIONAL_SYSTEM_PROMPT_FOR_AGENTIC_RESPONSE_FORMAT")


def memory_instructions(folder: Path) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """What agents with a memory are told: of their roles, by scenario, and of memory. Raises ValueError, as above."""
    words = _constants(folder)
    try:
        parts = {name: words[f"MEMORY_BACKEND_INSTRUCTION_{name}"] for name in ("CORE_ARCHIVAL", "UNIFIED")}
        return words["MEMORY_AGENT_SETTINGS"], parts
    except KeyError as error:
        raise ValueError(f"the prompts of the suite bfcl are not those of bfcl-eval 2026: no {error}") from None


def _words(folder: Path, name: str) -> str:
    words = _constants(folder)
    if name not in words:
        raise ValueError(f"the prompts of the suite bfcl are not those of bfcl-eval 2026: no {name!r}")
    return str(words[name])


def _filled(template: str, values: Mapping[str, str]) -> str:
    """Fill the braces that have a value; a format string could reach into objects."""
    return _BRACES.sub(lambda found: values.get(found[1], found[0]), template)


def _constants(folder: Path) -> dict[str, Any]:
    """The literals of the package's module of prompts, which is read and not run."""
    path = next((file for place in _PLACES if (file := folder / place).is_file()), None)
    if path is None:
        raise ValueError(
            f"the prompts of the suite bfcl are not beside {folder}: it needs constants/default_prompts.py of the "
            "package bfcl-eval (pip install --no-deps bfcl-eval)"
        )
    try:
        module = ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, SyntaxError) as error:
        raise ValueError(f"{path} cannot be read: {error}") from None
    found = {}
    for statement in module.body:
        if isinstance(statement, ast.Assign) and isinstance(target := statement.targets[0], ast.Name):
            try:
                found[target.id] = ast.literal_eval(statement.value)
            except (ValueError, TypeError, RecursionError):
                continue  # made of other constants
    return found
