"""The leaderboard as a suite: its cases, what there is of them, and its scores."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from pytest_fcall.core.case import Case, Condition, Turn
from pytest_fcall.core.extension import About, Figure, Part
from pytest_fcall.core.fault import Fault, FaultyCase
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.rules import Rules
from pytest_fcall.core.tool import Tool
from pytest_fcall.core.transcript import Transcript
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import Verdict
from pytest_fcall.suites.bfcl.agentic_cases import AgenticReader
from pytest_fcall.suites.bfcl.cases import STRINGS, language_of, messages_of
from pytest_fcall.suites.bfcl.categories import CATEGORIES, GROUPS, Category, categories_of
from pytest_fcall.suites.bfcl.data import HOW_TO_GET_IT, Row, existing_folder, folder_of, rows_of
from pytest_fcall.suites.bfcl.fields import objects, text
from pytest_fcall.suites.bfcl.figures import FIGURES, figures
from pytest_fcall.suites.bfcl.files import files_of, row_of, table_of
from pytest_fcall.suites.bfcl.judging import BfclJudge
from pytest_fcall.suites.bfcl.multi_turn.cases import MultiTurnReader
from pytest_fcall.suites.bfcl.multi_turn.files import row_of_conversation
from pytest_fcall.suites.bfcl.plain import plain_case
from pytest_fcall.suites.bfcl.prompt import Prompt
from pytest_fcall.suites.bfcl.told import documents, told_tool
from pytest_fcall.suites.bfcl.truth import expectation_of, true_calls
from pytest_fcall.suites.json_lines import BrokenRow


class BfclSuite:
    """The Berkeley Function Calling Leaderboard, version 4: cases of one request, of several turns, and of agents."""

    def about(self, path: Path | None) -> About:
        """Tell what there is."""
        folder = folder_of(path)
        return About(
            title="Berkeley Function Calling Leaderboard v4",
            licence="Apache-2.0",
            origin=HOW_TO_GET_IT,
            place=str(folder) if folder else None,
            parts=tuple(_part(category, folder) for category in CATEGORIES.values()),
            groups=GROUPS,
        )

    def cases(self, part: str, path: Path | None) -> Iterator[Case | FaultyCase]:
        """Read the cases of a category or a group, judged by the profile `bfcl`."""
        yield from _read(part, path, None)

    def prompted(self, part: str, path: Path | None) -> Iterator[Case | FaultyCase]:
        """Read them for models that take no tools: the functions are told in the system prompt."""
        yield from _read(part, path, Prompt(existing_folder(path)))

    def plain(self, part: str, path: Path | None) -> Iterator[Case | FaultyCase]:
        """Read them as cases of ours, judged by nothing but what they say."""
        for category in categories_of(part):
            for row in rows_of(category, existing_folder(path)):
                yield _plain(category, row)

    def figures(self, tallies: Mapping[str, tuple[int, int]]) -> Sequence[Figure]:
        """Weight the categories as the leaderboard does."""
        return figures(tallies)

    def figure_names(self) -> Sequence[str]:
        """Name them."""
        return FIGURES

    def row(self, case: Case, reply: Reply, verdict: Verdict) -> Mapping[str, Json]:
        """Keep of an answer what the files need."""
        return row_of(case, reply, verdict)

    def conversation_row(self, case: Case, transcript: Transcript, verdict: Verdict) -> Mapping[str, Json]:
        """Keep the same of a conversation."""
        return row_of_conversation(case, transcript, verdict)

    def files(
        self, rows: Mapping[str, Sequence[Mapping[str, Json]]], costs: Mapping[str, float | None]
    ) -> Iterator[tuple[str, str]]:
        """Write results and scores as the leaderboard's own harness does, which can then read them."""
        for model, own in rows.items():
            yield from files_of(model, own)
        yield table_of(rows, costs)


class _CaseReader(Protocol):
    """Reads the rows of one category."""

    def case(self, row: Row) -> Case:
        """The case of a row; BrokenRow says what is wrong with it."""
        ...


def _read(part: str, path: Path | None, prompt: Prompt | None) -> Iterator[Case | FaultyCase]:
    categories = categories_of(part)
    folder = existing_folder(path)
    for category in categories:
        reader = _reader(category, folder, prompt)
        for row in rows_of(category, folder):
            yield _read_case(row, reader)


def _reader(category: Category, folder: Path, prompt: Prompt | None) -> _CaseReader:
    match category.truth:
        case "turns":
            return MultiTurnReader(category, folder, prompt)
        case "mention":
            return AgenticReader(category, folder, prompt)
    return _Reader(category, prompt)


def _read_case(row: Row, reader: _CaseReader) -> Case | FaultyCase:
    """The case of a row; a broken row is a case with a fault."""
    if row.fault:
        return _faulty(row, row.fault)
    try:
        return reader.case(row)
    except BrokenRow as error:
        return _faulty(row, str(error))
    except RecursionError:
        return _faulty(row, "it is nested too deeply")


class _Reader:
    """Reads the rows of one category. Many have functions in common."""

    def __init__(self, category: Category, prompt: Prompt | None) -> None:
        self._category = category
        self._prompt = prompt
        self._language = language_of(category.name)
        self._tools: dict[str, Tool] = {}

    def case(self, row: Row) -> Case:
        """The case of a row; BrokenRow says what is wrong with it."""
        # Where right is what a server answered, only calling or not can be judged.
        data = {**row.data, "category": "relevance"} if self._category.truth == "answer" else row.data
        functions = objects(data, "function")
        told = documents(functions, self._language)
        messages = messages_of(data.get("question"))
        expect = expectation_of(text(data, "category"), functions, true_calls(objects(data, "ground_truth")))
        case = Case(
            id=row.id,
            location=row.place,
            turns=(Turn(messages, expect),),
            tools=tuple(map(self._tool, told)),
            rules=Rules("bfcl", STRINGS[self._language], language=self._language),
            category=self._category.name,
            skip=(Condition("nothing says what is right"),) if self._category.name == "chatable" else (),
            judge=BfclJudge(data, row.place),
        )
        if self._prompt is None:
            return case
        return replace(
            case,
            turns=(Turn(self._prompt.told(messages, told), expect),),
            tools_told=True,
            decoder="bfcl" if self._language == "python" else f"bfcl_{self._language}",
        )

    def _tool(self, document: Mapping[str, Json]) -> Tool:
        key = json.dumps(document)
        if key not in self._tools:
            self._tools[key] = told_tool(document)
        return self._tools[key]


def _plain(category: Category, row: Row) -> Case | FaultyCase:
    try:
        return _faulty(row, row.fault) if row.fault else plain_case(category, row)
    except BrokenRow as error:
        return _faulty(row, str(error))


def _faulty(row: Row, why: str) -> FaultyCase:
    fault = Fault("bad-row", row.place, f"this row of the suite cannot be read: {why}")
    return FaultyCase(row.id, row.place, (fault,))


def _part(category: Category, folder: Path | None) -> Part:
    files = [folder / name for name in (category.questions, category.answers) if folder and name]
    there = [file for file in files if file.is_file()]
    if not there:
        return Part(category.name, note=category.note)
    with files[0].open("rb") as stream:
        count = sum(1 for line in stream if line.strip())
    return Part(category.name, count, sum(file.stat().st_size for file in there), category.note)
