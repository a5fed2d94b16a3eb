"""Mutants of a module: its source with one small mistake each."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass

_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
_NAMES = {"min": "max", "max": "min", "any": "all", "all": "any"}
_ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Constant, ast.Subscript)
_DELETED = (ast.Raise, ast.Continue, ast.Break, ast.AugAssign, ast.Delete)
_FOR_CHECKERS_OF_TYPES = ("TypeVar", "ParamSpec", "cast")


@dataclass(frozen=True, slots=True)
class Mutant:
    """One place of a module, and the text that stands there instead."""

    module: str
    function: str
    """The qualified name of the function or class around the place; empty at the level of the module."""
    lines: range
    """The lines, from the beginning of the statement to the end of the place."""
    line: int
    was: str
    """The changed lines before, and `becomes` after: on one line, so that layout means nothing."""
    becomes: str
    source: bytes
    """The whole module with the mistake."""


def mutants_of(module: str, source: str) -> list[Mutant]:
    """Make every mutant of a module, in the order of their places."""
    text = source.encode()
    starts = [0]
    for row in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(row))
    found: dict[bytes, Mutant] = {}
    for place in _Places().of(ast.parse(source)):
        node = place.node
        begin = starts[node.lineno - 1] + node.col_offset
        end = starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
        first, last = starts[node.lineno - 1], starts[node.end_lineno or 0]
        changed = place.text.encode()
        mutant = Mutant(
            module=module,
            function=place.function,
            lines=range(place.first, (node.end_lineno or 0) + 1),
            line=node.lineno,
            was=_on_one_line(text[first:last]),
            becomes=_on_one_line(text[first:begin] + changed + text[end:last]),
            source=text[:begin] + changed + text[end:],
        )
        if mutant.was != mutant.becomes:
            found.setdefault(mutant.source, mutant)
    return list(found.values())


def _on_one_line(lines: bytes) -> str:
    return " ".join(lines.decode().split())


@dataclass(frozen=True, slots=True)
class _Place:
    node: ast.expr | ast.stmt
    text: str
    first: int
    function: str


class _Places:
    """Walks through a module and finds what can be mistaken in it."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._first = 0
        self._gives_bool = False

    def of(self, module: ast.Module) -> Iterator[_Place]:
        return self._all(module.body)

    def _all(self, nodes: Sequence[ast.AST]) -> Iterator[_Place]:
        for node in nodes:
            yield from self._in(node)

    def _in(self, node: ast.AST) -> Iterator[_Place]:
        if isinstance(node, ast.stmt):
            self._first = node.lineno
        elif isinstance(node, ast.match_case):
            self._first = node.pattern.lineno
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield from self._inside(node)
        elif not _means_nothing(node):
            for text in self._mistakes(node):
                assert isinstance(node, (ast.expr, ast.stmt))
                yield _Place(node, text, self._first, ".".join(self._names))
            yield from self._all(_parts(node))

    def _inside(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> Iterator[_Place]:
        outer = self._gives_bool
        self._names.append(node.name)
        if not isinstance(node, ast.ClassDef):
            yield from self._all([each for each in (*node.args.defaults, *node.args.kw_defaults) if each])
            self._gives_bool = isinstance(node.returns, ast.Name) and node.returns.id == "bool"
        yield from self._all(node.body)
        self._names.pop()
        self._gives_bool = outer

    def _mistakes(self, node: ast.AST) -> Iterator[str]:
        if isinstance(node, ast.Return) and node.value and not _is_none(node.value):
            yield from ("return True", "return False") if self._gives_bool else ("return None",)
        elif _can_be_deleted(node):
            yield "pass"
        elif isinstance(node, ast.expr):
            yield from _other_expressions(node)
        if isinstance(node, ast.AugAssign) and type(node.op) in _ARITHMETIC:
            yield ast.unparse(_changed(node, op=_ARITHMETIC[type(node.op)]()))


def _parts(node: ast.AST) -> list[ast.AST]:
    """What may be mistaken within a node; conditions are marked, so that they can be forced."""
    if isinstance(node, ast.JoinedStr):  # Python 3.11 does not know where its parts are
        return []
    if isinstance(node, ast.AnnAssign):
        return [node.value] if node.value else []
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _FOR_CHECKERS_OF_TYPES:
        return [*node.args[1:]] if node.func.id == "cast" else []
    forced = (False,) if isinstance(node, ast.While) else (True, False)  # what never ends only takes time
    return [*(_Forced(test, to) for test in _conditions(node) for to in forced), *ast.iter_child_nodes(node)]


def _conditions(node: ast.AST) -> list[ast.expr]:
    match node:
        case ast.If() | ast.IfExp() | ast.While():
            return [node.test]
        case ast.comprehension():
            return node.ifs
        case ast.match_case(guard=ast.expr() as guard):
            return [guard]
    return []


class _Forced(ast.expr):
    """A condition in its place, to be replaced by a constant."""

    def __init__(self, test: ast.expr, to: bool) -> None:
        super().__init__()
        ast.copy_location(self, test)
        self.to = to


def _other_expressions(node: ast.expr) -> Iterator[str]:
    match node:
        case _Forced():
            yield str(node.to)
        case ast.Compare():
            for index, op in enumerate(node.ops):
                for other in _COMPARISONS[type(op)]:
                    ops = [*node.ops[:index], other(), *node.ops[index + 1 :]]
                    yield ast.unparse(_changed(node, ops=ops))
        case ast.BoolOp():
            yield from _other_conditions(node)
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            yield _as_atom(node.operand)
        case ast.BinOp() if type(node.op) in _ARITHMETIC:
            yield f"({ast.unparse(_changed(node, op=_ARITHMETIC[type(node.op)]()))})"
        case ast.Name(ctx=ast.Load()) if node.id in _NAMES:
            yield _NAMES[node.id]
        case _:
            yield from _other_constants(node)


def _other_conditions(node: ast.BoolOp) -> Iterator[str]:
    yield f"({ast.unparse(_changed(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And()))})"
    for index in range(len(node.values)):
        left = [*node.values[:index], *node.values[index + 1 :]]
        yield _as_atom(left[0]) if len(left) == 1 else f"({ast.unparse(_changed(node, values=left))})"


def _other_constants(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.JoinedStr):
        yield '""'
    match node.value if isinstance(node, ast.Constant) else None:
        case bool(value):
            yield str(not value)
        case int(value) | float(value):
            yield repr(value + 1)
        case str(value):
            yield repr("" if value else "mutant")


def _as_atom(node: ast.expr) -> str:
    text = ast.unparse(node)
    return text if isinstance(node, _ATOMS) else f"({text})"


def _changed(node: ast.AST, **fields: object) -> ast.AST:
    changed = copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def _can_be_deleted(node: ast.AST) -> bool:
    """Whether a statement may be left out without a name that is then missing."""
    if isinstance(node, ast.Assign):
        return all(isinstance(target, (ast.Attribute, ast.Subscript)) for target in node.targets)
    return isinstance(node, (*_DELETED, ast.Expr))


def _means_nothing(node: ast.AST) -> bool:
    """Whether no run can tell: documentation, imports, and what only checkers of types read."""
    match node:
        case ast.Expr(value=ast.Constant()) | ast.Import() | ast.ImportFrom():
            return True
        case ast.AnnAssign(annotation=ast.Name(id="TypeAlias")):
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.keyword(arg="strict", value=ast.Constant(value=True)):  # asserts what holds anyway
            return True
    return False


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
