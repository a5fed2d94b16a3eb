"""The conversations in which a model writes down what it is asked for later."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Final

from pytest_fcall.core.case import Case, Earlier, Needs, Turn, World
from pytest_fcall.core.fault import Location
from pytest_fcall.core.tool import Tool
from pytest_fcall.core.values import Json, Message
from pytest_fcall.suites.bfcl.fields import text
from pytest_fcall.suites.bfcl.memory.needs import needs_of
from pytest_fcall.suites.bfcl.multi_turn.cases import MOST_STEPS, questions_of
from pytest_fcall.suites.bfcl.multi_turn.documents import Document, Documents, read_rows
from pytest_fcall.suites.bfcl.prompt import Prompt, memory_instructions, told_first
from pytest_fcall.suites.bfcl.told import told_tool
from pytest_fcall.suites.json_lines import BrokenRow

SLOT: Final = "{memory_content}"
"""Stands in the leaderboard's words for what is in the memory."""
_WORLD: Final = "pytest_fcall.suites.bfcl.memory.world:make"
_FOLDER: Final = "memory_prereq_conversation"


class MemoryConversations:
    """Those of one kind of memory, by scenario. Raises ValueError, in words, where the words or files are missing."""

    def __init__(self, category: str, folder: Path, prompt: Prompt | None) -> None:
        self._category = category
        self._kind = category.removeprefix("memory_")
        self._folder = folder
        self._prompt = prompt
        self._roles, instructions = memory_instructions(folder)
        # One memory is a text, which is summed up again and again; the others have a core and an archive.
        self._instruction = instructions["UNIFIED" if self._kind == "rec_sum" else "CORE_ARCHIVAL"]
        self.documents: Sequence[Document] = Documents(folder).of([f"MemoryAPI_{self._kind}"], {})[0]
        self.tools: tuple[Tool, ...] = tuple(map(told_tool, self.documents))
        self._known: dict[str, Earlier] = {}

    def instructed(self, messages: Sequence[Message], scenario: str) -> tuple[Message, ...]:
        """The messages with what a model is told of its role and its memory before them."""
        return told_first(self._instruction.replace("{scenario_setting}", self._role(scenario)), messages)

    def world(self, scenario: str) -> World:
        """What stands behind the tools in each conversation of a scenario."""
        setup = {"kind": self._kind, "scenario": scenario}
        return World(_WORLD, setup, max_steps=MOST_STEPS, unreadable="answers", kept="in_order", needs=self._needs)

    def earlier(self, scenario: str) -> Earlier:
        """The conversations of a scenario. BrokenRow where there is no such scenario, or one cannot be read."""
        self._role(scenario)
        if scenario not in self._known:
            self._known[scenario] = Earlier(tuple(self._cases(scenario)), SLOT)
        return self._known[scenario]

    @cached_property
    def _needs(self) -> Needs:
        return needs_of(self._kind)

    def _role(self, scenario: str) -> str:
        if scenario not in self._roles:
            raise BrokenRow(f"there is no scenario {scenario!r:.80}: there is {', '.join(self._roles)}")
        return self._roles[scenario]

    def _cases(self, scenario: str) -> Iterator[Case]:
        path = self._folder / _FOLDER / f"memory_{scenario}.json"
        for number, row in enumerate(read_rows(path), 1):
            try:
                yield self._case(row, scenario, Location(str(path), number))
            except BrokenRow as error:
                raise BrokenRow(f"what is said before it ({path}:{number}) cannot be read: {error}") from None

    def _case(self, row: Mapping[str, Json], scenario: str, place: Location) -> Case:
        first, *later = questions_of(row.get("question"))
        messages = self.instructed(first, scenario)
        if self._prompt is not None:
            messages = self._prompt.told(messages, self.documents)
        return Case(
            id=text(row, "id").replace("memory", self._category, 1),
            location=place,
            turns=(Turn(messages), *(Turn(tuple(each)) for each in later)),
            tools=self.tools,
            category=f"{self._category}_prereq",
            world=self.world(scenario),
            mode="conversation",
            tools_told=self._prompt is not None,
            decoder=None if self._prompt is None else "bfcl",
        )
