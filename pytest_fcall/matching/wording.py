"""Values, patterns and calls as text for sentences: short, and printable whatever a model wrote."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from types import MappingProxyType

from pytest_fcall.core.expectation import ExpectedCall
from pytest_fcall.core.operators import Operator, Pattern
from pytest_fcall.core.reply import Call

_MAX_LENGTH = 80
_MAX_DEPTH = 3
_MAX_ITEMS = 6


def value_text(value: Pattern, depth: int = _MAX_DEPTH) -> str:
    """Write a value or pattern in at most a line."""
    if isinstance(value, Operator):
        return operator_text(value, depth)
    if isinstance(value, str):
        return repr(value) if len(value) <= _MAX_LENGTH else f"{value[:_MAX_LENGTH]!r}… ({len(value)} characters)"
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, int | float):
        return _number_text(value)
    if not value:
        return "{}" if isinstance(value, Mapping) else "[]"
    if isinstance(value, Mapping):
        parts = (f"{_key_text(key)}: {value_text(item, depth - 1)}" for key, item in value.items())
        return f"{{{_joined_parts(parts, depth)}}}"
    return f"[{_joined_parts((value_text(item, depth - 1) for item in value), depth)}]"


def operator_text(operator: Operator, depth: int = _MAX_DEPTH) -> str:
    """Describe what an operator accepts, as the end of “expected …”."""
    if depth <= 0:
        return f"${operator.name}: …"
    write = _OPERATOR_TEXTS.get(operator.name)
    if write is not None:
        return write(operator, depth - 1)
    return f"${operator.name}: {value_text(operator.operand, depth - 1)}"


def expected_call_text(call: ExpectedCall) -> str:
    """Write an expected call as `get_weather(city='Rome')`, in backquotes."""
    if call.arguments is None:
        return f"`{call.tool}(…)`"
    return _named_call_text(call.tool, call.arguments, "…" if call.open else "")


def call_text(call: Call) -> str:
    """Write a call of a reply in the same way."""
    return _named_call_text(call.name, call.arguments)


def json_type(value: Pattern) -> str:
    """The JSON Schema type of a value; 1.0 is a number, not an integer."""
    if (name := _EXACT_TYPES.get(type(value))) is not None:
        return name
    return next((name for kind, name in _TYPES if isinstance(value, kind)), "null")


def type_in_words(value: Pattern) -> str:
    """The type of a value with its article."""
    return _ARTICLES[json_type(value)]


def printable_name(name: str) -> str:
    """Write the name of a tool, quoted if a model made up something unprintable or long."""
    return name if name.isascii() and name.isprintable() and len(name) <= _MAX_LENGTH else repr(name[:_MAX_LENGTH])


def mismatch_text(
    name: str, expected: Pattern, got: Pattern, hint: str | Callable[[], str], *, with_types: bool
) -> str:
    """Write a wrong value as “`days` is 3, expected 2; hint”. `with_types` adds the types of both values."""
    shown, wanted = value_text(got), value_text(expected)
    if with_types:
        shown, wanted = f"{shown} ({type_in_words(got)})", f"{wanted} ({type_in_words(expected)})"
    advice = hint if isinstance(hint, str) else hint()
    return f"{name} is {shown}, expected {wanted}" + (f"; {advice}" if advice else "")


def differ_in_type(expected: Pattern, got: Pattern) -> bool:
    """Whether the JSON types differ. Null and operators have no type of their own; integers are numbers."""
    if expected is None or got is None or isinstance(expected, Operator):
        return False
    types = {json_type(got), json_type(expected)}
    return len(types) > 1 and types != {"integer", "number"}


def times_text(count: int) -> str:
    """Write a count as `once` or `3 times`."""
    return "once" if count == 1 else f"{count} times"


_TYPES: tuple[tuple[type, str], ...] = (
    (str, "string"),
    (int, "integer"),
    (float, "number"),
    (Mapping, "object"),
    (Sequence, "array"),
)
_EXACT_TYPES: Mapping[type, str] = MappingProxyType(
    dict([*_TYPES, (bool, "boolean"), (type(None), "null"), (dict, "object"), (list, "array"), (tuple, "array")])
)
_ARTICLES: Mapping[str, str] = MappingProxyType(
    {
        "string": "a string",
        "integer": "an integer",
        "number": "a number",
        "boolean": "a boolean",
        "object": "an object",
        "array": "a list",
        "null": "null",
    }
)


def _number_text(value: float) -> str:
    # Python refuses to write very long integers.
    if isinstance(value, int) and value.bit_length() > 400:
        return f"an integer of about {int(value.bit_length() * 0.30103)} digits"
    return repr(value)


def _named_call_text(tool: str, arguments: Mapping[str, Pattern], rest: str = "") -> str:
    named = [f"{_key_text(key)}={value_text(pattern, 2)}" for key, pattern in islice(arguments.items(), _MAX_ITEMS + 1)]
    return f"`{printable_name(tool)}({_joined_parts([*named, *filter(None, [rest])], 1)})`"


def _key_text(key: object) -> str:
    if isinstance(key, str) and key.isidentifier() and len(key) <= _MAX_LENGTH:
        return key
    return value_text(key) if isinstance(key, str) else f"<{type(key).__name__}>"


def _joined_parts(parts: Iterable[str], depth: int) -> str:
    if depth <= 0:
        return "…"
    shown: list[str] = []
    for part in parts:
        if len(shown) == _MAX_ITEMS:
            shown.append("…")
            break
        shown.append(part)
    return ", ".join(shown)


def _joined_operands(word: str) -> Callable[[Operator, int], str]:
    def write(operator: Operator, depth: int) -> str:
        operand = operator.operand
        if not isinstance(operand, Sequence) or isinstance(operand, str):
            return value_text(operand, depth)
        if not operand:
            return "nothing"
        shown = [value_text(item, depth) for item in operand[:_MAX_ITEMS]]
        return f" {word} ".join([*shown, "…"] if len(operand) > _MAX_ITEMS else shown)

    return write


def _phrase(text: str) -> Callable[[Operator, int], str]:
    return lambda operator, depth: text.format(value_text(operator.operand, depth))


def _approx(operator: Operator, depth: int) -> str:
    digits = operator.options.get("round")
    if digits is not None:
        return f"{value_text(operator.operand, depth)} after rounding to {value_text(digits, depth)} digits"
    return f"about {value_text(operator.operand, depth)}{_margin(operator, depth)}"


def _number(operator: Operator, depth: int) -> str:
    return f"text with the number {value_text(operator.operand, depth)}{_margin(operator, depth)}"


def _margin(operator: Operator, depth: int) -> str:
    within = operator.options.get("within")
    return "" if within is None else f" (within {within if isinstance(within, str) else value_text(within, depth)})"


def _rouge(operator: Operator, depth: int) -> str:
    least = operator.options.get("least")
    return f"text like {value_text(operator.operand, depth)}" + (
        "" if least is None else f" (ROUGE-L of {value_text(least, depth)})"
    )


def _text(operator: Operator, depth: int) -> str:
    rule = operator.options.get("strings")
    how = "in any spelling that reads the same" if rule is None else f"(strings: {value_text(rule, depth)})"
    return f"{value_text(operator.operand, depth)} {how}"


def _between(operator: Operator, depth: int) -> str:
    match operator.operand:
        case [low, high]:
            return f"a number from {value_text(low, depth)} to {value_text(high, depth)}"
    return f"$between: {value_text(operator.operand, depth)}"


_OPERATOR_TEXTS: Mapping[str, Callable[[Operator, int], str]] = MappingProxyType(
    {
        "any": _joined_operands("or"),
        "all": _joined_operands("and"),
        "not": _phrase("anything but {}"),
        "optional": _phrase("{}, or nothing"),
        "ignore": lambda *_: "anything, or nothing",
        "regex": _phrase("text that matches {}"),
        "contains": _phrase("something that contains {}"),
        "text": _text,
        "approx": _approx,
        "gt": _phrase("a number greater than {}"),
        "ge": _phrase("a number of at least {}"),
        "lt": _phrase("a number less than {}"),
        "le": _phrase("a number of at most {}"),
        "between": _between,
        "date": _phrase("the day {}"),
        "datetime": _phrase("the moment {}"),
        "number": _number,
        "normalised": _phrase("{}, but for case, punctuation and articles"),
        "rouge": _rouge,
        "type": _phrase("a value of type {}"),
        "structure": _phrase("something of the structure of {}"),
        "subset": _phrase("at least {}"),
        "unordered": _phrase("{} in any order"),
        "ordered": _phrase("{} in this order"),
        "each": _phrase("a list in which each item is {}"),
        "json": _phrase("JSON text that says {}"),
        "judge": _phrase("something of which this is true: {}"),
        "literal": _phrase("{}"),
    }
)
