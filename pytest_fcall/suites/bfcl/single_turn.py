"""Rows of the categories of one request as cases: native, in the compared prompt formats, or for a case file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pytest_fcall.core.case import Case, Condition, Judge, Turn
from pytest_fcall.core.expectation import Rules
from pytest_fcall.core.fault import Location
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json, Message
from pytest_fcall.matching.bfcl.official_case import official_case
from pytest_fcall.suites.bfcl.cases import (
    STRINGS_BY_LANGUAGE,
    case_of,
    expectation_of,
    language_of,
    messages_of,
    true_calls,
)
from pytest_fcall.suites.bfcl.categories import Category
from pytest_fcall.suites.bfcl.executable.judge import ExecutedJudge, is_executable, start_function_process
from pytest_fcall.suites.bfcl.function_docs import native_tool, with_language_hints
from pytest_fcall.suites.bfcl.judge import BfclJudge
from pytest_fcall.suites.bfcl.prompt import Prompt
from pytest_fcall.suites.bfcl.prompt_formats import format_of
from pytest_fcall.suites.bfcl.row_fields import objects_field, text_field
from pytest_fcall.suites.bfcl.rows import Row
from pytest_fcall.suites.json_files import BrokenRow


class SingleTurnReader:
    """Reads the rows of one category. Many have functions in common."""

    def __init__(self, category: Category, prompt: Prompt | None) -> None:
        self._category = category
        self._prompt = prompt
        self._language = language_of(category.name)
        self._tools: dict[str, Tool] = {}
        self._process = start_function_process()

    def case(self, row: Row) -> Case:
        """The case of a row; BrokenRow says what is wrong with it."""
        # Where right is what a server answered, only calling or not can be judged.
        data = {**row.data, "category": "relevance"} if self._category.truth == "answer" else row.data
        functions = objects_field(data, "function")
        told = with_language_hints(functions, self._language)
        messages = messages_of(data.get("question"))
        if not messages or not all(isinstance(message.get("content"), str) for message in messages):
            raise BrokenRow("`question` asks nothing: it takes messages with text")
        expect = expectation_of(
            text_field(data, "category"), functions, true_calls(objects_field(data, "ground_truth"))
        )
        case = Case(
            id=row.id,
            location=row.place,
            turns=(Turn(messages, expect),),
            tools=tuple(map(self._tool, told)),
            rules=Rules("bfcl", STRINGS_BY_LANGUAGE[self._language], language=self._language),
            category=self._category.name,
            skip=(Condition("nothing says what is right"),) if self._category.name == "chatable" else (),
            judge=self._judge(row, data),
        )
        if self._prompt is None:
            return case
        return replace(
            case,
            turns=(Turn(self._prompt.told(messages, told), expect),),
            tools_in_messages=True,
            decoder="bfcl" if self._language == "python" else f"bfcl_{self._language}",
        )

    def _judge(self, row: Row, data: Mapping[str, Json]) -> Judge:
        if is_executable(data):
            return ExecutedJudge(data, row.place, self._process)
        return BfclJudge(data, row.place)

    def _tool(self, document: Mapping[str, Json]) -> Tool:
        key = json.dumps(document)
        if key not in self._tools:
            self._tools[key] = native_tool(document)
        return self._tools[key]


class FormatReader:
    """Reads their rows. Each format is a category, so that its accuracy is told.

    Raises ValueError, in words, without a prompt: native calls have no format to be asked for.
    """

    def __init__(self, category: Category, prompt: Prompt | None) -> None:
        if prompt is None:
            raise ValueError(
                f"bfcl:{category.name} compares prompts, of which native calls have none: ask it with `mode: prompt` "
                "or --fc-suite-mode=prompt"
            )
        self._prompt = prompt
        self._untold = SingleTurnReader(category, None)
        self._questions: dict[Location, _Question] = {}

    def case(self, row: Row) -> Case:
        """The case of a row; BrokenRow says what is wrong with it."""
        if row.place not in self._questions:
            self._questions[row.place] = self._question(row)
        question, form = self._questions[row.place], format_of(row.id)
        messages = self._prompt.told(question.messages, question.documents, form)
        case = question.case
        return replace(
            case,
            id=row.id,
            turns=(replace(case.turns[0], messages=messages),),
            category=form.category,
            tools_in_messages=True,
            decoder=form.decoder,
            judge=BfclJudge(row.data, row.place),
        )

    def _question(self, row: Row) -> _Question:
        # The hint on the language is given twice, as the official harness gives it here.
        told = with_language_hints(with_language_hints(objects_field(row.data, "function"), "python"), "python")
        return _Question(self._untold.case(row), messages_of(row.data.get("question")), told)


@dataclass(frozen=True, slots=True)
class _Question:
    """What is the same in all formats."""

    case: Case
    messages: Sequence[Message]
    documents: Sequence[Mapping[str, Json]]


class NotExpressible(ValueError):
    """A case cannot be said in a case file. The text says why."""


def plain_case(category: Category, row: Row) -> Case:
    """Read a row. Raises Unsayable where no case of ours can say it, and BrokenRow where it is broken."""
    if category.truth == "answer" or category.name == "chatable":
        raise NotExpressible("nothing says which calls are right")
    if category.truth in ("turns", "mention"):
        raise NotExpressible("its conversations are judged by a rule of their own, which no case file says")
    if is_executable(row.data):
        raise NotExpressible("it is judged by what its calls give, whatever they are, which no case file says")
    found = case_of(row.data, row.place)
    told = official_case(found.expect, found.case.tools, found.exam.language)
    if found.expect.kind == "calls" and _omittable_last(told.truth) != _omittable_last(found.exam.truth):
        raise NotExpressible("its ground truth has a value where a list of alternatives is wanted")
    return replace(found.case, rules=replace(found.case.rules, profile="bfcl"))


def _omittable_last(truth: object) -> object:
    """The truth with the mark for leaving out at the end of each list, where expectations have it."""
    if isinstance(truth, Mapping):
        return {key: _omittable_last(value) for key, value in truth.items()}
    if isinstance(truth, list):
        return sorted(map(_omittable_last, truth), key=lambda value: value == "")
    return truth
