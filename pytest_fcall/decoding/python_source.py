"""Python expressions in untrusted text: their syntax trees, their ends, and the values of literals.

Literals include arithmetic on numbers, and the words of JSON, which models mix in.
"""

from __future__ import annotations

import ast
import math
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import chain

from pytest_fcall.core import arithmetic
from pytest_fcall.core.arithmetic import Incalculable, Number
from pytest_fcall.core.values import HUGE_INTEGER, Json
from pytest_fcall.decoding.unreadable_text import MAX_DEPTH, Unreadable, repeated_key_notes, repeated_keys

MAX_LENGTH = 1_000_000
"""The most characters that are read."""
_MAX_STATEMENTS = 10_000
_HARMLESS_LENGTH = 10_000
_STRING_OR_COMMENT = re.compile(
    r"""(?:\b[a-z]{1,2})?(?:
        '''(?>(?:[^'\\]+|\\.|'(?!''))*) | \"""(?>(?:[^"\\]+|\\.|"(?!""))*)
        | '(?>(?:[^'\\\n]+|\\.)*)' | "(?>(?:[^"\\\n]+|\\.)*)"
    ) | \#[^\n]*""",
    re.DOTALL | re.IGNORECASE | re.VERBOSE,
)
_F_STRING = re.compile(r"r?fr?['\"]", re.IGNORECASE)
_TOO_DEEP = "it is nested too deeply"
# An unclosed string is a token, too. Otherwise each escaped quote in it would be tried as the start of a string.
_PYTHON_TOKEN = re.compile(
    r"""
    '{3}(?>(?:[^'\\]+|\\.|'(?!''))*)(?:'{3}|(?P<unclosed_a>))
    | \"{3}(?>(?:[^"\\]+|\\.|"(?!""))*)(?:\"{3}|(?P<unclosed_b>))
    | '(?>(?:[^'\\\n]+|\\.)*)(?:'|(?P<unclosed_c>))
    | "(?>(?:[^"\\\n]+|\\.)*)(?:"|(?P<unclosed_d>))
    | (?P<open>[(\[{]) | (?P<close>[)\]}]) | (?P<comment>\#[^\n]*) | (?P<line>[\n;])
    """,
    re.DOTALL | re.VERBOSE,
)
_JSON_WORDS: Mapping[str, bool | None] = {"true": True, "false": False, "null": None}
_NODE_NAMES: Mapping[type[ast.expr], str] = {
    ast.Call: "a call",
    ast.Attribute: "an attribute",
    ast.Subscript: "a part of another value",
    ast.Set: "a set",
    ast.JoinedStr: "an f-string",
    ast.Lambda: "a function",
    ast.ListComp: "a comprehension",
    ast.SetComp: "a comprehension",
    ast.DictComp: "a comprehension",
    ast.GeneratorExp: "a comprehension",
}


class NotPython(Unreadable):
    """A text is not Python, or not the Python that is needed."""


def parse_expression(text: str, *, deepest: int = MAX_DEPTH) -> ast.expr:
    """Give the tree of one Python expression, at most `deepest` levels deep, so that it can be walked recursively.

    Takes linear time. Raises NotPython for any other text. Names are normalised as Python does it (NFKC).
    """
    if len(text) > MAX_LENGTH:
        raise NotPython(f"it has more than {MAX_LENGTH:,} characters")
    if len(text) > _HARMLESS_LENGTH and any(_F_STRING.match(found[0]) for found in _STRING_OR_COMMENT.finditer(text)):
        raise NotPython("it is long and contains an f-string")  # Python takes quadratic time for those
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text, mode="eval").body
    except (RecursionError, MemoryError):
        raise NotPython(_TOO_DEEP) from None
    except SyntaxError as error:
        raise NotPython(_syntax_error_text(error)) from None
    except UnicodeError:
        raise NotPython("it contains half of a surrogate pair") from None
    except ValueError as error:
        raise NotPython(str(error)) from None
    if len(text) > deepest:  # each level needs at least one character
        _check_depth(tree, deepest)
    return tree


def _check_depth(tree: ast.AST, deepest: int) -> None:
    level: list[ast.AST] = [tree]
    for _ in range(deepest):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return
    raise NotPython(_TOO_DEEP)


def _syntax_error_text(error: SyntaxError) -> str:
    if "limit" in error.msg:  # the limit of digits of an integer
        return HUGE_INTEGER
    reason = error.msg.partition(" (<")[0]
    return f"{reason} (line {error.lineno}, column {error.offset})" if error.lineno else reason


