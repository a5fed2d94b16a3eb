"""Rows of the multi-turn categories as conversations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Final, TypeGuard

from pytest_fcall.core.case import Case, Turn
from pytest_fcall.core.conversation import ConversationSettings
from pytest_fcall.core.expectation import Rules
from pytest_fcall.core.values import Json, Message
from pytest_fcall.suites.bfcl.categories import Category
from pytest_fcall.suites.bfcl.function_docs import ClassDocuments, Document, NativeTools
from pytest_fcall.suites.bfcl.multi_turn.judge import CheckerProcess, ConversationTruth, MultiTurnJudge
from pytest_fcall.suites.bfcl.prompt import Prompt, more_functions_text
from pytest_fcall.suites.bfcl.rows import BFCL_PACKAGE, Row
from pytest_fcall.suites.bfcl.wording import HANDLER_WORDING, TEMPERATURE
from pytest_fcall.suites.json_files import BrokenRow, is_strings

_ENVIRONMENT: Final = "pytest_fcall.suites.bfcl.multi_turn.world:make"
MOST_STEPS: Final = 21
"""The official limit is twenty, and is checked after one more step."""


class MultiTurnReader:
    """Reads the rows of one category. Their cases share tools, and the process that judges.

    Raises ValueError if the official classes are not installed.
    """

    def __init__(self, category: Category, folder: Path, prompt: Prompt | None) -> None:
        _check_installed()
        self._category = category
        self._folder = folder
        self._prompt = prompt
        self._documents = ClassDocuments(folder)
        self._tools = NativeTools()
        self._checker = CheckerProcess()

    def case(self, row: Row) -> Case:
        """Return the case of a row. Raises BrokenRow."""
        truth = parse_truth(row.data)
        held_back = _names_by_turn(row.data.get("missed_function", {}))
        first, *later = self._documents.by_turn(truth.classes, held_back)
        new = dict(zip(map(int, held_back), later, strict=True))
        turns = self._turns(parse_turns(row.data.get("question")), first, new)
        case = Case(
            id=row.id,
            location=row.location,
            turns=tuple(turns),
            tools=tuple(map(self._tools, [*first, *(document for each in later for document in each)])),
            rules=Rules("bfcl", "relaxed"),
            category=self._category.name,
            proposed_settings={"temperature": TEMPERATURE},
            wording=HANDLER_WORDING,
            conversation=ConversationSettings(_ENVIRONMENT, truth.setup, max_steps=MOST_STEPS, unreadable="answers"),
            mode="conversation",
            conversation_judge=MultiTurnJudge(row.data, truth, self._checker),
        )
        return case if self._prompt is None else replace(case, tools_in_messages=True, decoder="bfcl")

    def _turns(
        self, questions: Sequence[Sequence[Message]], first: Sequence[Document], new: Mapping[int, Sequence[Document]]
    ) -> list[Turn]:
        offered = [*first]
        turns = []
        for number, messages in enumerate(questions):
            offered += new.get(number, ())
            sent = self._new_functions_messages(new[number]) if number in new else tuple(messages)
            tools = tuple(map(self._tools, offered)) if number in new or not number else None
            turns.append(Turn(sent, tools=tools))
        if self._prompt is not None and turns:
            messages = self._prompt.messages_with_functions(turns[0].messages, first)
            turns[0] = replace(turns[0], messages=messages)
        return turns

    def _new_functions_messages(self, new: Sequence[Document]) -> tuple[Message, ...]:
        """The user message of a turn with new functions. In prompt mode it holds them, as Python writes them."""
        text = self._more_functions if self._prompt is None else f"{[*new]}\n{self._more_functions}"
        return ({"role": "user", "content": text},)

    @cached_property
    def _more_functions(self) -> str:
        return more_functions_text(self._folder)


def parse_truth(row: Mapping[str, Json]) -> ConversationTruth:
    """Return the truth of a row. Raises BrokenRow."""
    classes, config, calls = row.get("involved_classes"), row.get("initial_config", {}), row.get("ground_truth")
    if not is_strings(classes):
        raise BrokenRow("`involved_classes` must be a list of names")
    if not isinstance(config, Mapping) or not all(isinstance(each, Mapping) for each in config.values()):
        raise BrokenRow("`initial_config` must be an object of objects")
    turns = [turn for turn in calls if is_strings(turn)] if isinstance(calls, list) else []
    if not isinstance(calls, list) or len(turns) < len(calls):
        raise BrokenRow("`ground_truth` must be a list of turns, each a list of calls")
    return ConversationTruth(classes, config, "long_context" in str(row.get("category")), turns)


def _check_installed() -> None:
    if missing := [name for name in (BFCL_PACKAGE, "mpmath") if find_spec(name) is None]:
        raise ValueError(
            f"the multi-turn categories need classes of the package bfcl-eval, but {' and '.join(missing)} cannot be "
            "imported: pip install --no-deps bfcl-eval mpmath"
        )


def parse_turns(question: Json) -> Sequence[Sequence[Message]]:
    """Return the messages of each turn, one turn at least. Raises BrokenRow."""
    turns = [turn for turn in question if _is_messages(turn)] if isinstance(question, list) else []
    if not isinstance(question, list) or not turns or len(turns) < len(question):
        raise BrokenRow("`question` must be a list of turns, each a list of messages")
    return turns


def _is_messages(turn: Json) -> TypeGuard[list[Message]]:
    return isinstance(turn, list) and all(isinstance(message, Mapping) for message in turn)


def _names_by_turn(held_back: Json) -> Mapping[str, Sequence[str]]:
    items = held_back.items() if isinstance(held_back, Mapping) else ()
    named = {turn: names for turn, names in items if turn.isdecimal() and is_strings(names)}
    if not isinstance(held_back, Mapping) or len(named) < len(held_back):
        raise BrokenRow("`missed_function` must be an object with a list of names for each turn")
    return named
