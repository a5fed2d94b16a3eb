"""Syntax errors of YAML, in words that say how to correct the file."""

from __future__ import annotations

import re
from typing import NamedTuple

import yaml

from pytest_fcall.cases.faults import SourceFile, quoted
from pytest_fcall.core import Fault

_LAYOUT = "check the indentation here and in the lines above"
_QUOTES = "quote a string that contains `: ` or ` #`; otherwise check the indentation"


class _Problem(NamedTuple):
    """Message and hint for a problem. With `at_context` its position is where the broken element begins."""

    message: str
    hint: str = ""
    at_context: bool = False


_PROBLEMS = {
    "mapping values are not allowed in this context": _Problem("unexpected `:`", _QUOTES),
    "did not find expected key": _Problem("expected a `key:`", _LAYOUT),
    "did not find expected '-' indicator": _Problem("expected `- `, as in the lines above", _LAYOUT),
    "could not find expected ':'": _Problem("expected a `key:`", _QUOTES, at_context=True),
    "did not find expected ',' or ']'": _Problem("this list is not closed: `,` or `]` is missing", at_context=True),
    "did not find expected ',' or '}'": _Problem("this mapping is not closed: `,` or `}` is missing", at_context=True),
    "did not find expected node content": _Problem("a value is missing here, or a bracket above is not closed"),
    "found unexpected end of stream": _Problem("this quoted string is not closed", at_context=True),
    "but found another document": _Problem("a second document begins here", "keep one document in a file"),
    "second occurrence": _Problem("duplicate anchor", "give each anchor its own name"),
    "found undefined tag handle": _Problem("unknown tag", "quote a string that begins with `!`"),
    "found invalid Unicode character escape code": _Problem("this escape is not a character"),
    "found unknown escape character": _Problem("unknown escape", "in double quotes write `\\\\` for a backslash"),
    "block sequence entries are not allowed in this context": _Problem("unexpected `- `", _LAYOUT),
    "found incompatible YAML document": _Problem("unsupported version of YAML", "leave the `%YAML` line out"),
}
_CHARACTERS = {
    "\t": _Problem("a tab is not allowed here", "indent with spaces"),
    "@": _Problem("a string must not begin with `@`", "put it in quotes"),
    "`": _Problem("a string must not begin with a back quote", "put it in quotes"),
    "%": _Problem("a string must not begin with `%`", "put it in quotes"),
}
_CONFLICT = re.compile(r"^<{7} ", re.MULTILINE)
_ALIAS = re.compile(r"[^\s,\[\]{}]+")


def syntax_fault(source: SourceFile, error: yaml.MarkedYAMLError) -> Fault:
    """The fault for an error of the parser, at the position where the file needs to be corrected."""
    if conflict := _CONFLICT.search(source.text):
        hint = "keep the lines of one side or of both, and delete the three lines of markers"
        return source.fault("merge-conflict", source.place(conflict.start()), "an unresolved merge conflict", hint)
    mark = error.problem_mark or error.context_mark
    text = error.problem or "it cannot be parsed"
    rest = source.line(mark.line + 1)[mark.column :] if mark else ""
    problem = _PROBLEMS.get(text)
    if text == "found character that cannot start any token":
        problem = _CHARACTERS.get(rest[:1])
    elif text == "found undefined alias":
        name = _ALIAS.match(rest)
        message = f"the alias {quoted(name.group() if name else rest)} has no anchor before it"
        problem = _Problem(message, "quote a string that begins with `*`")
    if problem is None:
        context = f" {error.context}" if error.context else ""
        problem = _Problem(f"invalid YAML:{context} {text}".replace("  ", " "), _LAYOUT)
    place = (error.context_mark or mark) if problem.at_context else mark
    return source.fault("yaml", place, problem.message, problem.hint)
