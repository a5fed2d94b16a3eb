"""Functions as text, in the notations in which the leaderboard tells of them in prompts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

from pytest_fcall.core.values import Json
from pytest_fcall.suites.bfcl.prompt_format import Notation

Document = Mapping[str, Json]

_PYTHON_TYPES: Mapping[str, str] = MappingProxyType(
    {"string": "str", "number": "float", "integer": "int", "boolean": "bool"}
)
_MARGIN = " " * 8


class Notes:
    """Functions as text, word for word as the official harness writes them. What is odd about a schema is passed over.

    Each is written down once: cases have many in common, and are told of them in several notations.
    """

    def __init__(self) -> None:
        self._written: dict[tuple[Notation, str], str] = {}

    def told(self, documents: Sequence[Document], notation: Notation) -> str:
        """Write functions down."""
        return _JOINED[notation]([self._one(document, notation) for document in documents])

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
_JOINED: Mapping[Notation, Callable[[Sequence[str]], str]] = MappingProxyType(
    {"json": _json, "xml": _xml, "python": _python}
)
