"""Typed values of YAML nodes. A node of another type is a fault, and its value a harmless default."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Concatenate, ParamSpec, TypeVar

from yaml import MappingNode, Node, ScalarNode, SequenceNode

from pytest_fcall.cases.faults import Faults, one_of, quote
from pytest_fcall.cases.yaml.values import BOOL, FLOAT, INT, MAP, MERGE, NULL, SCALAR_TAGS, SEQ, STR, short_tag
from pytest_fcall.core.message_text import did_you_mean
from pytest_fcall.core.values import Json

_T = TypeVar("_T")
_P = ParamSpec("_P")
_Word = TypeVar("_Word", bound=str)

_LONGEST_NUMBER = 1000
_QUOTED = frozenset(('"', "'", "|", ">"))
_TYPOGRAPHIC_QUOTES = frozenset("“”„‟‘’‚«»")
_TRUE = frozenset(("true", "True", "TRUE"))
_FALSE = frozenset(("false", "False", "FALSE"))


class Entries(dict[str, tuple[Node, Node]]):
    """The entries of a mapping: (key, value) by the text of the key."""

    def key(self, name: str) -> Node:
        """The node of a key that is present."""
        return self[name][0]

    def node(self, name: str) -> Node | None:
        """The node of a value; None without the key."""
        return self[name][1] if name in self else None

    def read(
        self, name: str, reader: Callable[Concatenate[Node, _P], _T], *args: _P.args, **kwargs: _P.kwargs
    ) -> _T | None:
        """The value of a key as `reader` reads it; None without the key."""
        return reader(self[name][1], *args, **kwargs) if name in self else None


def entries(node: Node, faults: Faults, what: str, keys: Collection[str] | None = None) -> Entries:
    """The entries of a mapping, merge keys resolved. With `keys`, any other key is a fault; duplicates always are."""
    found = Entries()
    if not isinstance(node, MappingNode) or node.tag != MAP:
        wrong_type(node, faults, what, "a mapping")
        return found
    merged: list[Node] = []
    for pair in node.value:
        key = pair[0]
        if not isinstance(key, ScalarNode):
            faults.add("wrong-type", key, f"a key must be a string, not {describe(key)}")
        elif (tag := key.tag) != STR and tag not in SCALAR_TAGS:
            wrong_type(key, faults, "a key", "a string")
        elif tag == MERGE:
            merged.append(pair[1])
        elif (name := key.value) in found:
            first = faults.source.location(found.key(name)).line
            faults.add("duplicate-key", key, f"duplicate key {quote(name)}, first defined in line {first}")
        else:
            found[name] = pair
    for other in merged:
        for name, pair in _merge(other, faults).items():
            found.setdefault(name, pair)
    if keys is not None:
        check_keys(found, keys, faults, what)
    return found


def check_keys(found: Entries, known: Collection[str], faults: Faults, what: str) -> None:
    """Add a fault for each key that is not known."""
    for name, (key, value) in found.items():
        if name not in known:
            hint = did_you_mean(name, known) or one_of(sorted(known))
            if _lacks_colon(key, value):
                hint = "a comma in braces ends a value: put the text before it in quotes"
            faults.add("unknown-key", key, f"{what} has no key {quote(name)}", hint)


def _lacks_colon(key: Node, value: Node) -> bool:
    """Whether nothing stands between both, which braces alone allow. Nodes of Python values have no places."""
    if key.end_mark is None or key.start_mark.index == key.end_mark.index:
        return False
    return bool(key.end_mark.index == value.start_mark.index)


def items(node: Node, faults: Faults, what: str, hint: str | None = None) -> list[Node]:
    """The items of a list. For anything else there is the hint, or else the one to put a string into brackets."""
    if isinstance(node, SequenceNode) and node.tag == SEQ:
        return list(node.value)
    if hint is None:
        hint = f"write [{node.value}]" if node.tag == STR and len(node.value) < 40 else ""
    wrong_type(node, faults, what, "a list", hint)
    return []


def mappings(node: Node, faults: Faults, what: str) -> list[Node]:
    """The items of a list of mappings, or the only one; none for the word `none`."""
    if isinstance(node, ScalarNode) and node.tag == STR and node.value == "none":
        return []
    if isinstance(node, MappingNode):
        return [node]
    if not isinstance(node, SequenceNode):
        wrong_type(node, faults, what, "a mapping, a list of them, or `none`")
        return []
    return list(node.value)


def check_different(names: Sequence[str], node: Node, faults: Faults, what: str) -> None:
    """Add a fault for each name that two entries have."""
    for name in dict.fromkeys(name for name in names if names.count(name) > 1):
        faults.add("duplicate-name", node, f"two {what} are named {quote(name)}", "give each entry an `id`")


def text(node: Node, faults: Faults, what: str) -> str:
    """A string. A value in quotes is one, even if a number from a matrix was put between them."""
    if isinstance(node, ScalarNode) and (node.tag == STR or node.style in _QUOTED):
        _check_quotes(node, faults)
        return str(node.value)
    if isinstance(node, MappingNode) and node.flow_style and len(node.value) == 1:
        hint = "braces outside quotes make a mapping: put the string in quotes"
    elif isinstance(node, ScalarNode) and node.tag != NULL:
        hint = "put it in quotes"
    else:
        hint = ""
    wrong_type(node, faults, what, "a string", hint)
    return ""


def word(node: Node, faults: Faults, what: str) -> str:
    """A string that is not empty."""
    found = text(node, faults, what)
    if node.tag == STR and not found.strip():
        faults.add("wrong-value", node, f"{what} is empty")
        return ""
    return found


def texts(node: Node, faults: Faults, what: str) -> tuple[str, ...]:
    """A list of strings."""
    return tuple(text(item, faults, f"each of {what}") for item in items(node, faults, what))


def boolean(node: Node, faults: Faults, what: str) -> bool:
    """A boolean."""
    if node.tag != BOOL:
        wrong_type(node, faults, what, "a boolean")
        return False
    return scalar(node, faults) is True


def integer(
    node: Node,
    faults: Faults,
    what: str,
    least: int | None = None,
    most: int | None = None,
    *,
    code: str = "wrong-value",
) -> int:
    """An integer from `least` to `most`; `code` is that of the fault if it is outside."""
    if node.tag != INT:
        wrong_type(node, faults, what, "an integer")
        return 0
    value = scalar(node, faults)
    if not isinstance(value, int):
        return 0
    if least is not None and value < least:
        wanted = {0: "must not be negative", 1: "must be a positive integer"}.get(least, f"must be at least {least}")
        faults.add(code, node, f"{what} {wanted}")
    elif most is not None and value > most:
        faults.add(code, node, f"{what} must be at most {most}")
    return value


def number(node: Node, faults: Faults, what: str) -> int | float:
    """A finite number."""
    if node.tag not in {INT, FLOAT}:
        wrong_type(node, faults, what, "a number")
        return 0
    value = scalar(node, faults)
    return value if isinstance(value, int | float) else 0


def not_negative(node: Node, faults: Faults, what: str, *, code: str = "wrong-value") -> int | float:
    """A number from zero up; `code` is that of the fault if it is negative."""
    value = number(node, faults, what)
    if value < 0:
        faults.add(code, node, f"{what} must not be negative")
    return value


def share(node: Node, faults: Faults, what: str, *, code: str = "wrong-value") -> int | float:
    """A number from 0 to 1; `code` is that of the fault if it is outside."""
    value = number(node, faults, what)
    if not 0 <= value <= 1:
        faults.add(code, node, f"{what} must be a number from 0 to 1", "such as 0.5")
    return value


def choice(node: Node, faults: Faults, what: str, words: Collection[_Word], default: _Word) -> _Word:
    """One of the words; `default` if the node is another one."""
    found = word(node, faults, what)
    for each in words:
        if each == found:
            return each
    if found:
        faults.add("wrong-value", node, f"{what} cannot be {quote(found)}", did_you_mean(found, words) or one_of(words))
    return default


def glob(node: Node, faults: Faults, what: str) -> str:
    """A name or a glob."""
    name = text(node, faults, what)
    if name != name.strip() or (not name and node.tag == STR):
        faults.add("bad-glob", node, f"{what} must not be empty, nor begin or end with a space")
    return name


def one_or_many(node: Node, faults: Faults, what: str) -> tuple[tuple[str, Node], ...]:
    """One name or glob, or a list of them, each with its node."""
    nodes = [node] if isinstance(node, ScalarNode) else items(node, faults, what)
    return tuple((glob(item, faults, what), item) for item in nodes)


def value(node: Node, faults: Faults) -> Json:
    """Any JSON value."""
    if isinstance(node, ScalarNode):
        return scalar(node, faults)
    if isinstance(node, SequenceNode):
        return [value(item, faults) for item in items(node, faults, "this")]
    return values(node, faults, "this")


def values(node: Node, faults: Faults, what: str) -> dict[str, Json]:
    """A mapping of strings to any JSON values."""
    return {name: value(pair[1], faults) for name, pair in entries(node, faults, what).items()}


def scalar(node: Node, faults: Faults) -> bool | int | float | str | None:
    """The value of a scalar."""
    tag = node.tag
    if tag == STR:
        _check_quotes(node, faults)
        return str(node.value)
    convert = _CONVERSIONS.get(tag)
    if convert is None:
        wrong_type(node, faults, "this", "a value")
        return None
    try:
        return convert(node.value)
    except ValueError as error:
        faults.add("wrong-value", node, f"{quote(node.value)} {error}")
        return None


def _check_quotes(node: Node, faults: Faults) -> None:
    """Add a fault for typographic quotes around a string: YAML takes them for a part of it."""
    if node.value[:1] not in _TYPOGRAPHIC_QUOTES or getattr(node, "style", None) in _QUOTED:
        return
    inner = node.value[1:-1] if node.value[-1] in _TYPOGRAPHIC_QUOTES else node.value[1:]
    if _TYPOGRAPHIC_QUOTES.isdisjoint(inner):
        message = f"the quotes of {quote(node.value)} are typographic, which YAML takes for a part of the string"
        hint = f"""write "{inner[:40]}", or '{node.value[:40]}' for a string with such quotes"""
        faults.add("typographic-quotes", node, message, hint)


def wrong_type(node: Node, faults: Faults, what: str, wanted: str, hint: str = "") -> None:
    """Add the fault that a node is not of the wanted type."""
    if node.tag not in SCALAR_TAGS and node.tag not in {MAP, SEQ}:
        message = f"unsupported YAML tag {quote(short_tag(node.tag))}"
        faults.add("unknown-tag", node, message, "quote a string that begins with `!`")
    elif node.tag == NULL:
        faults.add("wrong-type", node, f"{what} must be {wanted}, but it is empty", hint)
    else:
        faults.add("wrong-type", node, f"{what} must be {wanted}, not {describe(node)}", hint)


def describe(node: Node) -> str:
    """The kind of a node, for messages; for a number, boolean or null, the value."""
    if isinstance(node, MappingNode):
        return "a mapping"
    if isinstance(node, SequenceNode):
        return "a list"
    if node.tag == STR:
        return "a string"
    return f"the value {quote(str(node.value))}"


def node_at(node: Node, path: Sequence[str | int]) -> Node:
    """The node at a path, or the last node that exists on the way."""
    for step in path:
        if isinstance(node, SequenceNode) and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
        elif isinstance(node, MappingNode):
            node = next((value for key, value in node.value if key.value == step), node)
    return node


def _merge(node: Node, faults: Faults) -> Entries:
    """The entries that `<<:` adds: those of a mapping, or of a list of mappings, of which the first wins."""
    if not isinstance(node, SequenceNode):
        return entries(node, faults, "the value of `<<`")
    found = Entries()
    for item in node.value:
        for name, pair in entries(item, faults, "the value of `<<`").items():
            found.setdefault(name, pair)
    return found


def _int(written: str) -> int:
    if len(written) > _LONGEST_NUMBER:
        raise ValueError("has too many digits")
    try:
        return int(written, 0) if written[:2] in {"0x", "0o"} else int(written)
    except ValueError:
        raise ValueError("is not an integer") from None


def _float(written: str) -> float:
    try:
        result = float(written.replace(".inf", "inf").replace(".nan", "nan").lower())
    except ValueError:
        raise ValueError("is not a number") from None
    if not math.isfinite(result):
        raise ValueError("is not a JSON number")
    return result


def _bool(written: str) -> bool:
    if written in _TRUE:
        return True
    if written in _FALSE:
        return False
    raise ValueError("is not a boolean")


def _null(_: str) -> None:
    return None


_CONVERSIONS: Mapping[str, Callable[[str], bool | int | float | str | None]] = {
    INT: _int,
    FLOAT: _float,
    BOOL: _bool,
    NULL: _null,
    MERGE: str,
}
