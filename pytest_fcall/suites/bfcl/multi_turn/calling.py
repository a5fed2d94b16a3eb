"""Calls in the form in which the official checker carries them out: Python source in, text out."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from pytest_fcall.suites.bfcl.source_calls import called, unknown
from pytest_fcall.suites.bfcl.world import methods_of

_NOT_ALLOWED: Final = frozenset({"kill", "exit", "quit", "remove", "unlink", "popen", "Popen", "run"})
_CALLED: Final = re.compile(r"\b([a-zA-Z_]\w*)\s*(?=\()")


class Callees:
    """Instances of the leaderboard's classes, by their names, whose methods are called by source text.

    The official checker evaluates the text, whatever it says. Here it may say one thing, a method with literals for
    arguments; anything else comes to an error. The text is changed before that, as it is officially: what looks like
    a call of a method gets the `owner` before it, and loses the space before its bracket, within strings, too.
    """

    def __init__(self, owner: str, instances: Mapping[str, object]) -> None:
        self.instances = instances
        self._methods = {f"{owner}_{name}_instance": methods_of(each) for name, each in self.instances.items()}
        self._owners = {method: name for name, methods in self._methods.items() for method in methods}

    @property
    def names(self) -> Sequence[str]:
        """Of all methods."""
        return [*self._owners]

    def result_of(self, source: str) -> str:
        """What a call comes to, in the official words."""
        try:
            return _in_words(self._called(_CALLED.sub(self._with_owner, source)))
        except Exception as error:  # whatever a method raises is its result
            return f"Error during execution: {error}"

    def _with_owner(self, found: re.Match[str]) -> str:
        name = found[1]
        return f"{self._owners[name]}.{name}" if name in self._owners else name

    def _called(self, source: str) -> object:
        callee, _, _ = source.partition("(")
        name = callee.split(".")[1] if "." in callee else callee
        if name in _NOT_ALLOWED:
            raise ValueError(f"Function call {name} is not allowed.")
        return called(source, self._method)

    def _method(self, callee: ast.expr) -> Callable[..., object]:
        match callee:
            case ast.Attribute(ast.Name(owner), name) if name in self._methods.get(owner, {}):
                return self._methods[owner][name]
        raise unknown(callee)


def source_of(name: object, arguments: Mapping[Any, object]) -> str:
    """A native call as the source that the official harness makes of it."""
    return f"{name}({','.join(f'{key}={value!r}' for key, value in arguments.items())})"


def _in_words(result: object) -> str:
    """What a model is told of a result."""
    if type(result) is dict:
        try:
            return json.dumps(result)
        except Exception:  # there is an object in it
            return str(result)
    return str(result)
