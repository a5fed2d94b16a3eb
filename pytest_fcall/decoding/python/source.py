"""Python expressions as trees, from text that nobody has checked."""

from __future__ import annotations

import ast
import re
import warnings

from pytest_fcall.core.arithmetic import TOO_LONG
from pytest_fcall.decoding.limits import DEEPEST
from pytest_fcall.decoding.unreadable import Unreadable

LONGEST = 1_000_000
"""Characters that are still read."""


class NotPython(Unreadable):
    """The text says why, without a full stop."""


def parse_expression(text: str, *, deepest: int = DEEPEST) -> ast.expr:
    """Give the tree of one Python expression, at most `deepest` levels deep, so that walking it may recurse.

    Takes linear time; whatever is wrong with the text raises NotPython. Names are normalised as Python does (NFKC).
    """
    if len(text) > LONGEST:
        raise NotPython(f"it has more than {LONGEST:,} characters")
    if len(text) > _HARMLESS and any(_F_STRING.match(found[0]) for found in _STRING_OR_COMMENT.finditer(text)):
        raise NotPython("it is long and holds an f-string")  # those take Python quadratic time
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text, mode="eval").body
    except (RecursionError, MemoryError):
        raise NotPython(_TOO_DEEP) from None
    except SyntaxError as error:
        raise NotPython(_told(error)) from None
    except UnicodeError:
        raise NotPython("it holds half of a surrogate pair") from None
    except ValueError as error:
        raise NotPython(str(error)) from None
    if len(text) > deepest:  # a level costs at least a character
        _check_depth(tree, deepest)
    return tree


_HARMLESS = 10_000
_STRING_OR_COMMENT = re.compile(
    r"""(?:\b[a-z]{1,2})?(?:
        '''(?:[^'\\]+|\\.|'(?!''))*+ | \"""(?:[^"\\]+|\\.|"(?!""))*+ | '(?:[^'\\\n]+|\\.)*+' | "(?:[^"\\\n]+|\\.)*+"
    ) | \#[^\n]*""",
    re.DOTALL | re.IGNORECASE | re.VERBOSE,
)
_F_STRING = re.compile(r"r?fr?['\"]", re.IGNORECASE)
_TOO_DEEP = "it is nested too deep"


def _check_depth(tree: ast.AST, deepest: int) -> None:
    level: list[ast.AST] = [tree]
    for _ in range(deepest):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return
    raise NotPython(_TOO_DEEP)


def _told(error: SyntaxError) -> str:
    if "limit" in error.msg:  # on the digits of a whole number
        return TOO_LONG
    reason = error.msg.partition(" (<")[0]
    return f"{reason} (line {error.lineno}, column {error.offset})" if error.lineno else reason
