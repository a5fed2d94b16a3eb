"""What `fcall score` judges stored answers by: cases found by category and id, and verdicts on conversations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple, Protocol, TypeAlias, TypeVar

from pytest_fcall.conversation.execution.limits import EnvironmentFailed
from pytest_fcall.core.fault import Location
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import Verdict
from pytest_fcall.suites.bfcl.agentic import AgenticJudge, agentic_judge_of
from pytest_fcall.suites.bfcl.answers import Form
from pytest_fcall.suites.bfcl.cases import BfclCase, case_of
from pytest_fcall.suites.bfcl.categories import CATEGORIES
from pytest_fcall.suites.bfcl.executable.judge import ExecutedJudge, is_executable, start_function_process
from pytest_fcall.suites.bfcl.multi_turn.cases import parse_truth
from pytest_fcall.suites.bfcl.multi_turn.judge import CheckerProcess, MultiTurnJudge
from pytest_fcall.suites.bfcl.row_fields import text_field
from pytest_fcall.suites.bfcl.rows import Row, category_rows, data_folder
from pytest_fcall.suites.json_files import BrokenRow, open_lines, parse_record, read_lines

CaseKey: TypeAlias = tuple[str, str]
"""The category and the id."""


class FoundRow(NamedTuple):
    """A row, and where it stands."""

    place: Location
    data: Mapping[str, Json]


class CaseRows(Protocol):
    """Where cases are looked up."""

    def find(self, key: CaseKey) -> FoundRow:
        """The row of a case. BrokenRow where there is none, or one that cannot be read."""
        ...


def open_case_rows(path: Path) -> CaseRows:
    """Those of a file, or of a folder. Raises OSError for what cannot be read."""
    return FolderRows(path) if path.is_dir() else FileRows(path)


class FileRows:
    """A file of rows, which is read at once and understood as far as it is asked for.

    A line that cannot be read hides no other. Of cases with the same name the first counts.
    """

    def __init__(self, path: Path) -> None:
        with open_lines(path) as stream:
            self._lines = iter(list(enumerate(read_lines(stream), 1)))
        self._path = path
        self._faults: list[str] = []
        self._rows: dict[CaseKey, FoundRow] = {}

    def find(self, key: CaseKey) -> FoundRow:
        """The row of a case."""
        self._read_to(key)
        if key not in self._rows:
            raise BrokenRow(". ".join([_not_found(key), *self._faults[:3]]))
        return self._rows[key]

    def _read_to(self, key: CaseKey) -> None:
        while key not in self._rows and (numbered := next(self._lines, None)) is not None:
            number, line = numbered
            if not line.strip():
                continue
            try:
                row = parse_record(line)
                found = FoundRow(Location(str(self._path), number), row)
                self._rows.setdefault((text_field(row, "category"), text_field(row, "id")), found)
            except BrokenRow as error:
                self._faults.append(f"{self._path}:{number} cannot be read: {error}")


class FolderRows:
    """The leaderboard's folder of data, of which a category is read when it is asked for."""

    def __init__(self, path: Path) -> None:
        try:
            self._folder = data_folder(path)
        except ValueError as error:
            raise FileNotFoundError(str(error)) from None
        self._rows: dict[str, dict[str, Row]] = {}

    def find(self, key: CaseKey) -> FoundRow:
        """The row of a case."""
        category, id_ = key
        if category not in CATEGORIES:
            raise BrokenRow(f"there is no category {category!r:.80}, in which {id_!r:.80} would be")
        if category not in self._rows:
            try:
                self._rows[category] = {row.id: row for row in category_rows(CATEGORIES[category], self._folder)}
            except ValueError as error:
                raise BrokenRow(str(error)) from None
        row = self._rows[category].get(id_)
        if row is None or row.fault:
            raise BrokenRow(row.fault if row else _not_found(key))
        return FoundRow(row.place, row.data)


def _not_found(key: CaseKey) -> str:
    return f"there is no case {key[1]!r} of category {key[0]!r}"


_T = TypeVar("_T")


