"""The meaning of promptfoo's assertions on a test together, and the keys of a case that say as much."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.traces.values import mapping

ANY_ARGUMENTS: Final[Json] = {"$ignore": True}


class NotMapped(ValueError):
    """An assertion cannot be expressed. The text says why; an empty one that its kind is not known."""


@dataclass(slots=True)
class PromptfooExpectation:
    """The meaning of the assertions of a test together."""

    tools: Mapping[str, Tool]
    transform: Json = None
    """The transformation of each output before the test looks at it."""
    names: dict[int, str] = field(default_factory=dict)
    """The tools of single calls, by their number."""
    numbered_arguments: dict[int, dict[str, Json]] = field(default_factory=dict)
    """The arguments of single calls."""
    count: int | None = None
    used: dict[str, int] = field(default_factory=dict)
    """The tools of which calls must be among those that are made, and how many at least."""
    arguments: dict[str, Json] = field(default_factory=dict)
    """The arguments of a call that must be among those of a tool."""
    sequence: list[str] = field(default_factory=list)
    """The tools of calls that must be among those that are made, in this order."""
    only: list[str] | None = None
    """The tools that may be called, each of which must be."""
    any_call: bool = False
    never: list[Json] = field(default_factory=list)
    answers: list[Json] = field(default_factory=list)
    is_json: bool = False

    @property
    def by_number(self) -> bool:
        """Whether calls are named by their number."""
        return bool(self.names or self.numbered_arguments) or self.count is not None

    @property
    def by_tool(self) -> bool:
        """Whether calls are named by their tool."""
        return bool(self.used or self.arguments or self.sequence) or self.only is not None

    @property
    def calls_are_made(self) -> bool:
        """Whether some call must be made."""
        return self.any_call or self.by_tool or self.by_number

    def keys(self) -> dict[str, Json]:
        """The keys of the case. Raises NotMapped where the assertions together have no form in a case."""
        if self.answers and self.calls_are_made:
            raise NotMapped("a text that may stand in the answer as well as in its calls")
        keys: dict[str, Json] = {}
        if expect := self._expect():
            keys["expect"] = expect if expect.keys() != {"calls"} else expect["calls"]
        elif self.any_call:
            keys["expect"] = "any_call"
        if self.answers:
            keys["answer"] = self.answers[0] if len(self.answers) == 1 else {"$all": self.answers}
        return keys

    def _expect(self) -> dict[str, Json]:
        if self.by_number and self.by_tool:
            raise NotMapped("calls by their number together with calls by their tool")
        never: dict[str, Json] = {"never": self.never} if self.never else {}
        if self.by_number:
            return {**self._numbered_calls(), **never}
        if self.by_tool:
            return {**self._called_tools(), **never}
        return {"any_of": ["any_call"], **never} if never and self.any_call else never

    def _numbered_calls(self) -> dict[str, Json]:
        """All calls, in order of their numbers. A call of which only the arguments are known has no form."""
        if {*range(len(self.names))} != self.names.keys() or not self.numbered_arguments.keys() <= self.names.keys():
            raise NotMapped("arguments of a call whose tool is not named")
        if not self.names or self.count not in (None, len(self.names)):
            raise NotMapped("calls whose tools are not named")
        calls: list[Json] = [
            {name: self._open_arguments(name, self.numbered_arguments.get(number, {}))}
            for number, name in sorted(self.names.items())
        ]
        return {"calls": calls, "order": "strict"} if len(calls) > 1 else {"calls": calls}

    def _open_arguments(self, tool: str, arguments: Mapping[str, Json]) -> Json:
        """Expected arguments of a call, of which others may be given, too."""
        if not arguments:
            return ANY_ARGUMENTS
        return {**dict.fromkeys(parameters_of(self.tools.get(tool)), ANY_ARGUMENTS), **arguments}

    def _called_tools(self) -> dict[str, Json]:
        """Calls that are among those that are made, or all of them."""
        named = {*self.used, *self.arguments, *self.sequence}
        if any(self.sequence.count(tool) != 1 for tool in self.arguments if self.sequence):
            raise NotMapped("the arguments of a call that is not one of a sequence")
        if self.sequence and ({*self.used} - {*self.sequence} or {*(self.only or named)} != named):
            raise NotMapped("an order of some of the calls")
        if self.only is not None and not named <= {*self.only}:
            raise NotMapped("tools that must be called, and are not among those that may be")
        calls: list[Json] = [{tool: self.arguments.get(tool, ANY_ARGUMENTS)} for tool in self.sequence]
        if not self.sequence:
            calls += ({tool: arguments} for tool, arguments in self.arguments.items())
            least = {**dict.fromkeys(self.only or (), 1), **self.used}
            calls += (
                {tool: ANY_ARGUMENTS, "times": [number, None]}
                for tool, number in least.items()
                if tool not in self.arguments
            )
        order: dict[str, Json] = {"order": "strict"} if len(self.sequence) > 1 else {}
        others: dict[str, Json] = {"extra": "allow"}
        if self.only is not None:
            others = {"allow": sorted(named)} if named else {}
        return {"calls": calls, **order, **others}


def parameters_of(tool: Tool | None) -> Mapping[str, Json]:
    """The parameters of a tool, by name; none of a tool that is not offered."""
    return mapping(tool.parameters.get("properties")) if tool else {}
