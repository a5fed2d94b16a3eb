"""The leaderboard as a suite: its cases, what there is of them, and its scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from pytest_fcall.core.case import Case
from pytest_fcall.core.conversation import Transcript
from pytest_fcall.core.expectation import Profile
from pytest_fcall.core.extension import About, Figure, Part
from pytest_fcall.core.fault import Fault, FaultyCase
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import Verdict
from pytest_fcall.suites.bfcl.agentic import AgenticReader
from pytest_fcall.suites.bfcl.categories import CATEGORIES, GROUPS, Category, categories_of
from pytest_fcall.suites.bfcl.figures import FIGURES, leaderboard_figures
from pytest_fcall.suites.bfcl.multi_turn.cases import MultiTurnReader
from pytest_fcall.suites.bfcl.prompt import Prompt
from pytest_fcall.suites.bfcl.result_files import (
    ReadText,
    conversation_result_row,
    earlier_table_lines,
    files_of_model,
    result_row,
    score_table,
    with_earlier_rows,
)
from pytest_fcall.suites.bfcl.rows import (
    HOW_TO_GET_IT,
    Row,
    category_rows,
    count_rows,
    data_folder,
    find_data_folder,
    row_files,
)
from pytest_fcall.suites.bfcl.single_turn import FormatReader, NotExpressible, SingleTurnReader, plain_case
from pytest_fcall.suites.json_files import BrokenRow


class BfclSuite:
    """The Berkeley Function Calling Leaderboard, version 4: cases of one request, of several turns, and of agents."""

    def about(self, path: Path | None) -> About:
        """Tell what there is."""
        folder = find_data_folder(path)
        return About(
            title="Berkeley Function Calling Leaderboard v4",
            licence="Apache-2.0",
            origin=HOW_TO_GET_IT,
            place=str(folder) if folder else None,
            parts=tuple(_part(category, folder) for category in CATEGORIES.values()),
            groups=GROUPS,
        )

    def profile(self) -> Profile:
        """Its own rules."""
        return "bfcl"

    def cases(self, part: str, path: Path | None) -> Iterator[Case | FaultyCase]:
        """Read the cases of a category or a group, judged by the profile `bfcl`."""
        yield from _read(part, path, None)

    def prompted(self, part: str, path: Path | None) -> Iterator[Case | FaultyCase]:
        """Read them for models that take no tools: the functions are told in the system prompt."""
        yield from _read(part, path, Prompt(data_folder(path)))

    def plain(self, part: str, path: Path | None) -> Iterator[Case | FaultyCase]:
        """Read them as cases of ours, judged by nothing but what they say."""
        for category in categories_of(part):
            if category.truth == "elsewhere":
                raise ValueError(f"bfcl:{category.name} compares prompts, which no case file can say")
            for row in category_rows(category, data_folder(path)):
                yield _plain(category, row)

    def figures(self, tallies: Mapping[str, tuple[int, int]]) -> Sequence[Figure]:
        """Weight the categories as the leaderboard does."""
        return leaderboard_figures(tallies)

    def figure_names(self) -> Sequence[str]:
        """Name them."""
        return FIGURES

    def row(self, case: Case, reply: Reply, verdict: Verdict) -> Mapping[str, Json]:
        """Keep of an answer what the files need."""
        return result_row(case, reply, verdict)

    def conversation_row(self, case: Case, transcript: Transcript, verdict: Verdict) -> Mapping[str, Json]:
        """Keep the same of a conversation."""
        return conversation_result_row(case, transcript, verdict)

    def files(
        self, rows: Mapping[str, Sequence[Mapping[str, Json]]], costs: Mapping[str, float | None], there: ReadText
    ) -> Iterator[tuple[str, str]]:
        """Write results and scores as the leaderboard's own harness does, which can then read them.

        What earlier runs left of other cases, parts and models stays. What a model cost is then no longer known.
        """
        whole = {model: with_earlier_rows(model, own, there) for model, own in rows.items()}
        for model, own in rows.items():
            yield from files_of_model(model, own, whole[model])
        known = {model: cost for model, cost in costs.items() if len(whole[model]) == len(rows[model])}
        yield score_table(whole, known, earlier_table_lines(rows, there))


class _CaseReader(Protocol):
    """Reads the rows of one category."""

    def case(self, row: Row) -> Case:
        """The case of a row; BrokenRow says what is wrong with it."""
        ...


def _read(part: str, path: Path | None, prompt: Prompt | None) -> Iterator[Case | FaultyCase]:
    categories = categories_of(part)
    folder = data_folder(path)
    for category in categories:
        reader = _reader(category, folder, prompt)
        for row in category_rows(category, folder):
            yield _read_case(row, reader)


def _reader(category: Category, folder: Path, prompt: Prompt | None) -> _CaseReader:
    match category.truth:
        case "turns":
            return MultiTurnReader(category, folder, prompt)
        case "mention":
            return AgenticReader(category, folder, prompt)
        case "elsewhere":
            return FormatReader(category, prompt)
    return SingleTurnReader(category, prompt)


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


def _plain(category: Category, row: Row) -> Case | FaultyCase:
    try:
        return _faulty(row, row.fault) if row.fault else plain_case(category, row)
    except NotExpressible as error:
        return FaultyCase(row.id, row.place, (Fault("unsayable", row.place, str(error)),))
    except BrokenRow as error:
        return _faulty(row, str(error))


def _faulty(row: Row, why: str) -> FaultyCase:
    fault = Fault("bad-row", row.place, f"this row of the suite cannot be read: {why}")
    return FaultyCase(row.id, row.place, (fault,))


def _part(category: Category, folder: Path | None) -> Part:
    files = row_files(category, folder) if folder else ()
    there = [file for file in files if file and file.is_file()]
    try:
        count = count_rows(category, folder) if folder else None
    except (OSError, ValueError):
        count = None
    return Part(category.name, count, sum(file.stat().st_size for file in there) if there else None, category.note)
