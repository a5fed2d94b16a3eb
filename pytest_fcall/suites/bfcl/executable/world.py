"""What carries the calls out, inside the process in which that is done."""

from __future__ import annotations

import ast
from collections.abc import Callable

from pytest_fcall.suites.bfcl.executable.functions import FUNCTIONS
from pytest_fcall.suites.bfcl.source_calls import called, unknown


def make() -> dict[str, Callable[[str], object]]:
    """Make a function that calls what a source text calls: the functions of these categories, and nothing else."""
    return {"carry_out": carry_out}


def carry_out(source: str) -> object:
    """What a call gives; whatever is wrong with it rises."""
    return called(source, _function)


def _function(callee: ast.expr) -> Callable[..., object]:
    match callee:
        case ast.Name(name) if name in FUNCTIONS:
            return FUNCTIONS[name]
    raise unknown(callee)
