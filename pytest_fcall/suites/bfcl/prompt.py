"""The leaderboard's system prompts, read from its package, and functions as text in their notations."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pytest_fcall.core.values import Json, Message, mapping_or_empty
from pytest_fcall.suites.bfcl.categories import DEFAULT_FORMAT, Notation, PromptFormat
from pytest_fcall.suites.original_code import fill_placeholders, module_literals

Document = Mapping[str, Json]

_FILES = ("../constants/default_prompts.py", "default_prompts.py")
_PYTHON_TYPES: Mapping[str, str] = MappingProxyType(
    {"string": "str", "number": "float", "integer": "int", "boolean": "bool"}
)
_MARGIN = " " * 8


class BfclPrompt:
    """Puts functions into the system prompt. Raises ValueError if the prompts of the package cannot be read."""

    def __init__(self, folder: Path) -> None:
        self._constants = _constants(folder)
        self._templates = {DEFAULT_FORMAT: _template(self._constants, DEFAULT_FORMAT)}
        self._functions = FunctionTexts()

    def messages_with_functions(
        self, messages: Sequence[Message], documents: Sequence[Document], form: PromptFormat = DEFAULT_FORMAT
    ) -> tuple[Message, ...]:
        """Return the messages with the prompt as system message, above the text of an own system message."""
        if form not in self._templates:
            self._templates[form] = _template(self._constants, form)
        functions = self._functions.text_of(documents, form.function_notation)
        return with_system_text(fill_placeholders(self._templates[form], {"functions": functions}), messages)


def with_system_text(text: str, messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return the messages with a text as system message, above the text of an own system message."""
    if messages and messages[0].get("role") == "system":
        return ({**messages[0], "content": f"{text}\n\n{messages[0].get('content')}"}, *messages[1:])
    return ({"role": "system", "content": text}, *messages)


def more_functions_text(folder: Path) -> str:
    """Return the user message for additional functions. Raises ValueError, as BfclPrompt does."""
    return str(_constant(_constants(folder), "DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_FC"))


def answer_format_text(folder: Path) -> str:
    """Return the instruction on the format of agents' answers. Raises ValueError, as BfclPrompt does."""
    return str(_constant(_constants(folder), "ADDITIONAL_SYSTEM_PROMPT_FOR_AGENTIC_RESPONSE_FORMAT"))


def memory_instructions(folder: Path) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Return the roles of agents with a memory, by scenario, and the instructions on memory, by its form.

    Raises ValueError, as BfclPrompt does.
    """
    constants = _constants(folder)
    instructions = {
        name: _constant(constants, f"MEMORY_BACKEND_INSTRUCTION_{name}") for name in ("CORE_ARCHIVAL", "UNIFIED")
    }
    return _constant(constants, "MEMORY_AGENT_SETTINGS"), instructions


def _template(constants: Mapping[str, Any], form: PromptFormat) -> str:
    """The prompt in a format, with `{functions}` left in it."""
    try:
        style = constants["PROMPT_STYLE_TEMPLATES"][form.style]
        calls = {
            "output_format": constants["OUTPUT_FORMAT_MAPPING"][form.call_notation],
            "param_types": constants["PARAM_TYPE_MAPPING"][form.call_notation],
        }
        parts = {
            **{name: style[name] for name in ("persona", "task", "multiturn_behavior", "available_tools")},
            "tool_call_format": fill_placeholders(style[f"tool_call_{'with' if form.tagged else 'no'}_tag"], calls),
        }
        whole = fill_placeholders(constants[f"_{form.layout.upper()}_SYSTEM_PROMPT_TEMPLATE"], parts)
    except (KeyError, TypeError) as error:
        raise _unknown_version(str(error)) from None
    return fill_placeholders(whole, {"format": form.function_notation})


def _constant(constants: Mapping[str, Any], name: str) -> Any:
    if name not in constants:
        raise _unknown_version(repr(name))
    return constants[name]


def _unknown_version(missing: str) -> ValueError:
    return ValueError(f"the prompts of suite bfcl are not those of bfcl-eval 2026: no {missing}")


def _constants(folder: Path) -> dict[str, Any]:
    """The literals of the package's module of prompts, which is parsed and not run."""
    path = next((file for name in _FILES if (file := folder / name).is_file()), None)
    if path is None:
        raise ValueError(
            f"no prompts for suite bfcl beside {folder}: get constants/default_prompts.py of the package bfcl-eval "
            "(pip install --no-deps bfcl-eval)"
        )
    return module_literals(path)


