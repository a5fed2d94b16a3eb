"""The cases of stored answers for `fcall score`, found by category and id, and the verdicts on conversations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Final, Protocol, TypeAlias, TypeVar

from pytest_fcall.conversation.execution.limits import EnvironmentFailed
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import Verdict
from pytest_fcall.suites.bfcl.agentic import AgenticJudge, agentic_judge_of
from pytest_fcall.suites.bfcl.answers import FORM_BY_STYLE, AnswerForm, category_of_id
from pytest_fcall.suites.bfcl.cases import BfclCase, case_of
from pytest_fcall.suites.bfcl.categories import CATEGORIES, FORMATS, judged_row
from pytest_fcall.suites.bfcl.executable import ExecutedJudge, is_executable, start_function_process
from pytest_fcall.suites.bfcl.judge import score_columns
from pytest_fcall.suites.bfcl.multi_turn.conversations import CheckerProcess, MultiTurnJudge, parse_truth
from pytest_fcall.suites.bfcl.rest import RecordedResponses, RestJudge, right_form
from pytest_fcall.suites.bfcl.rows import BfclRow, category_rows, data_folder
from pytest_fcall.suites.json_files import BrokenRow, FileRow, open_lines, parse_row, read_lines, string_field

CaseKey: TypeAlias = tuple[str, str]
"""The category and the id of a case."""
_REST: Final = "rest"
_T = TypeVar("_T")


class CaseIndex:
    """The cases of a file or a folder, each parsed once. Raises OSError for a path that cannot be read."""

    def __init__(self, path: Path) -> None:
        self._rows: _CaseRows = _FolderRows(path) if path.is_dir() else _FileRows(path)
        self._checker = CheckerProcess()
        self._process = start_function_process()
        self._recorded = cache(lambda: RecordedResponses(self._rows.of_category(_REST)))
        self._executed: dict[CaseKey, ExecutedJudge | RestJudge | BrokenRow | None] = {}
        self._cases: dict[CaseKey, BfclCase | BrokenRow] = {}
        self._conversations: dict[CaseKey, MultiTurnJudge | AgenticJudge | BrokenRow] = {}

    def case(self, row: Mapping[str, Json]) -> BfclCase:
        """Return the case that the `category` and `id` of a row name. Raises BrokenRow for an unknown or broken one."""
        return self._cached(self._cases, row, _case)

    def offered_names(self, row: Mapping[str, Json]) -> Sequence[str]:
        """Return the names of the functions that the case of a row offers; none if there is no such case."""
        try:
            category = string_field(row, "category") if "category" in row else category_of_id(string_field(row, "id"))
            functions = self._rows.find((category, string_field(row, "id"))).data.get("function")
        except BrokenRow:
            return ()
        return (
            [str(each.get("name")) for each in functions if isinstance(each, Mapping)]
            if isinstance(functions, list)
            else ()
        )

    def size(self, category: str) -> int:
        """Return the number of cases in a category, or in one format of those that are asked in several; 0 if none."""
        name, _, is_format = category.partition("/")
        try:
            return sum(1 for _ in self._rows.of_category(name)) // (len(FORMATS) if is_format else 1)
        except (BrokenRow, KeyError):
            return 0

    def conversation_judge(self, row: Mapping[str, Json]) -> MultiTurnJudge | AgenticJudge:
        """Return the judge of the conversation that a row names. Raises BrokenRow."""
        return self._cached(self._conversations, row, partial(_conversation_judge, checker=self._checker))

    def executed_judge(self, row: Mapping[str, Json]) -> ExecutedJudge | RestJudge | None:
        """Return the judge of what the calls of a row give; None if the calls are compared. Raises BrokenRow."""
        category = CATEGORIES.get(str(row.get("category")))
        if category is None or category.truth not in ("source", "answer"):
            return None
        return self._cached(self._executed, row, self._executed_judge_of)

    def _executed_judge_of(self, found: FileRow) -> ExecutedJudge | RestJudge | None:
        if found.data["category"] == _REST:
            if right_form(found.data) is None:
                raise BrokenRow("it has no recorded response to compare with")
            return RestJudge(found.data, found.location, self._recorded)
        return ExecutedJudge(found.data, found.location, self._process) if is_executable(found.data) else None

    def _cached(
        self, known: dict[CaseKey, _T | BrokenRow], row: Mapping[str, Json], parse: Callable[[FileRow], _T]
    ) -> _T:
        key = string_field(row, "category"), string_field(row, "id")
        if key not in known:
            try:
                known[key] = self._parsed(key, parse)
            except BrokenRow as error:
                known[key] = error
        found = known[key]
        if isinstance(found, BrokenRow):
            raise BrokenRow(*found.args)
        return found

    def _parsed(self, key: CaseKey, parse: Callable[[FileRow], _T]) -> _T:
        found = self._rows.find(key)
        try:
            return parse(found)
        except BrokenRow as error:
            raise BrokenRow(f"invalid case ({found.location.path}:{found.location.line}): {error}") from None


def _case(found: FileRow) -> BfclCase:
    category = CATEGORIES.get(str(found.data["category"]))
    return case_of(found.data if category is None else judged_row(category, found.data), found.location)


def _conversation_judge(found: FileRow, checker: CheckerProcess) -> MultiTurnJudge | AgenticJudge:
    if CATEGORIES[str(found.data["category"])].truth == "mention":
        return agentic_judge_of(found.data)
    return MultiTurnJudge(found.data, parse_truth(found.data), checker)


class _CaseRows(Protocol):
    """Rows of cases, by category and id."""

    def find(self, key: CaseKey) -> FileRow:
        """Return the row of a case. Raises BrokenRow for an unknown or broken one."""
        ...

    def of_category(self, name: str) -> Iterable[Mapping[str, Json]]:
        """Return all rows of a category that can be read."""
        ...


class _FileRows:
    """The rows of a file, which is read at once and parsed as far as needed.

    A broken line hides no other. The first of several cases with one name counts.
    """

    def __init__(self, path: Path) -> None:
        with open_lines(path) as stream:
            self._lines = iter(list(enumerate(read_lines(stream), 1)))
        self._path = path
        self._faults: list[str] = []
        self._rows: dict[CaseKey, FileRow] = {}

    def find(self, key: CaseKey) -> FileRow:
        while key not in self._rows and (numbered := next(self._lines, None)) is not None:
            if numbered[1].strip():
                self._add(parse_row(self._path, *numbered))
        if key not in self._rows:
            raise BrokenRow(". ".join([_not_found(key), *self._faults[:3]]))
        return self._rows[key]

    def of_category(self, name: str) -> Iterable[Mapping[str, Json]]:
        for number, line in self._lines:
            if line.strip():
                self._add(parse_row(self._path, number, line))
        return [row.data for (category, _), row in self._rows.items() if category == name]

    def _add(self, row: FileRow) -> None:
        try:
            self._rows.setdefault((string_field(row.record, "category"), string_field(row.record, "id")), row)
        except BrokenRow as error:
            self._faults.append(f"{self._path}:{row.location.line} cannot be read: {error}")


class _FolderRows:
    """The rows in the leaderboard's folder of data. A category is read when one of its cases is looked up."""

    def __init__(self, path: Path) -> None:
        try:
            self._folder = data_folder(path)
        except ValueError as error:
            raise FileNotFoundError(str(error)) from None
        self._rows: dict[str, dict[str, BfclRow]] = {}

    def find(self, key: CaseKey) -> FileRow:
        category, id_ = key
        if category not in CATEGORIES:
            raise BrokenRow(f"no category {category!r:.80}, which {id_!r:.80} names")
        row = self._read(category).get(id_)
        if row is None or row.fault:
            raise BrokenRow(row.fault if row else _not_found(key))
        return FileRow(row.location, row.data)

    def of_category(self, name: str) -> Iterable[Mapping[str, Json]]:
        return [row.data for row in self._read(name).values()]

    def _read(self, category: str) -> Mapping[str, BfclRow]:
        if category not in self._rows:
            try:
                self._rows[category] = {row.id: row for row in category_rows(CATEGORIES[category], self._folder)}
            except ValueError as error:
                raise BrokenRow(str(error)) from None
        return self._rows[category]