class CaseBook:
    """Cases, each understood once. Raises OSError where there are none to be read."""

    def __init__(self, path: Path) -> None:
        self._rows = open_case_rows(path)
        self._bench = CheckerProcess()
        self._process = start_function_process()
        self._executed: dict[CaseKey, ExecutedJudge | BrokenRow | None] = {}
        self._cases: dict[CaseKey, BfclCase | BrokenRow] = {}
        self._judges: dict[CaseKey, MultiTurnJudge | AgenticJudge | BrokenRow] = {}

    def case(self, row: Mapping[str, Json]) -> BfclCase:
        """Find the case that a row's `category` and `id` name; BrokenRow where there is none, or a broken one."""
        return self._once(self._cases, row, lambda found: case_of(found.data, found.place))

    def conversation(self, row: Mapping[str, Json]) -> MultiTurnJudge | AgenticJudge:
        """Find who judges the conversation that a row names, likewise."""
        return self._once(self._judges, row, partial(_conversation_judge, bench=self._bench))

    def executed(self, row: Mapping[str, Json]) -> ExecutedJudge | None:
        """Find who carries out what a row calls; None where calls are compared, BrokenRow likewise."""
        category = CATEGORIES.get(str(row.get("category")))
        if category is None or category.truth != "source":
            return None
        return self._once(self._executed, row, self._carried_out)

    def _carried_out(self, found: FoundRow) -> ExecutedJudge | None:
        return ExecutedJudge(found.data, found.place, self._process) if is_executable(found.data) else None

    def _once(
        self, known: dict[CaseKey, _T | BrokenRow], row: Mapping[str, Json], understood: Callable[[FoundRow], _T]
    ) -> _T:
        key = text_field(row, "category"), text_field(row, "id")
        if key not in known:
            try:
                known[key] = self._understood(key, understood)
            except BrokenRow as error:
                known[key] = error
        found = known[key]
        if isinstance(found, BrokenRow):
            raise BrokenRow(*found.args)
        return found

    def _understood(self, key: CaseKey, understood: Callable[[FoundRow], _T]) -> _T:
        found = self._rows.find(key)
        try:
            return understood(found)
        except BrokenRow as error:
            raise BrokenRow(f"its case ({found.place.path}:{found.place.line}) is broken: {error}") from None


def _conversation_judge(found: FoundRow, bench: CheckerProcess) -> MultiTurnJudge | AgenticJudge:
    if CATEGORIES[str(found.data["category"])].truth == "mention":
        return agentic_judge_of(found.data)
    return MultiTurnJudge(found.data, parse_truth(found.data), bench)


_FORM_BY_STYLE: Final[Mapping[str, Form]] = MappingProxyType({"FC": "fc", "prompt": "prompt", "calls": "decoded"})


def is_conversation(row: Mapping[str, Json]) -> bool:
    """Whether a row is about a case of several requests."""
    category = CATEGORIES.get(str(row.get("category")))
    return category is not None and category.truth in ("turns", "mention")


def conversation_score_row(row: Mapping[str, Json], judge: MultiTurnJudge | AgenticJudge) -> dict[str, Json]:
    """The verdict as `fcall score` prints it; there is one rule for both profiles. BrokenRow where there is none."""
    if "raw" not in row:
        raise BrokenRow("it has no `raw` answer")
    try:
        verdict = judge.verdict_on(row["raw"], _FORM_BY_STYLE.get(str(row.get("style"))) or result_form(row["raw"]))
    except EnvironmentFailed as error:
        raise BrokenRow(str(error)) from None
    return verdict_row(row, verdict)


def verdict_row(row: Mapping[str, Json], verdict: Verdict) -> dict[str, Json]:
    """A verdict as `fcall score` prints it, where there is one rule for both profiles."""
    return {
        "category": row["category"],
        "id": row["id"],
        "valid": verdict.valid,
        "error_type": verdict.error_type,
        "strict_valid": verdict.valid,
        "strict_reasons": [
            {"kind": reason.kind, "path": reason.path, "message": reason.message} for reason in verdict.reasons
        ],
    }


def result_form(result: Json) -> Form:
    """Native calls are in lists, and what a decoder has read is, too, but holds source; all else is text."""
    turns = result if isinstance(result, list) else []
    lists = [said for turn in turns if isinstance(turn, list) for said in turn if isinstance(said, list)]
    if not lists:
        return "prompt"
    return "decoded" if any(isinstance(call, str) for call in lists[0]) else "fc"
