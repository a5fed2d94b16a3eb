"""Literals of JavaScript, including nested ones."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pytest_fcall.decoding.source_code.syntax_tree import (
    NotLiteral,
    integer,
    object_of,
    parse_source,
    read_or_text,
    signed_number,
    text_of,
    unescape,
)

if TYPE_CHECKING:
    from tree_sitter import Node

    from pytest_fcall.core.values import Json


_WORDS = {"true": True, "false": False, "null": None, "undefined": None}


def read_javascript(source: str) -> Json:
    """Give the value of a literal. Raises NotLiteral or NotSource."""
    node = parse_source(f"({source})".encode(), "javascript")
    if node.has_error:
        raise NotLiteral
    for kind in ("expression_statement", "parenthesized_expression"):
        if len(node.named_children) != 1 or node.named_children[0].type != kind:
            raise NotLiteral
        node = node.named_children[0]
    if len(node.named_children) != 1:
        raise NotLiteral
    return _value(node.named_children[0])


def _value(node: Node) -> Json:
    kind = node.type
    if kind in _WORDS:
        return _WORDS[kind]
    if kind == "number":
        return _number(text_of(node))
    if kind == "string":
        return unescape(text_of(node))
    if kind == "template_string" and all(part.type != "template_substitution" for part in node.named_children):
        return unescape(text_of(node))
    if kind == "unary_expression":
        return signed_number(text_of(node.children[0]), _value(node.children[1]))
    if kind == "parenthesized_expression" and len(node.named_children) == 1:
        return _value(node.named_children[0])
    if kind == "array":
        return _items(node)
    if kind == "object":
        return object_of([_pair(each) for each in node.named_children])
    if kind == "new_expression":
        return _object_value(node)
    raise NotLiteral


def _pair(node: Node) -> tuple[Json, Json]:
    if node.type == "shorthand_property_identifier":
        return text_of(node), text_of(node)
    key, value = map(node.child_by_field_name, ("key", "value"))
    if node.type != "pair" or key is None or value is None or key.type == "computed_property_name":
        raise NotLiteral
    return text_of(key) if key.type == "property_identifier" else _value(key), read_or_text(_value, value)


def _object_value(node: Node) -> Json:
    maker, arguments = map(node.child_by_field_name, ("constructor", "arguments"))
    items = [] if arguments is None else _items(arguments)
    name = "" if maker is None else text_of(maker)
    if name == "Array":
        return items
    if name == "Set" and len(items) <= 1:
        return _list(items[0]) if items else []
    if name == "Map" and len(items) <= 1:
        pairs = [_list(pair) for pair in _list(items[0])] if items else []
        if all(len(pair) == 2 for pair in pairs):
            return object_of([(pair[0], pair[1]) for pair in pairs])
    raise NotLiteral


def _list(value: Json) -> list[Json]:
    if isinstance(value, list):
        return value
    raise NotLiteral


def _items(node: Node) -> list[Json]:
    return [read_or_text(_value, each) for each in node.named_children]


def _number(text: str) -> int | float:
    try:
        return integer(text.removesuffix("n"))
    except NotLiteral:
        pass
    try:
        number = float(text.replace("_", ""))
    except ValueError:
        raise NotLiteral from None
    if not math.isfinite(number):
        raise NotLiteral
    return number
