"""Calls in XML: `<functions>` with a `<function>` each, values in attributes (verbose) or as text (concise)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from pytest_fcall.decoding.bfcl.undecodable import Undecodable
from pytest_fcall.decoding.python.source import parse_expression

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


def decode_xml(document: str, format: Literal["verbose_xml", "concise_xml"]) -> list[dict[object, object]]:  # noqa: A002  the benchmark's word
    """Read a document that begins with `<functions>`, so that it can declare no entities."""
    from xml.etree.ElementTree import ParseError, fromstring

    arguments = _verbose if format == "verbose_xml" else _concise
    try:
        functions = fromstring(document).findall("function")  # noqa: S314  without a document type it is harmless
        return [{function.attrib["name"]: dict(arguments(function))} for function in functions]
    except KeyError as error:
        raise Undecodable(f"an element has no attribute {error}") from None
    except RecursionError:
        raise Undecodable("a value is nested too deep") from None
    except (ParseError, TypeError, ValueError) as error:
        raise Undecodable(f"it is no such XML: {error}") from None


def _verbose(function: Element) -> Iterator[tuple[str | None, object]]:
    container = function.find("params")
    for parameter in (function if container is None else container).findall("param"):
        value = parameter.get("value", "")
        yield parameter.get("name"), _converted(value, parameter.get("type", "string"))


def _concise(function: Element) -> Iterator[tuple[str | None, object]]:
    for parameter in function.findall("param"):
        yield parameter.attrib["name"], _converted((parameter.text or "").strip(), parameter.get("type", "string"))


def _converted(text: str, type_name: str) -> object:
    match type_name:
        case "integer":
            return int(text)
        case "float":
            return float(text)
        case "boolean":
            return text.lower() == "true"
        case "null":
            return None
        case "array" | "tuple" | "object" | "dict":
            return ast.literal_eval(parse_expression(text.lstrip(" \t")))
        case _:
            return text
