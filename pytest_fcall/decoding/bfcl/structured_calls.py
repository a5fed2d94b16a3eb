"""Calls in JSON, in XML, and in the native form of BFCL's result files, as the official decoders read them."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from json.decoder import JSONDecoder
from typing import TYPE_CHECKING, Literal

from pytest_fcall.decoding.bfcl.official_form import Undecodable
from pytest_fcall.decoding.python_source import parse_expression

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


_FIRST_OBJECT = re.compile(r"\[\s*\{")
_END_OF_LIST = re.compile(r"\}\s*\]")
_read_json = JSONDecoder().raw_decode


def decode_json(text: str) -> list[dict[object, object]]:
    """Read the first list of objects in the text. Text that is not JSON has no calls, which is not an error."""
    start, end = text.find("["), text.rfind("]")
    if 0 <= start < end:
        text = text[start : end + 1]
    if (first := _FIRST_OBJECT.search(text)) and (last := _END_OF_LIST.search(text, first.end())):
        text = text[first.start() : last.end()]
    try:
        items = json.loads(text)
    except json.JSONDecodeError:
        return []
    except RecursionError:
        raise Undecodable("it is nested too deeply") from None
    except ValueError:
        raise Undecodable("it contains an integer with thousands of digits") from None
    if not isinstance(items, list | dict | str):
        raise Undecodable("it is not a list")
    return [_json_call(item) for item in items if isinstance(item, dict)]


def _json_call(item: dict[str, object]) -> dict[object, object]:
    try:
        return {item["function"]: item["parameters"]}
    except KeyError as error:
        raise Undecodable(f"a call has no {error}") from None
    except TypeError:
        raise Undecodable("the name of a function is a list or an object") from None


def decode_native(raw: object) -> list[dict[object, object]]:
    """Read the first key of each item. Arguments may be any JSON, including NaN."""
    if not raw and isinstance(raw, str | Mapping):
        return []  # the official decoder iterates over it without error
    if not isinstance(raw, list | tuple):
        raise Undecodable(f"the tool calls are of type {type(raw).__name__}, not a list")
    try:
        return [_native_call(item) for item in raw]
    except RecursionError:
        raise Undecodable("the arguments are nested too deeply") from None
    except ValueError as error:
        raise Undecodable(f"the arguments are not JSON: {error}") from None


def _native_call(item: object) -> dict[object, object]:
    if not isinstance(item, dict) or not item:
        raise Undecodable("a tool call is not an object with a name")
    name, text = next(iter(item.items()))
    if isinstance(text, str) and text.startswith("{"):
        value, end = _read_json(text)  # faster than json.loads
        if end == len(text):
            return {name: value}
    elif not isinstance(text, str | bytes | bytearray):
        raise Undecodable(f"arguments are of type {type(text).__name__}, not JSON text")
    return {name: json.loads(text)}


def decode_xml(document: str, call_format: Literal["verbose_xml", "concise_xml"]) -> list[dict[object, object]]:
    """Read a document that begins with `<functions>`, and therefore cannot declare entities."""
    from xml.etree.ElementTree import ParseError, fromstring

    arguments = _verbose if call_format == "verbose_xml" else _concise
    try:
        functions = fromstring(document).findall("function")  # noqa: S314  harmless without a document type
        return [{function.attrib["name"]: dict(arguments(function))} for function in functions]
    except KeyError as error:
        raise Undecodable(f"an element has no attribute {error}") from None
    except RecursionError:
        raise Undecodable("a value is nested too deeply") from None
    except (ParseError, TypeError, ValueError) as error:
        raise Undecodable(f"it is not valid XML: {error}") from None


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
