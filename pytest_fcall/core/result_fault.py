"""A result of a call that is faulty on purpose, and what became of it."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from pytest_fcall.core.bounded_text import glob_matches
from pytest_fcall.core.conversation import CallResult
from pytest_fcall.core.operators import Pattern

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_fcall.core.values import Json

FaultKind: TypeAlias = Literal["timeout", "error", "truncated", "corrupt", "slow"]
Recovery: TypeAlias = Literal["retries", "tells", "other_tool"]
"""A right reaction: it makes the call again, says that it failed, or calls another tool instead."""

MESSAGES: Final[Mapping[FaultKind, str]] = MappingProxyType(
    {
        "timeout": "it took longer than 30 s",
        "error": "503 Service Unavailable",
        "slow": "still running after 30 s; make the same call again to get its result",
    }
)
"""The texts that the model reads, by the kind of fault. The first is that of our own environments."""
_CARRIED_OUT: Final = frozenset({"timeout", "truncated", "corrupt"})
_CASE_ID: Final = "{case}[fault={name}]"
_NAME: Final = re.compile(r"\[fault=((?:([^\[\]]*)\.)?([^\[\].]+))\]$")
_LETTER: Final = re.compile(r"[^\W_]")
_GARBLED: Final = "\N{REPLACEMENT CHARACTER}"


@dataclass(frozen=True, slots=True)
class ResultFault:
    """A fault of a tool's results: its kind, the number of faulty results, and the right reactions."""

    name: str
    """The name of the fault in the id of the case: its kind, behind an `id`, if it has one."""
    kind: FaultKind
    tools: tuple[str, ...]
    """Globs over the tools whose results are faulty."""
    times: int | None = 1
    """The number of faulty results of each tool, counted from its first; None for all of them."""
    recovery: tuple[Recovery, ...] = ("retries", "tells")
    other_tools: tuple[str, ...] = ()
    """The tools that may be called instead."""
    most: int = 3
    """The most repetitions of a call."""
    answer: Pattern = None
    """The pattern that a text must match to count as a report of the failure; None for the built-in rule."""
    effect: bool = False
    """Whether a call changes something, so that it must not be made again without a look at what became of it."""
    message: str = ""

    @property
    def is_carried_out(self) -> bool:
        """Whether the call is carried out, and only its result is lost."""
        return self.kind in _CARRIED_OUT

    def case_id(self, case: str) -> str:
        """The id of a case with this fault."""
        return _CASE_ID.format(case=case, name=self.name)

    def is_for(self, tool: str) -> bool:
        """Whether results of this tool are faulty."""
        return any(glob_matches(glob, tool) for glob in self.tools)

    def result(self, sound: CallResult) -> CallResult:
        """The faulty result in place of a sound one."""
        if self.kind in ("timeout", "error"):
            return CallResult(error=self.message, fault=self.kind)
        if self.kind == "slow":
            return CallResult({"status": "running", "message": self.message}, fault=self.kind)
        value: Json = sound.value if sound.error is None else {"error": sound.error}
        if self.kind == "truncated":
            return CallResult(_cut(value), fault=self.kind)
        return CallResult(_garbled(value), fault=self.kind)


class RecoveryResult(NamedTuple):
    """The model's reaction to a fault in one answer to a case."""

    name: str
    """The name of the fault."""
    kind: str
    tools: tuple[str, ...] = ()
    """The tools whose faulty results the model got; none where it got none."""
    how: str = ""
    """`retries`, `tells` or `other_tool`; empty where the model did not recover as it should."""


def fault_names(case_id: str) -> frozenset[str]:
    """All names of the fault of a case: its name, its kind and the `id` of its entry; none for a case without one."""
    found = _NAME.search(case_id)
    return frozenset(filter(None, found.groups())) if found else frozenset()


@dataclass(slots=True)
class FaultCount:
    """The faulty results so far, by tool."""

    fault: ResultFault
    _counts: Counter[str] = field(default_factory=Counter)

    def takes(self, tool: str) -> bool:
        """Whether the result of the next call of this tool is faulty."""
        if not self.fault.is_for(tool):
            return False
        self._counts[tool] += 1
        return self.fault.times is None or self._counts[tool] <= self.fault.times

    def marked(self, tool: str, result: CallResult) -> CallResult:
        """The result as it was given, marked where it is faulty: baselines keep results without the mark."""
        return replace(result, fault=self.fault.kind if self.takes(tool) else None)


def _cut(value: Json) -> str:
    """The first half of a value as JSON. One that JSON does not enclose gets braces, or nobody would see the cut."""
    enclosed = value if isinstance(value, dict | list) and len(value) else {"result": value}
    text = json.dumps(enclosed, ensure_ascii=False, default=str)
    return text[: max(len(text) // 2, 1)]


def _garbled(value: Json) -> str:
    """A value as JSON, of which every letter and digit was lost on the way."""
    text = json.dumps({"result": value}, ensure_ascii=False, default=str)
    return _LETTER.sub(_GARBLED, text)
