"""Literals of Java, and the usual expressions for lists and maps."""

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
    from collections.abc import Iterator

    from tree_sitter import Node

    from pytest_fcall.core.values import Json


_INTEGERS = frozenset(f"{base}_integer_literal" for base in ("decimal", "hex", "octal", "binary"))
_WORDS = {"true": True, "false": False, "null_literal": None}
_LISTS = frozenset({"Arrays.asList", "List.of", "Set.of", "List.copyOf", "Set.copyOf", "Collections.singletonList"})
_MAPS = frozenset({"Map.of", "Collections.singletonMap"})
_EMPTY: dict[str, type] = {"Collections.emptyList": list, "Collections.emptySet": list, "Collections.emptyMap": dict}


def read_java(source: str) -> Json:
    """Give the value of a literal, a list or a map. Raises NotLiteral or NotSource."""
    root = parse_source(f"var x = {source};".encode(), "java")
    if root.has_error or len(root.children) != 1 or root.children[0].type != "local_variable_declaration":
        raise NotLiteral
    declarators = root.children[0].children_by_field_name("declarator")
    value = declarators[0].child_by_field_name("value") if len(declarators) == 1 else None
    if value is None:
        raise NotLiteral
    return _value(value)


def _value(node: Node) -> Json:
    kind = node.type
    if kind in _WORDS:
        return _WORDS[kind]
    if kind in _INTEGERS:
        return integer(text_of(node).rstrip("lL"))
    if kind == "decimal_floating_point_literal":
        return _finite(text_of(node))
    if kind in {"string_literal", "character_literal"} and not text_of(node).startswith('"""'):
        return unescape(text_of(node))
    if kind == "unary_expression":
        return signed_number(text_of(node.children[0]), _value(node.children[1]))
    if kind in {"parenthesized_expression", "cast_expression"}:
        return _value(node.named_children[-1])
    return _collection(node)


def _collection(node: Node) -> Json:
    if node.type == "array_initializer":
        return _items(node)
    if node.type == "array_creation_expression" and (value := node.child_by_field_name("value")) is not None:
        return _items(value)
    if node.type == "method_invocation":
        return _method_value(node)
    if node.type == "object_creation_expression":
        return _object_value(node)
    raise NotLiteral


def _method_value(node: Node) -> Json:
    arguments = node.child_by_field_name("arguments")
    name = "".join(text_of(node)[: arguments.start_byte - node.start_byte].split()) if arguments is not None else ""
    name = name.removeprefix("java.util.")
    items = [] if arguments is None else _items(arguments)
    if name in _EMPTY and not items:
        return [] if _EMPTY[name] is list else {}
    if name in _LISTS:
        return items
    if name in _MAPS and len(items) % 2 == 0:
        return object_of(list(zip(items[::2], items[1::2], strict=True)))
    raise NotLiteral


def _object_value(node: Node) -> Json:
    """Give the value of `new ArrayList<>(…)`, `new HashMap<>() {{ put(…); }}` and the like."""
    kind, arguments = map(node.child_by_field_name, ("type", "arguments"))
    name = "" if kind is None else text_of(kind).split("<", 1)[0].strip()
    given = [] if arguments is None else [_value(each) for each in arguments.named_children]
    body = next((each for each in node.children if each.type == "class_body"), None)
    added = [] if body is None else list(_added_items(body))
    if name.endswith(("Map", "Hashtable")):
        start = given[0] if given and isinstance(given[0], dict) else {}
        return {**start, **object_of([(each[0], each[1]) for each in added if len(each) == 2])}
    if name.endswith(("List", "Set", "Vector", "Queue", "Stack", "Deque")):
        first = given[0] if given and isinstance(given[0], list) else []
        return [*first, *(each[0] for each in added if len(each) == 1)]
    raise NotLiteral


def _added_items(body: Node) -> Iterator[list[Json]]:
    """The arguments of each `add(…)` and `put(…)` in the block of an initialiser."""
    for block in body.named_children:
        for statement in block.named_children:
            for call in statement.named_children:
                name, arguments = map(call.child_by_field_name, ("name", "arguments"))
                if name is None or arguments is None or text_of(name) not in {"add", "put"}:
                    raise NotLiteral
                yield _items(arguments)


def _items(node: Node) -> list[Json]:
    return [read_or_text(_value, each) for each in node.named_children]


def _finite(text: str) -> float:
    try:
        number = float(text.replace("_", "").rstrip("fFdD"))
    except ValueError:
        raise NotLiteral from None
    if not math.isfinite(number):
        raise NotLiteral
    return number
