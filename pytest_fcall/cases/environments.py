"""`environment:`, what stands behind the tools when they are really called."""

from __future__ import annotations

import re
from importlib.util import find_spec
from types import MappingProxyType
from typing import Final

from yaml import Node

from pytest_fcall.cases import fields
from pytest_fcall.cases.faults import did_you_mean, shown
from pytest_fcall.cases.scope import Scope

SOURCES: Final = MappingProxyType({"python": "python", "mcp": "mcp", "http": "openapi"})
"""The words that have calls answered by what the tools were read from, and the source that each is for."""

_NAME = r"[^\W\d]\w*(\.[^\W\d]\w*)*"
_TARGET = re.compile(rf"{_NAME}(:{_NAME})?")


def environment(node: Node, scope: Scope) -> str:
    """One of the words, a module, or `module:callable`."""
    target = fields.word(node, scope.faults, "`environment`")
    if not target:
        return target
    if not _TARGET.fullmatch(target):
        hint = f"such as shop.fake:make, or one of {', '.join(SOURCES)}"
        scope.faults.add("wrong-value", node, f"{shown(target)} is no `module:callable` and no module", hint)
    elif target in SOURCES:
        _check_source(target, node, scope)
    elif (meant := did_you_mean(target, SOURCES)) and find_spec(target.partition(".")[0].partition(":")[0]) is None:
        scope.faults.add("wrong-value", node, f"there is no module {shown(target)}", meant)
    return target


def _check_source(word: str, node: Node, scope: Scope) -> None:
    """Tell of a word that none of the tools goes with; HTTP carries out commands of curl, too, for any tools."""
    source = SOURCES[word]
    tools = scope.toolbox.tools.values()
    if word == "http" or not scope.toolbox.complete or any(source in (tool.origin or {}) for tool in tools):
        return
    message = f"`environment: {word}` calls the tools of `{source}:` sources, and this file has none"
    scope.faults.add("wrong-value", node, message, f"add a source `{source}: …` to `tools:`")
