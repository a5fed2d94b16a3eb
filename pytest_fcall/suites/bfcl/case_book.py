"""All cases of a file or folder, found by category and id."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TypeVar

from pytest_fcall.core.values import Json
from pytest_fcall.suites.bfcl.agentic import AgenticJudge, agentic_judge_of
from pytest_fcall.suites.bfcl.case_rows import Found, Key, rows_at
from pytest_fcall.suites.bfcl.cases import BfclCase, case_of
from pytest_fcall.suites.bfcl.categories import CATEGORIES
from pytest_fcall.suites.bfcl.executable.judging import ExecutedJudge, functions_process, is_executable
from pytest_fcall.suites.bfcl.fields import text
from pytest_fcall.suites.bfcl.multi_turn.bench import Bench
from pytest_fcall.suites.bfcl.multi_turn.cases import truth_of
from pytest_fcall.suites.bfcl.multi_turn.judging import MultiTurnJudge
from pytest_fcall.suites.json_lines import BrokenRow

_T = TypeVar("_T")


class CaseBook:
    """Cases, each understood once. Raises OSError where there are none to be read."""

    def __init__(self, path: Path) -> None:
        self._rows = rows_at(path)
        self._bench = Bench()
        self._process = functions_process()
        self._executed: dict[Key, ExecutedJudge | BrokenRow | None] = {}
        self._cases: dict[Key, BfclCase | BrokenRow] = {}
        self._judges: dict[Key, MultiTurnJudge | AgenticJudge | BrokenRow] = {}

    def case(self, row: Mapping[str, Json]) -> BfclCase:
        """Find the case that a row's `category` and `id` name; BrokenRow where there is none, or a broken one."""
        return self._once(self._cases, row, lambda found: case_of(found.data, found.place))

    def conversation(self, row: Mapping[str, Json]) -> MultiTurnJudge | AgenticJudge:
        """Find who judges the conversation that a row names, likewise."""
        return self._once(self._judges, row, partial(_judge, bench=self._bench))

    def executed(self, row: Mapping[str, Json]) -> ExecutedJudge | None:
        """Find who carries out what a row calls; None where calls are compared, BrokenRow likewise."""
        category = CATEGORIES.get(str(row.get("category")))
        if category is None or category.truth != "source":
            return None
        return self._once(self._executed, row, self._carried_out)

    def _carried_out(self, found: Found) -> ExecutedJudge | None:
        return ExecutedJudge(found.data, found.place, self._process) if is_executable(found.data) else None

    def _once(self, known: dict[Key, _T | BrokenRow], row: Mapping[str, Json], understood: Callable[[Found], _T]) -> _T:
        key = text(row, "category"), text(row, "id")
        if key not in known:
            try:
                known[key] = self._understood(key, understood)
            except BrokenRow as error:
                known[key] = error
        found = known[key]
        if isinstance(found, BrokenRow):
            raise BrokenRow(*found.args)
        return found

    def _understood(self, key: Key, understood: Callable[[Found], _T]) -> _T:
        found = self._rows.find(key)
        try:
            return understood(found)
        except BrokenRow as error:
            raise BrokenRow(f"its case ({found.place.path}:{found.place.line}) is broken: {error}") from None


def _judge(found: Found, bench: Bench) -> MultiTurnJudge | AgenticJudge:
    if CATEGORIES[str(found.data["category"])].truth == "mention":
        return agentic_judge_of(found.data)
    return MultiTurnJudge(found.data, truth_of(found.data), bench)
