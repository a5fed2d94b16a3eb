"""The rules of the lint of tools, and what a rule finds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal


@dataclass(frozen=True, slots=True)
class ToolRule:
    """One rule. `python -m benchmarks.tool_lint` measures whether models err more often where it applies."""

    summary: str
    effect: Literal["fact", "measured", "unmeasured", "none"]
    """Whether models are known to err more often: a run is refused anyway, measured, too few answers to tell, not."""
    severity: Literal["error", "warning"] = "warning"
    is_default: bool = False
    """Whether it is checked without being named."""


RULES: Mapping[str, ToolRule] = MappingProxyType(
    {
        "same-name": ToolRule("two tools have the same name on the wire", "fact", "error", is_default=True),
        "no-description": ToolRule(
            "a tool has no description, or one that repeats its name", "unmeasured", is_default=True
        ),
        "alike": ToolRule("two tools share half of their words", "measured", is_default=True),
        "many-tools": ToolRule("more than 20 tools are offered at once", "unmeasured"),
        "unexplained": ToolRule(
            "a parameter has no description, and a name that says nothing", "unmeasured", is_default=True
        ),
        "unused": ToolRule("an optional parameter without description is in no case", "unmeasured"),
        "contradiction": ToolRule("the description calls a required parameter optional", "unmeasured", is_default=True),
        "choices-in-words": ToolRule("the description lists the values of a free string", "none"),
        "bounds-in-words": ToolRule("the description bounds a number that the schema does not bound", "none"),
        "format-in-words": ToolRule(
            "the description names the format of a string, and the schema does not", "measured", is_default=True
        ),
        "default-in-words": ToolRule("the description names a default, and the schema does not", "none"),
        "no-type": ToolRule("a parameter has no type", "unmeasured"),
        "open-object": ToolRule("an object has no properties, or takes any others", "unmeasured"),
    }
)
"""The rules by their names."""


@dataclass(frozen=True, slots=True)
class ToolFinding:
    """A finding of a rule about a tool, or about one of its arguments."""

    rule: str
    tool: str
    argument: str
    """The path of the argument, such as `filter.unit`; empty for the tool itself."""
    message: str
    hint: str
    other: str = ""
    """The other tool, where the finding is about two."""
