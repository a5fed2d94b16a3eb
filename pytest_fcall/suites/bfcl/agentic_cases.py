"""The rows of the agentic categories as cases."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pytest_fcall.core.case import Case, Condition, Turn, World
from pytest_fcall.core.pattern import Operator
from pytest_fcall.core.rules import Rules
from pytest_fcall.core.tool import Tool
from pytest_fcall.core.values import Message
from pytest_fcall.suites.bfcl.agentic import agentic_judge_of
from pytest_fcall.suites.bfcl.cases import messages_of
from pytest_fcall.suites.bfcl.categories import Category
from pytest_fcall.suites.bfcl.data import Row
from pytest_fcall.suites.bfcl.multi_turn.cases import MOST_STEPS
from pytest_fcall.suites.bfcl.multi_turn.documents import Documents
from pytest_fcall.suites.bfcl.prompt import Prompt, answer_format
from pytest_fcall.suites.bfcl.told import told_tool

_SEARCH = "WebSearchAPI"


class AgenticReader:
    """Reads the rows of one category.

    An app that searches by itself can be asked what takes a search; whoever calls the tools for it hears that nothing
    is known. Questions about what was said in earlier conversations cannot be asked without these, and are skipped.
    """

    def __init__(self, category: Category, folder: Path, prompt: Prompt | None) -> None:
        self._category = category
        self._prompt = prompt
        self._searches = category.shared == "web_search"
        self._documents = Documents(folder).of([_SEARCH], {})[0] if self._searches else []
        self._tools: tuple[Tool, ...] = tuple(map(told_tool, self._documents))
        self._system: Message = {"role": "system", "content": answer_format(folder)}

    def case(self, row: Row) -> Case:
        """The case of a row; BrokenRow says what is wrong with it."""
        messages = (self._system, *messages_of(row.data.get("question")))
        judge = agentic_judge_of(row.data)
        # For people, scores and baselines; the judge has a rule of its own.
        answer = Operator("any", [Operator("contains", answer) for answer in judge.answers])
        case = Case(
            id=row.id,
            location=row.place,
            turns=(Turn(messages, answer=answer),),
            tools=self._tools,
            rules=Rules("bfcl", "relaxed"),
            category=self._category.name,
            world=World(unmatched="error", max_steps=MOST_STEPS, unreadable="answers"),
            mode="conversation",
            skip=() if self._searches else (Condition("what it asks for was said in conversations that are not held"),),
            conversation_judge=judge,
        )
        if self._prompt is None:
            return case
        told = self._prompt.told(messages, self._documents)
        return replace(case, turns=(Turn(told, answer=answer),), tools_told=True, decoder="bfcl")