def expression_end(text: str, start: int) -> int:
    """Give the place after the bracket that closes the first one from `start` on. Raises NotPython where none does."""
    depth = 0
    for token in _PYTHON_TOKEN.finditer(text, start):
        match token.lastgroup:
            case "open":
                depth += 1
            case "close":
                depth -= 1
                if depth <= 0:
                    return token.end()
            case None | "comment" | "line":
                pass
            case _:
                raise NotPython("a string is not closed")
    raise NotPython("a bracket is not closed")


def statements(text: str) -> Iterator[str]:
    """Split text at line ends and semicolons outside brackets, without comments. Raises NotPython at too many."""
    for count, statement in enumerate(filter(None, map(str.strip, _raw_statements(text))), 1):
        if count > _MAX_STATEMENTS:
            raise NotPython(f"it has more than {_MAX_STATEMENTS:,} lines")
        yield statement


def _raw_statements(text: str) -> Iterator[str]:
    depth = start = 0
    for token in _PYTHON_TOKEN.finditer(text):
        if token.lastgroup == "open":
            depth += 1
        elif token.lastgroup == "close":
            depth -= 1
        elif token.lastgroup in {"comment", "line"} and depth <= 0:
            yield text[start : token.start()]
            start = token.end()
    yield text[start:]


def literal(node: ast.expr) -> Json:
    """Give the plain value of a literal. Tuples become lists; `true`, `false` and `null` are read as in JSON.

    Arithmetic on numeric literals is computed. Raises NotPython for any other expression, naming it.
    """
    match node:
        case ast.Constant(value=str() | bool() | None as value):
            return value
        case ast.Constant(value=int() | float()) | ast.UnaryOp() | ast.BinOp():
            return _finite_number(node)
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [literal(item) for item in items]
        case ast.Dict(keys=keys, values=values):
            return {_key(key): literal(value) for key, value in zip(keys, values, strict=True)}
        case ast.Name(id=name) if name in _JSON_WORDS:
            return _JSON_WORDS[name]
    raise NotPython(f"{_described(node)} is not a literal")


def repeated_dict_keys(node: ast.AST) -> tuple[str, ...]:
    """Notes on repeated keys of dicts. The last one counts, as in Python."""
    dicts = (each for each in ast.walk(node) if isinstance(each, ast.Dict))
    keys = ([key.value for key in each.keys if isinstance(key, ast.Constant)] for each in dicts)
    return repeated_key_notes("key", chain.from_iterable(repeated_keys(map(str, each)) for each in keys))


def apply_sign(sign: ast.unaryop, number: Number) -> Number:
    """Apply a sign. Raises NotPython where that is impossible or too large."""
    with _as_not_python():
        return arithmetic.apply_sign(sign, number)


def apply_operator(operator: ast.operator, left: Number, right: Number) -> Number:
    """Apply an operator. Raises NotPython where that is impossible or too large."""
    with _as_not_python():
        return arithmetic.apply_operator(operator, left, right)


@contextmanager
def _as_not_python() -> Iterator[None]:
    try:
        yield
    except Incalculable as error:
        raise NotPython(str(error)) from None


def _finite_number(node: ast.expr) -> int | float:
    number = _number(node)
    # An integer may be too large for `math.isfinite`.
    if not isinstance(number, int) and (isinstance(number, complex) or not math.isfinite(number)):
        raise NotPython(f"{number} is not a JSON number")
    return number


def _number(node: ast.expr) -> Number:
    match node:
        case ast.Constant(value=int() | float() | complex() as number) if not isinstance(number, bool):
            with _as_not_python():
                return arithmetic.checked_size(number)
        case ast.UnaryOp(op=sign, operand=operand):
            return apply_sign(sign, _number(operand))
        case ast.BinOp(left=left, op=operator, right=right):
            return apply_operator(operator, _number(left), _number(right))
    raise NotPython("it is not arithmetic on numbers")


def _key(node: ast.expr | None) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    raise NotPython("a key of a dict is not a string" if node else "a dict contains `**`")


def _described(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name):
            return f"the name {name[:40]!r}"
        case ast.Constant(value=value):
            return f"a value of type {type(value).__name__}"
        case _:
            return _NODE_NAMES.get(type(node), "an expression")