def _not_found(key: CaseKey) -> str:
    return f"no case {key[1]!r} in category {key[0]!r}"


def is_conversation(row: Mapping[str, Json]) -> bool:
    """Return whether a row belongs to a case of several requests."""
    category = CATEGORIES.get(str(row.get("category")))
    return category is not None and category.truth in ("turns", "mention")


def conversation_score_row(row: Mapping[str, Json], judge: MultiTurnJudge | AgenticJudge) -> dict[str, Json]:
    """Judge a stored conversation, and return the verdict as `fcall score` prints it. Raises BrokenRow."""
    if "raw" not in row:
        raise BrokenRow("missing `raw`")
    form = FORM_BY_STYLE.get(str(row.get("style"))) or result_form(row["raw"])
    try:
        return verdict_row(row, judge.verdict_on_result(row["raw"], form))
    except EnvironmentFailed as error:
        raise BrokenRow(str(error)) from None


def verdict_row(row: Mapping[str, Json], verdict: Verdict) -> dict[str, Json]:
    """Return a verdict that holds for both profiles as `fcall score` prints it."""
    return {
        "category": row["category"],
        "id": row["id"],
        **score_columns(verdict.valid, verdict.error_type, verdict),
    }


def result_form(result: Json) -> AnswerForm:
    """Return the form of a stored conversation: lists are native calls, or decoded ones if they hold source."""
    turns = result if isinstance(result, list) else []
    lists = [reply for turn in turns if isinstance(turn, list) for reply in turn if isinstance(reply, list)]
    if not lists:
        return "prompt"
    return "decoded" if any(isinstance(call, str) for call in lists[0]) else "fc"
