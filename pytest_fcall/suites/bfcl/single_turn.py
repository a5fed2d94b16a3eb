"""Rows of single-turn categories as cases: native, in the compared prompt formats, or for case files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from pytest_fcall.core.case import Case, Condition, Judge, Location, Turn
from pytest_fcall.core.expectation import Rules
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
from pytest_fcall.suites.bfcl.categories import Category, format_of, judged_row
from pytest_fcall.suites.bfcl.executable import ExecutedJudge, is_executable, start_function_process
from pytest_fcall.suites.bfcl.function_docs import Document, native_tool, with_language_hints
from pytest_fcall.suites.bfcl.judge import BfclJudge
from pytest_fcall.suites.bfcl.prompt import BfclPrompt
from pytest_fcall.suites.bfcl.rest import RecordedResponses, RestJudge, right_form
from pytest_fcall.suites.bfcl.rows import BfclRow, category_rows
from pytest_fcall.suites.bfcl.wording import HANDLER_WORDING, TEMPERATURE
from pytest_fcall.suites.json_files import BrokenRow, objects_field, string_field


class SingleTurnReader:
    """Reads the rows of one category. Their cases share tools."""

    def __init__(self, category: Category, folder: Path, prompt: BfclPrompt | None) -> None:
        self._category = category
        self._prompt = prompt
        self._recorded = cache(lambda: RecordedResponses(row.data for row in category_rows(category, folder)))
        self._language = language_of(category.name)
        self._tools: dict[str, Tool] = {}
        self._process = start_function_process() if category.truth == "source" else None

    def case(self, row: BfclRow) -> Case:
        """Return the case of a row. Raises BrokenRow."""
        data = judged_row(self._category, row.data)
        functions = objects_field(data, "function")
        documents = with_language_hints(functions, self._language)
        messages = messages_of(data.get("question"))
        if not messages or not all(isinstance(message.get("content"), str) for message in messages):
            raise BrokenRow("`question` must hold messages with text")
        expect = expectation_of(
            string_field(data, "category"), functions, true_calls(objects_field(data, "ground_truth"))
        )
        case = Case(
            id=row.id,
            location=row.location,
            turns=(Turn(messages, expect),),
            tools=tuple(map(self._tool, documents)),
            rules=Rules("bfcl", STRINGS_BY_LANGUAGE[self._language], language=self._language),
            category=self._category.name,
            proposed_settings={"temperature": TEMPERATURE},
            wording=HANDLER_WORDING,
            skip=(Condition("no recorded response"),) if self._has_no_response(data) else (),
            judge=self._judge(row, data),
        )
        if self._prompt is None:
            return case
        return replace(
            case,
            turns=(Turn(self._prompt.messages_with_functions(messages, documents), expect),),
            tools_in_messages=True,
            decoder="bfcl" if self._language == "python" else f"bfcl_{self._language}",
        )

    def _has_no_response(self, data: Mapping[str, Json]) -> bool:
        return self._category.truth == "answer" and right_form(data) is None

    def _judge(self, row: BfclRow, data: Mapping[str, Json]) -> Judge:
        if self._process is not None and is_executable(data):
            return ExecutedJudge(data, row.location, self._process)
        if self._category.truth == "answer":
            return RestJudge(data, row.location, self._recorded)
        return BfclJudge(data, row.location)

    def _tool(self, document: Document) -> Tool:
        key = json.dumps(document)
        if key not in self._tools:
            self._tools[key] = native_tool(document)
        return self._tools[key]


class FormatReader:
    """Reads the questions in each prompt format. Each format is a category, and so has its own accuracy.

    Raises ValueError without a prompt, since native calls have no prompt format.
    """

    def __init__(self, category: Category, folder: Path, prompt: BfclPrompt | None) -> None:
        if prompt is None:
            raise ValueError(
                f"bfcl:{category.name} compares prompt formats and needs prompt mode: use `mode: prompt` or "
                "--fc-suite-mode=prompt"
            )
        self._prompt = prompt
        self._native = SingleTurnReader(category, folder, None)
        self._questions: dict[Location, tuple[Case, Sequence[Message], Sequence[Document]]] = {}

    def case(self, row: BfclRow) -> Case:
        """Return the case of a row. Raises BrokenRow."""
        if row.location not in self._questions:
            self._questions[row.location] = self._question(row)
        case, messages, documents = self._questions[row.location]
        form = format_of(row.id)
        asked = self._prompt.messages_with_functions(messages, documents, form)
        return replace(
            case,
            id=row.id,
            turns=(replace(case.turns[0], messages=asked),),
            category=form.category,
            tools_in_messages=True,
            decoder=form.decoder,
            judge=BfclJudge(row.data, row.location),
        )

    def _question(self, row: BfclRow) -> tuple[Case, Sequence[Message], Sequence[Document]]:
        """The parts that all formats of a question share."""
        # The official harness adds the note on the language twice here.
        documents = with_language_hints(with_language_hints(objects_field(row.data, "function"), "python"), "python")
        return self._native.case(row), messages_of(row.data.get("question")), documents


class NotExpressible(ValueError):
    """A case file cannot express a case. The text says why."""


def plain_case(category: Category, row: BfclRow) -> Case:
    """Return the case of a row for a case file. Raises NotExpressible or BrokenRow."""
    if category.truth == "answer" or category.name == "chatable":
        raise NotExpressible("the data names no right calls")
    if category.truth in ("turns", "mention"):
        raise NotExpressible("its conversations have a rule of their own, which a case file cannot express")
    if is_executable(row.data):
        raise NotExpressible("it is judged by the results of its calls, which a case file cannot express")
    own = case_of(row.data, row.location)
    expressed = official_case(own.expect, own.case.tools, own.official_case.language)
    if own.expect.kind == "calls" and _omittable_last(expressed.truth) != _omittable_last(own.official_case.truth):
        raise NotExpressible("its ground truth has a value in place of a list of alternatives")
    return replace(own.case, rules=own.case.rules._replace(profile="bfcl"))


def _omittable_last(truth: object) -> object:
    """The truth with the mark for leaving out at the end of each list, where expectations have it."""
    if isinstance(truth, Mapping):
        return {key: _omittable_last(value) for key, value in truth.items()}
    if isinstance(truth, list):
        return sorted(map(_omittable_last, truth), key=lambda value: value == "")
    return truth
