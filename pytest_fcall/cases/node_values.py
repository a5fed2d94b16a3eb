"""Typed values of YAML nodes; a node of another type is a fault and gives a harmless default."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TypeAlias

from yaml import MappingNode, Node, ScalarNode, SequenceNode

from pytest_fcall.cases.faults import Faults, did_you_mean, one_of, shown
from pytest_fcall.cases.yaml.tags import BOOL, FLOAT, INT, MAP, MERGE, NULL, SCALAR_TAGS, SEQ, STR, short_tag
from pytest_fcall.core import Json

Entries: TypeAlias = "dict[str, tuple[Node, Node]]"
"""The pairs of a mapping by the text of their keys: (key, value)."""

_LONGEST_NUMBER = 1000
_TRUE = frozenset(("true", "True", "TRUE"))
_FALSE = frozenset(("false", "False", "FALSE"))


def describe(node: Node) -> str:
    """What a node is, in words."""
    if isinstance(node, MappingNode):
        return "a mapping"
    if isinstance(node, SequenceNode):
        return "a list"
    if node.tag == STR:
        return "a text"
    return f"the value {shown(str(node.value))}"


def entries(node: Node, faults: Faults, what: str) -> Entries:
    """The pairs of a mapping, merge keys carried out. Duplicate keys and other nodes are faults."""
    if not isinstance(node, MappingNode) or node.tag != MAP:
        wrong_type(node, faults, what, "a mapping")
        return {}
    found: Entries = {}
    merged: list[Node] = []
    for pair in node.value:
        key = pair[0]
        if not isinstance(key, ScalarNode):
            faults.add("wrong-type", key, f"a key must be a text, not {describe(key)}")
        elif key.tag not in SCALAR_TAGS:
            wrong_type(key, faults, "a key", "a text")
        elif key.tag == MERGE:
            merged.append(pair[1])
        elif (name := key.value) in found:
            first = faults.source.location(found[name][0]).line
            message = f"the key {shown(name)} stands here twice: first in line {first}"
            faults.add("duplicate-key", key, message, "leave one of them out")
        else:
            found[name] = pair
    for other in merged:
        for name, pair in _merge(other, faults).items():
            found.setdefault(name, pair)
    return found


def known_only(found: Entries, known: Collection[str], faults: Faults, where: str) -> None:
    """Note the keys that mean nothing here."""
    for name, (key, _) in found.items():
        if name not in known:
            message = f"{where} has no key {shown(name)}"
            faults.add("unknown-key", key, message, did_you_mean(name, known) or one_of(sorted(known)))


def items(node: Node, faults: Faults, what: str) -> list[Node]:
    """The items of a list."""
    if isinstance(node, SequenceNode) and node.tag == SEQ:
        return list(node.value)
    hint = f"write [{node.value}]" if node.tag == STR and len(node.value) < 40 else ""
    wrong_type(node, faults, what, "a list", hint)
    return []


def text(node: Node, faults: Faults, what: str) -> str:
    """A text. What stands in quotes is one, also where a number from a matrix was put between them."""
    if isinstance(node, ScalarNode) and (node.tag == STR or node.style in {'"', "'", "|", ">"}):
        return str(node.value)
    if isinstance(node, MappingNode) and node.flow_style and len(node.value) == 1:
        hint = "braces outside quotes make a mapping: put the text in quotes"
    elif isinstance(node, ScalarNode) and node.tag != NULL:
        hint = "put it in quotes"
    else:
        hint = ""
    wrong_type(node, faults, what, "a text", hint)
    return ""


def word(node: Node, faults: Faults, what: str) -> str:
    """A text with something in it."""
    found = text(node, faults, what)
    if node.tag == STR and not found.strip():
        faults.add("wrong-value", node, f"{what} is empty")
        return ""
    return found


def texts(node: Node, faults: Faults, what: str) -> tuple[str, ...]:
    """A list of texts."""
    return tuple(text(item, faults, f"each of {what}") for item in items(node, faults, what))


def boolean(node: Node, faults: Faults, what: str) -> bool:
    """True or false."""
    if node.tag != BOOL:
        wrong_type(node, faults, what, "true or false")
        return False
    return scalar(node, faults) is True


def integer(node: Node, faults: Faults, what: str, least: int | None = None) -> int:
    """A whole number, not below `least`."""
    if node.tag != INT:
        wrong_type(node, faults, what, "a whole number")
        return 0
    value = scalar(node, faults)
    if isinstance(value, int) and least is not None and value < least:
        faults.add("wrong-value", node, f"{what} must be {least} or more")
    return value if isinstance(value, int) else 0


def number(node: Node, faults: Faults, what: str) -> int | float:
    """A number; infinities are none."""
    if node.tag not in {INT, FLOAT}:
        wrong_type(node, faults, what, "a number")
        return 0
    value = scalar(node, faults)
    return value if isinstance(value, int | float) else 0


def choice(node: Node, faults: Faults, what: str, words: Iterable[str]) -> str:
    """One of a few words."""
    found = word(node, faults, what)
    known = tuple(words)
    if found and found not in known:
        faults.add("wrong-value", node, f"{what} cannot be {shown(found)}", did_you_mean(found, known) or one_of(known))
    return found


def wrong_type(node: Node, faults: Faults, what: str, wanted: str, hint: str = "") -> None:
    """Note that another kind of value stands here."""
    if node.tag not in SCALAR_TAGS and node.tag not in {MAP, SEQ}:
        message = f"the tag {shown(short_tag(node.tag))} is not read"
        faults.add("unknown-tag", node, message, "quote a text that begins with `!`")
    elif node.tag == NULL:
        faults.add("wrong-type", node, f"{what} must be {wanted}, but nothing stands here", hint)
    else:
        faults.add("wrong-type", node, f"{what} must be {wanted}, not {describe(node)}", hint)


def scalar(node: Node, faults: Faults) -> bool | int | float | str | None:
    """The value of a scalar."""
    tag = node.tag
    if tag == STR:
        return str(node.value)
    convert = _CONVERSIONS.get(tag)
    if convert is None:
        wrong_type(node, faults, "this", "a value")
        return None
    try:
        return convert(node.value)
    except ValueError as error:
        faults.add("wrong-value", node, f"{shown(node.value)} {error}")
        return None


def value(node: Node, faults: Faults) -> Json:
    """Any plain value."""
    if isinstance(node, ScalarNode):
        return scalar(node, faults)
    if isinstance(node, SequenceNode):
        return [value(item, faults) for item in items(node, faults, "this")]
    return {name: value(pair[1], faults) for name, pair in entries(node, faults, "this").items()}


def node_at(node: Node, trail: Sequence[str | int]) -> Node:
    """The node at the end of a trail, or the last one found on it."""
    for step in trail:
        if isinstance(node, SequenceNode) and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
        elif isinstance(node, MappingNode):
            node = next((value for key, value in node.value if key.value == step), node)
    return node


def _merge(node: Node, faults: Faults) -> Entries:
    """What `<<:` brings in: a mapping, or a list of them of which the first wins."""
    if isinstance(node, SequenceNode):
        found: Entries = {}
        for item in node.value:
            found = entries(item, faults, "what `<<` merges") | found
        return found
    return entries(node, faults, "what `<<` merges")


def _int(written: str) -> int:
    if len(written) > _LONGEST_NUMBER:
        raise ValueError("has too many digits")
    try:
        return int(written, 0) if written[:2] in {"0x", "0o"} else int(written)
    except ValueError:
        raise ValueError("is no whole number") from None


def _float(written: str) -> float:
    try:
        result = float(written.replace(".inf", "inf").replace(".nan", "nan").lower())
    except ValueError:
        raise ValueError("is no number") from None
    if not math.isfinite(result):
        raise ValueError("is no number that JSON knows")
    return result


def _bool(written: str) -> bool:
    if written in _TRUE:
        return True
    if written in _FALSE:
        return False
    raise ValueError("is neither true nor false")


def _null(_: str) -> None:
    return None


_CONVERSIONS: Mapping[str, Callable[[str], bool | int | float | str | None]] = {
    INT: _int,
    FLOAT: _float,
    BOOL: _bool,
    NULL: _null,
    MERGE: str,
}


def glob(node: Node, faults: Faults, what: str) -> str:
    """A name, or a glob."""
    name = text(node, faults, what)
    if name != name.strip() or (not name and node.tag.endswith(":str")):
        faults.add("bad-glob", node, f"{what} may not be empty, nor begin or end with a space")
    return name


def one_or_many(node: Node, faults: Faults, what: str) -> tuple[tuple[str, Node], ...]:
    """One glob or a list of them, with their places."""
    nodes = [node] if isinstance(node, ScalarNode) else items(node, faults, what)
    return tuple((glob(item, faults, what), item) for item in nodes)
