"""The leaderboard as a suite: its parts, its cases, its scores, and its files of results.

Readers and file writers are imported when they are needed, since a run of one category uses few of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pytest_fcall.core.case import Fault, FaultyCase
from pytest_fcall.core.extension import About, Part
from pytest_fcall.suites.bfcl.categories import CATEGORIES, DISGUISED, GROUPS, Category, categories_of
from pytest_fcall.suites.bfcl.figures import FIGURES, suite_figures
from pytest_fcall.suites.bfcl.rows import (
    HOW_TO_GET_IT,
    BfclRow,
    category_rows,
    count_category_rows,
    data_folder,
    find_data_folder,
    row_files,
)
from pytest_fcall.suites.json_files import BrokenRow, broken_case

if TYPE_CHECKING:
    from pytest_fcall.core.case import Case
    from pytest_fcall.core.conversation import Transcript
    from pytest_fcall.core.expectation import Profile
    from pytest_fcall.core.extension import Figure
    from pytest_fcall.core.reply import Reply
    from pytest_fcall.core.values import Json
    from pytest_fcall.core.verdict import Verdict
    from pytest_fcall.suites.bfcl.prompt import BfclPrompt
    from pytest_fcall.suites.bfcl.result_files import ReadText


class BfclSuite:
    """The Berkeley Function Calling Leaderboard, version 4: single-turn, multi-turn and agentic cases."""

    def about(self, path: Path | None) -> About:
        """Return the parts, the groups and the origin of the data."""
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
        """Return the default profile, that of the official checker."""
        return "bfcl"

    def cases(self, part: str, path: Path | None) -> Iterator[Case | FaultyCase]:
        """Yield the cases of a category or a group, judged by the profile `bfcl`."""
        return _read(part, path, None)

    def prompted(self, part: str, path: Path | None) -> Iterator[Case | FaultyCase]:
        """Yield the cases for models without native calls; the system prompt holds the functions."""
        from pytest_fcall.suites.bfcl.prompt import BfclPrompt

        yield from _read(part, path, BfclPrompt(data_folder(path)))

    def plain(self, part: str, path: Path | None) -> Iterator[Case | FaultyCase]:
        """Yield the cases for case files, judged by their expectations alone."""
        for category in categories_of(part):
            if category.truth == "in_other_category":
                raise ValueError(f"bfcl:{category.name} compares prompt formats, which a case file cannot express")
            for row in category_rows(category, data_folder(path)):
                yield _plain(category, row)

    def figures(self, tallies: Mapping[str, tuple[int, int]]) -> Sequence[Figure]:
        """Return the scores of the leaderboard, with the weights of the version that was asked."""
        return suite_figures(tallies)

    def figure_names(self) -> Sequence[str]:
        """Return the names of the scores."""
        return FIGURES

    def published(self, tallies: Mapping[str, tuple[int, int]]) -> Sequence[Figure]:
        """Return the figures of the leaderboard's overall table, by its columns."""
        from pytest_fcall.suites.bfcl.leaderboard_csv import published_figures

        return published_figures(tallies)

    def row(self, case: Case, reply: Reply, verdict: Verdict) -> Mapping[str, Json]:
        """Return the row of an answer for the files."""
        from pytest_fcall.suites.bfcl.result_files import result_row

        return result_row(case, reply, verdict)

    def conversation_row(self, case: Case, transcript: Transcript, verdict: Verdict) -> Mapping[str, Json]:
        """Return the row of a conversation for the files."""
        from pytest_fcall.suites.bfcl.result_files import conversation_result_row

        return conversation_result_row(case, transcript, verdict)

    def files(
        self, rows: Mapping[str, Sequence[Mapping[str, Json]]], costs: Mapping[str, float | None], read_text: ReadText
    ) -> Iterator[tuple[str, str]]:
        """Yield the paths and texts of the official harness's result and score files, which it can read.

        Results of earlier runs for other cases, parts and models are kept. The cost of a model with earlier results is
        unknown. Questions in disguise are none of the harness.
        """
        from pytest_fcall.suites.bfcl.result_files import (
            earlier_table_lines,
            model_files,
            score_table,
            with_earlier_rows,
        )

        rows = {model: [row for row in own if not _is_disguised(row)] for model, own in rows.items()}
        merged = {model: with_earlier_rows(model, own, read_text) for model, own in rows.items()}
        for model, own in rows.items():
            yield from model_files(model, own, merged[model])
        known_costs = {model: cost for model, cost in costs.items() if len(merged[model]) == len(rows[model])}
        yield score_table(merged, known_costs, earlier_table_lines(rows, read_text))


def _is_disguised(row: Mapping[str, Json]) -> bool:
    return str(row["category"]).startswith(DISGUISED)


class _CaseReader(Protocol):
    """Reads the rows of one category."""

    def case(self, row: BfclRow) -> Case:
        """Return the case of a row. Raises BrokenRow."""
        ...


def _read(part: str, path: Path | None, prompt: BfclPrompt | None) -> Iterator[Case | FaultyCase]:
    categories = categories_of(part)
    folder = data_folder(path)
    for category in categories:
        reader = _reader(category, folder, prompt)
        for row in category_rows(category, folder):
            yield _read_case(row, reader)


def _reader(category: Category, folder: Path, prompt: BfclPrompt | None) -> _CaseReader:
    if category.truth == "turns":
        from pytest_fcall.suites.bfcl.multi_turn.conversations import MultiTurnReader

        return MultiTurnReader(category, folder, prompt)
    if category.truth == "mention":
        from pytest_fcall.suites.bfcl.agentic import AgenticReader

        return AgenticReader(category, folder, prompt)
    from pytest_fcall.suites.bfcl.single_turn import FormatReader, SingleTurnReader

    if category.truth == "in_other_category":
        return FormatReader(category, folder, prompt)
    return SingleTurnReader(category, folder, prompt)


def _read_case(row: BfclRow, reader: _CaseReader) -> Case | FaultyCase:
    if row.fault:
        return broken_case(row.id, row.location, row.fault)
    try:
        return reader.case(row)
    except BrokenRow as error:
        return broken_case(row.id, row.location, str(error))
    except RecursionError:
        return broken_case(row.id, row.location, "nested too deeply")


def _plain(category: Category, row: BfclRow) -> Case | FaultyCase:
    from pytest_fcall.suites.bfcl.single_turn import NotExpressible, plain_case

    if row.fault:
        return broken_case(row.id, row.location, row.fault)
    try:
        return plain_case(category, row)
    except NotExpressible as error:
        return FaultyCase(row.id, row.location, (Fault("unsayable", row.location, str(error)),))
    except BrokenRow as error:
        return broken_case(row.id, row.location, str(error))


def _part(category: Category, folder: Path | None) -> Part:
    files = row_files(category, folder) if folder else ()
    existing = [file for file in files if file and file.is_file()]
    try:
        count = count_category_rows(category, folder) if folder else None
    except (OSError, ValueError):
        count = None
    size = sum(file.stat().st_size for file in existing) if existing else None
    return Part(category.name, count, size, category.note)
