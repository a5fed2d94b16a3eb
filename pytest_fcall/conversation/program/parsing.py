"""Programs as trees in which nothing stands but what is on the list."""

from __future__ import annotations

import ast
import warnings

from pytest_fcall.core.arithmetic import TOO_LONG

LONGEST = 10_000
"""Characters. What a model writes has a few hundred; of longer text, Python takes quadratic time for some."""
DEEPEST = 50
"""Levels of nesting, so that walking a tree may recurse."""

_ALLOWED = (
    *(ast.Module, ast.Assign, ast.AugAssign, ast.Expr, ast.Pass),
    *(ast.Constant, ast.Name, ast.Attribute, ast.Load, ast.Store, ast.Call, ast.keyword, ast.List, ast.Tuple, ast.Dict),
    *(ast.UnaryOp, ast.UAdd, ast.USub, ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow),
)
# Below these stands nothing that is not on the list, and most nodes are such.
_LEAVES = (ast.Constant, ast.Name, ast.expr_context, ast.operator, ast.unaryop)


class Malformed(ValueError):
    """The text is no program of the kind that is carried out. Says why, without a full stop."""


def statements(source: str) -> list[ast.stmt]:
    """Give the statements: assignments to names, and calls, of literals, variables, arithmetic and calls."""
    if len(source) > LONGEST:
        raise Malformed(f"it has more than {LONGEST:,} characters")
    tree = _parsed(source)
    level: list[ast.AST] = [tree]
    for _ in range(DEEPEST):
        inner = (node for node in level if not isinstance(node, _LEAVES))
        level = [child for node in inner for child in ast.iter_child_nodes(node)]
        for node in level:
            if not isinstance(node, _ALLOWED):
                raise Malformed(f"{_described(node)} stands in it{place(node)}")
        if not level:
            return tree.body
    raise Malformed(f"it is nested more than {DEEPEST} levels deep")


def dotted(node: ast.expr) -> str:
    """The name in `f` or `a.b.f`; Malformed for anything else, and for names that are not public."""
    parts: list[str] = []
    inner = node
    while isinstance(inner, ast.Attribute):
        parts.append(inner.attr)
        inner = inner.value
    if not isinstance(inner, ast.Name):
        raise Malformed(f"what is called has no name{place(node)}")
    name = ".".join((inner.id, *reversed(parts)))
    if any(part.startswith("_") for part in name.split(".")):
        raise Malformed(f"{name[:40]!r} is no public name{place(node)}")
    return name


def place(node: ast.AST) -> str:
    """Where in the program, in words."""
    line = getattr(node, "lineno", None)
    return f" (line {line})" if line else ""


def _parsed(source: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except (RecursionError, MemoryError):
        raise Malformed("it is nested too deep") from None
    except SyntaxError as error:
        reason = TOO_LONG if "limit" in error.msg else error.msg.partition(" (<")[0]  # on the digits of a whole number
        raise Malformed(f"{reason} (line {error.lineno})" if error.lineno else reason) from None
    except UnicodeError:
        raise Malformed("it holds half of a surrogate pair") from None
    except ValueError as error:
        raise Malformed(str(error)) from None


def _described(node: ast.AST) -> str:
    name = type(node).__name__
    return f"{'an' if name[0] in 'AEIOU' else 'a'} `{name}`"
