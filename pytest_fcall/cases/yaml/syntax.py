"""What libyaml complains about, in words a person can act on."""

from __future__ import annotations

import re
from typing import NamedTuple

import yaml

from pytest_fcall.cases.faults import Source, shown
from pytest_fcall.core import Fault

_LAYOUT = "look at the indentation here and in the lines above"
_QUOTES = "a text with `: ` or ` #` in it needs quotes; else look at the indentation"


class _Words(NamedTuple):
    """What to say of a problem; with `at_context` the place is where the broken thing began."""

    message: str
    hint: str = ""
    at_context: bool = False


_PROBLEMS = {
    "mapping values are not allowed in this context": _Words("a `:` may not stand here", _QUOTES),
    "did not find expected key": _Words("a `key:` should stand here", _LAYOUT),
    "did not find expected '-' indicator": _Words("a `- ` should stand here, as in the lines above", _LAYOUT),
    "could not find expected ':'": _Words("a `key:` should stand here", _QUOTES, at_context=True),
    "did not find expected ',' or ']'": _Words("this list is not closed: `,` or `]` is missing", at_context=True),
    "did not find expected ',' or '}'": _Words("this mapping is not closed: `,` or `}` is missing", at_context=True),
    "did not find expected node content": _Words("a value is missing here, or a bracket above is not closed"),
    "found unexpected end of stream": _Words("this quoted text is not closed", at_context=True),
    "but found another document": _Words("a second document begins here", "keep one document in a file"),
    "second occurrence": _Words("this anchor's name is taken", "give each anchor a name of its own"),
    "found undefined tag handle": _Words("this tag is not known", "quote a text that begins with `!`"),
    "found invalid Unicode character escape code": _Words("this escape is no character"),
    "found unknown escape character": _Words("this is no escape", "in double quotes write `\\\\` for a backslash"),
    "block sequence entries are not allowed in this context": _Words("a `- ` may not stand here", _LAYOUT),
    "found incompatible YAML document": _Words("this version of YAML is not read", "leave the `%YAML` line out"),
}
_CHARACTERS = {
    "\t": _Words("a tab stands where YAML wants spaces", "indent with spaces"),
    "@": _Words("a text may not begin with `@`", "put it in quotes"),
    "`": _Words("a text may not begin with a back quote", "put it in quotes"),
    "%": _Words("a text may not begin with `%`", "put it in quotes"),
}
_ALIAS = re.compile(r"[^\s,\[\]{}]+")


def syntax_fault(source: Source, error: yaml.MarkedYAMLError) -> Fault:
    """Tell a parser's error as a Fault at the place where a person would mend it."""
    mark = error.problem_mark or error.context_mark
    problem = error.problem or "it cannot be read"
    rest = source.line(mark.line + 1)[mark.column :] if mark else ""
    words = _PROBLEMS.get(problem)
    if problem == "found character that cannot start any token":
        words = _CHARACTERS.get(rest[:1])
    elif problem == "found undefined alias":
        name = _ALIAS.match(rest)
        message = f"no anchor stands before the alias {shown(name.group() if name else rest)}"
        words = _Words(message, "quote a text that begins with `*`")
    if words is None:
        context = f" {error.context}" if error.context else ""
        words = _Words(f"this is no YAML:{context} {problem}".replace("  ", " "), _LAYOUT)
    place = (error.context_mark or mark) if words.at_context else mark
    return source.fault("yaml", place, words.message, words.hint)
