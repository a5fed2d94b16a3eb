"""The rows of the agentic categories as cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from pytest_fcall.core.case import Case, Earlier, Turn, World
from pytest_fcall.core.pattern import Operator
from pytest_fcall.core.rules import Rules
from pytest_fcall.core.tool import Tool
from pytest_fcall.core.values import Message
from pytest_fcall.suites.bfcl.agentic import agentic_judge_of
from pytest_fcall.suites.bfcl.cases import messages_of
from pytest_fcall.suites.bfcl.categories import Category
from pytest_fcall.suites.bfcl.data import Row
from pytest_fcall.suites.bfcl.fields import text
from pytest_fcall.suites.bfcl.memory.conversations import MemoryConversations
from pytest_fcall.suites.bfcl.multi_turn.cases import MOST_STEPS
from pytest_fcall.suites.bfcl.multi_turn.documents import Document, Documents
from pytest_fcall.suites.bfcl.prompt import Prompt, answer_format
from pytest_fcall.suites.bfcl.told import told_tool

_SEARCH = "WebSearchAPI"


class _Agency(Protocol):
    """What agents of one kind have, and how they come to what they are asked for."""

    documents: Sequence[Document]
    tools: tuple[Tool, ...]

    def instructed(self, messages: Sequence[Message], scenario: str) -> tuple[Message, ...]:
        """The messages with what agents are told before them."""
        ...

    def world(self, scenario: str) -> World:
        """What stands behind their tools."""
        ...

    def earlier(self, scenario: str) -> Earlier | None:
        """What is held before."""
        ...


class _Searching:
    """Nobody searches here. An app that searches by itself can be asked, and what it finds is kept.

    Whoever calls the tools for it hears what was found for the same call, and else that nothing is known.
    """

    def __init__(self, category: Category, folder: Path) -> None:
        self._category = category.name
        self.documents: Sequence[Document] = Documents(folder).of([_SEARCH], {})[0]
        self.tools: tuple[Tool, ...] = tuple(map(told_tool, self.documents))

    def instructed(self, messages: Sequence[Message], _scenario: str) -> tuple[Message, ...]:
        return tuple(messages)

    def world(self, _scenario: str) -> World:
        # Searches of one category find less than those of the other.
        setup = {"searches": self._category}
        return World(None, setup, unmatched="error", max_steps=MOST_STEPS, unreadable="answers", kept="for_ever")

    def earlier(self, _scenario: str) -> None:
        return None


class AgenticReader:
    """Reads the rows of one category."""

    def __init__(self, category: Category, folder: Path, prompt: Prompt | None) -> None:
        self._category = category
        self._prompt = prompt
        self._system: Message = {"role": "system", "content": answer_format(folder)}
        self._has_scenarios = category.shared == "memory"
        self._agency: _Agency = (
            MemoryConversations(category.name, folder, prompt) if self._has_scenarios else _Searching(category, folder)
        )

    def case(self, row: Row) -> Case:
        """The case of a row; BrokenRow says what is wrong with it."""
        scenario = text(row.data, "scenario") if self._has_scenarios else ""
        agency = self._agency
        messages = agency.instructed((self._system, *messages_of(row.data.get("question"))), scenario)
        judge = agentic_judge_of(row.data)
        # For people, scores and baselines; the judge has a rule of its own.
        answer = Operator("any", [Operator("contains", answer) for answer in judge.answers])
        case = Case(
            id=row.id,
            location=row.place,
            turns=(Turn(messages, answer=answer),),
            tools=agency.tools,
            rules=Rules("bfcl", "relaxed"),
            category=self._category.name,
            world=agency.world(scenario),
            mode="conversation",
            earlier=agency.earlier(scenario),
            conversation_judge=judge,
        )
        if self._prompt is None:
            return case
        told = self._prompt.told(messages, agency.documents)
        return replace(case, turns=(Turn(told, answer=answer),), tools_told=True, decoder="bfcl")