class FunctionTexts:
    """Functions as text, word for word as the official harness writes them. Errors in a schema are ignored.

    Each function is written once for each notation, however many cases share it.
    """

    def __init__(self) -> None:
        self._texts: dict[tuple[Notation, str], str] = {}

    def text_of(self, documents: Sequence[Document], notation: Notation) -> str:
        """Return the text of functions in a notation."""
        return _JOINERS[notation]([self._one(document, notation) for document in documents])

    def _one(self, document: Document, notation: Notation) -> str:
        key = notation, json.dumps(document)
        if key not in self._texts:
            self._texts[key] = "".join(_WRITERS[notation](document))
        return self._texts[key]


def _json_function(document: Document) -> Iterator[str]:
    yield json.dumps(document, indent=4).replace("\n", "\n    ")


def _json(functions: Sequence[str]) -> str:
    return "[\n    {}\n]".format(",\n    ".join(functions)) if functions else "[]"


def _xml(functions: Sequence[str]) -> str:
    return "\n".join(functions)


def _xml_function(document: Document) -> Iterator[str]:
    parameters = mapping_or_empty(document.get("parameters"))
    yield f'<function name="{document.get("name")}">\n'
    yield f"  <desc>{document.get('description', '')}</desc>\n  <params>\n"
    for name, schema in mapping_or_empty(parameters.get("properties")).items():
        yield from _xml_parameter(name, mapping_or_empty(schema), parameters.get("required"), " " * 4)
    yield "  </params>\n</function>\n"


def _xml_parameter(name: str, schema: Document, required: Json, margin: str) -> Iterator[str]:
    """A parameter with its properties. Its tag has no commas, not even in the default."""
    needed = required is None or (isinstance(required, list) and name in required)
    tag = f'name="{name}" type="{_xml_type(schema)}" required="{str(needed).lower()}"'
    if "default" in schema:
        tag += f' default="{schema["default"]!r}"'
    yield f"{margin}<param {tag.replace(',', '')}>\n{margin}  <desc>{_described(schema)}</desc>\n"
    if "properties" in schema:
        yield f"{margin}  <params>\n"
        for inner, its in mapping_or_empty(schema["properties"]).items():
            yield from _xml_parameter(inner, mapping_or_empty(its), schema.get("required"), margin + " " * 4)
        yield f"{margin}  </params>\n"
    yield f"{margin}</param>\n"


def _xml_type(schema: Document) -> str:
    name, items = str(schema.get("type", "string")), mapping_or_empty(schema.get("items"))
    if "type" in items:
        return f"{name}[{items['type']}]"
    if "additionalProperties" in schema:
        return f"{name}[{mapping_or_empty(schema['additionalProperties']).get('type', 'string')}]"
    return name


def _python(functions: Sequence[str]) -> str:
    return "\n\n".join(f"{function}\n\n\n" for function in functions)


def _python_function(document: Document) -> Iterator[str]:
    yield f'# Function: {document.get("name")}\n    """\n    {document.get("description", "")}\n\n'
    if properties := mapping_or_empty(mapping_or_empty(document.get("parameters")).get("properties")):
        yield "    Args:\n"
        for name, schema in properties.items():
            yield from _python_parameter(name, mapping_or_empty(schema), _MARGIN)
    yield '    """\n'


def _python_parameter(name: str, schema: Document, margin: str) -> Iterator[str]:
    default = f", default={schema['default']!r}" if "default" in schema else ""
    yield f"{margin}{name} ({_python_type(schema)}{default}): {_described(schema)}\n"
    for inner, its in mapping_or_empty(schema.get("properties")).items():
        yield from _python_parameter(inner, mapping_or_empty(its), margin + " " * 4)


def _python_type(schema: Document) -> str:
    name = str(schema.get("type", "string"))
    if name in ("array", "list", "tuple") and "items" in schema:
        return f"list[{_python_type(mapping_or_empty(schema['items']))}]"
    if name in ("object", "dict"):
        if "additionalProperties" in schema:
            return f"dict[str, {_python_type(mapping_or_empty(schema['additionalProperties']))}]"
        return "dict"
    return _PYTHON_TYPES.get(name, name)


def _described(schema: Document) -> str:
    description = str(schema.get("description", ""))
    return f"{description} Enum values: {schema['enum']}." if "enum" in schema else description


_WRITERS: Mapping[Notation, Callable[[Document], Iterator[str]]] = MappingProxyType(
    {"json": _json_function, "xml": _xml_function, "python": _python_function}
)
_JOINERS: Mapping[Notation, Callable[[Sequence[str]], str]] = MappingProxyType(
    {"json": _json, "xml": _xml, "python": _python}
)
