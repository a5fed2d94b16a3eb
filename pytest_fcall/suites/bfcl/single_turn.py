"""The rows of cases of one request."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

from pytest_fcall.core.case import Case, Condition, Turn
from pytest_fcall.core.judge import Judge
from pytest_fcall.core.rules import Rules
from pytest_fcall.core.tool import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.suites.bfcl.cases import STRINGS, language_of, messages_of
from pytest_fcall.suites.bfcl.categories import Category
from pytest_fcall.suites.bfcl.data import Row
from pytest_fcall.suites.bfcl.executable.judging import ExecutedJudge, functions_process, is_executable
from pytest_fcall.suites.bfcl.fields import objects, text
from pytest_fcall.suites.bfcl.judging import BfclJudge
from pytest_fcall.suites.bfcl.prompt import Prompt
from pytest_fcall.suites.bfcl.told import documents, told_tool
from pytest_fcall.suites.bfcl.truth import expectation_of, true_calls
from pytest_fcall.suites.json_lines import BrokenRow


class SingleTurnReader:
    """Reads the rows of one category. Many have functions in common."""

    def __init__(self, category: Category, prompt: Prompt | None) -> None:
        self._category = category
        self._prompt = prompt
        self._language = language_of(category.name)
        self._tools: dict[str, Tool] = {}
        self._process = functions_process()

    def case(self, row: Row) -> Case:
        """The case of a row; BrokenRow says what is wrong with it."""
        # Where right is what a server answered, only calling or not can be judged.
        data = {**row.data, "category": "relevance"} if self._category.truth == "answer" else row.data
        functions = objects(data, "function")
        told = documents(functions, self._language)
        messages = messages_of(data.get("question"))
        if not messages or not all(isinstance(message.get("content"), str) for message in messages):
            raise BrokenRow("`question` asks nothing: it takes messages with text")
        expect = expectation_of(text(data, "category"), functions, true_calls(objects(data, "ground_truth")))
        case = Case(
            id=row.id,
            location=row.place,
            turns=(Turn(messages, expect),),
            tools=tuple(map(self._tool, told)),
            rules=Rules("bfcl", STRINGS[self._language], language=self._language),
            category=self._category.name,
            skip=(Condition("nothing says what is right"),) if self._category.name == "chatable" else (),
            judge=self._judge(row, data),
        )
        if self._prompt is None:
            return case
        return replace(
            case,
            turns=(Turn(self._prompt.told(messages, told), expect),),
            tools_told=True,
            decoder="bfcl" if self._language == "python" else f"bfcl_{self._language}",
        )

    def _judge(self, row: Row, data: Mapping[str, Json]) -> Judge:
        if is_executable(data):
            return ExecutedJudge(data, row.place, self._process)
        return BfclJudge(data, row.place)

    def _tool(self, document: Mapping[str, Json]) -> Tool:
        key = json.dumps(document)
        if key not in self._tools:
            self._tools[key] = told_tool(document)
        return self._tools[key]
