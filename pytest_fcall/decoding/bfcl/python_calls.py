"""Calls written in Python, as the official decoder reads them: only what is given by name, and names as their text."""

from __future__ import annotations

import ast

from pytest_fcall.decoding.bfcl import ordinary_calls
from pytest_fcall.decoding.bfcl.evaluation import Evaluation
from pytest_fcall.decoding.bfcl.undecodable import Undecodable
from pytest_fcall.decoding.python.source import NotPython, parse_expression

Decoded = list[dict[object, object]]

_DEEPEST = 200
"""Python itself reads no more brackets within one another."""


def decode_python(text: str) -> Decoded:
    """Read one call, or a sequence of nothing else."""
    calls = ordinary_calls.read(text)
    return parsed_calls(text) if calls is None else calls


def parsed_calls(text: str) -> Decoded:
    """Read the calls by Python's own parser."""
    work = Evaluation()
    try:
        return [_call(node, work) for node in _items(parse_expression(text, deepest=_DEEPEST))]
    except NotPython as error:
        raise Undecodable(f"it is not Python: {error}") from None
    except RecursionError:
        raise Undecodable("it is nested too deep") from None
    except (TypeError, ValueError) as error:  # a list as a key; a number too long to be written down
        raise Undecodable(str(error)) from None


def _items(tree: ast.expr) -> list[ast.Call]:
    nodes = tree.elts if isinstance(tree, ast.List | ast.Tuple | ast.Set) else [tree]
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    if len(calls) < len(nodes):
        raise Undecodable("it holds something else than calls")
    return calls


def _call(node: ast.Call, work: Evaluation) -> dict[object, object]:
    return {_name(node.func): {keyword.arg: _value(keyword.value, work) for keyword in node.keywords}}


def _name(node: ast.expr) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        parts.append(node.id)
    return ".".join(reversed(parts))


def _value(node: ast.expr | None, work: Evaluation) -> object:
    match node:
        case ast.Constant(value=value):
            return "..." if value is ... else value
        case ast.List(elts=items):
            return [_value(item, work) for item in items]
        case ast.Tuple(elts=items):
            return tuple([_value(item, work) for item in items])
        case ast.Dict(keys=keys, values=values):
            return {_value(key, work): _value(value, work) for key, value in zip(keys, values, strict=True)}
        case ast.UnaryOp(operand=ast.Constant(value=int() | float() | complex() as number)):
            return -number  # whatever the sign was
        case ast.BinOp():
            return work.value(node)
        case ast.Call(keywords=[_, *_]):
            return _call(node, work)
    return _text(node)


def _text(node: ast.expr | None) -> str:
    """Give what stands in the place of a value, in Python's own spelling."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Call():
            return ast.unparse(node)
        case ast.Subscript(value=value, slice=place):
            return f"{ast.unparse(value)}[{ast.unparse(place)}]"
    raise Undecodable(f"an argument is a {type(node).__name__}")
