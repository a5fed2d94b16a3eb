"""The rows of the multi-turn categories as conversations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Final, TypeGuard

from pytest_fcall.core.case import Case, Turn, World
from pytest_fcall.core.expectation import Rules
from pytest_fcall.core.identity_key import IdentityKey
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json, Message
from pytest_fcall.suites.bfcl.categories import Category
from pytest_fcall.suites.bfcl.function_docs import ClassDocuments, Document, native_tool
from pytest_fcall.suites.bfcl.multi_turn.judge import CheckerProcess, ConversationTruth, MultiTurnJudge
from pytest_fcall.suites.bfcl.prompt import Prompt, more_functions_text
from pytest_fcall.suites.bfcl.rows import BFCL_PACKAGE, Row
from pytest_fcall.suites.json_files import BrokenRow

_WORLD: Final = "pytest_fcall.suites.bfcl.multi_turn.world:make"
MOST_STEPS: Final = 21
"""Officially twenty, of which the end is found after one more."""


class MultiTurnReader:
    """Reads the rows of one category. They have functions, and the process that judges, in common.

    Raises ValueError, in words, where the classes are not installed.
    """

    def __init__(self, category: Category, folder: Path, prompt: Prompt | None) -> None:
        _check_installed()
        self._category = category
        self._folder = folder
        self._prompt = prompt
        self._documents = ClassDocuments(folder)
        self._tools: dict[IdentityKey[Document], Tool] = {}
        self._bench = CheckerProcess()

    def case(self, row: Row) -> Case:
        """The case of a row; BrokenRow says what is wrong with it."""
        truth = parse_truth(row.data)
        held_back = _names_by_turn(row.data.get("missed_function", {}))
        first, *later = self._documents.of(truth.classes, held_back)
        new = dict(zip(map(int, held_back), later, strict=True))
        turns = self._turns(parse_turns(row.data.get("question")), first, new)
        case = Case(
            id=row.id,
            location=row.place,
            turns=tuple(turns),
            tools=tuple(map(self._tool, [*first, *(document for each in later for document in each)])),
            rules=Rules("bfcl", "relaxed"),
            category=self._category.name,
            world=World(_WORLD, _setup(truth), max_steps=MOST_STEPS, unreadable="answers"),
            mode="conversation",
            conversation_judge=MultiTurnJudge(row.data, truth, self._bench),
        )
        return case if self._prompt is None else replace(case, tools_in_messages=True, decoder="bfcl")

    def _turns(
        self, questions: Sequence[Sequence[Message]], first: Sequence[Document], new: Mapping[int, Sequence[Document]]
    ) -> list[Turn]:
        offered = [*first]
        turns = []
        for number, messages in enumerate(questions):
            offered += new.get(number, ())
            said = self._said(new[number]) if number in new else tuple(messages)
            tools = tuple(map(self._tool, offered)) if number in new or not number else None
            turns.append(Turn(said, tools=tools))
        if self._prompt is not None and turns:
            turns[0] = replace(turns[0], messages=self._prompt.told(turns[0].messages, first))
        return turns

    def _said(self, new: Sequence[Document]) -> tuple[Message, ...]:
        """What the user says when functions come in; a model without tools is told of them, as Python writes them."""
        said = self._more if self._prompt is None else f"{[*new]}\n{self._more}"
        return ({"role": "user", "content": said},)

    @cached_property
    def _more(self) -> str:
        return more_functions_text(self._folder)

    def _tool(self, document: Document) -> Tool:
        known = IdentityKey(document)
        if known not in self._tools:
            self._tools[known] = native_tool(document)
        return self._tools[known]


def parse_truth(row: Mapping[str, Json]) -> ConversationTruth:
    """What a row is judged by; BrokenRow says what is wrong with it."""
    classes, config, calls = row.get("involved_classes"), row.get("initial_config", {}), row.get("ground_truth")
    if not _is_texts(classes):
        raise BrokenRow("`involved_classes` is not a list of names")
    if not isinstance(config, Mapping) or not all(isinstance(each, Mapping) for each in config.values()):
        raise BrokenRow("`initial_config` is not an object of objects")
    turns = [turn for turn in calls if _is_texts(turn)] if isinstance(calls, list) else []
    if not isinstance(calls, list) or len(turns) < len(calls):
        raise BrokenRow("`ground_truth` is not a list of turns, each a list of calls")
    return ConversationTruth(classes, config, "long_context" in str(row.get("category")), turns)


def _check_installed() -> None:
    if missing := [name for name in (BFCL_PACKAGE, "mpmath") if find_spec(name) is None]:
        raise ValueError(
            f"the multi-turn categories call classes of the package bfcl-eval, and {' and '.join(missing)} cannot be "
            "imported: pip install --no-deps bfcl-eval mpmath"
        )


def _setup(truth: ConversationTruth) -> dict[str, Json]:
    return {"classes": truth.classes, "config": truth.config, "long_context": truth.long_context}


def parse_turns(question: Json) -> Sequence[Sequence[Message]]:
    """The messages of each turn, of which there is at least one; BrokenRow where they are none."""
    turns = [turn for turn in question if _is_messages(turn)] if isinstance(question, list) else []
    if not isinstance(question, list) or not turns or len(turns) < len(question):
        raise BrokenRow("`question` is not a list of turns, each a list of messages")
    return turns


def _is_messages(turn: Json) -> TypeGuard[list[Message]]:
    return isinstance(turn, list) and all(isinstance(message, Mapping) for message in turn)


def _names_by_turn(held_back: Json) -> Mapping[str, Sequence[str]]:
    items = held_back.items() if isinstance(held_back, Mapping) else ()
    named = {turn: names for turn, names in items if turn.isdecimal() and _is_texts(names)}
    if not isinstance(held_back, Mapping) or len(named) < len(held_back):
        raise BrokenRow("`missed_function` is not an object of names by turn")
    return named


def _is_texts(value: Json) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)
