"""The data for the script of the page: the results of each run, packed, to be unpacked when somebody opens it."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from pytest_fcall.core import Json
from pytest_fcall.reporting.reports.history.figures import anchor_of
from pytest_fcall.reporting.reports.history.run_history import CaseKey, RunHistory, key_of
from pytest_fcall.reporting.results import Result, Status
from pytest_fcall.reporting.safe_text import safe_line

_MOST_REASONS: Final = 3


def data_of(history: RunHistory) -> str:
    """The data as JSON that may stand in a page: it ends no element."""
    cases: dict[CaseKey, int] = {}
    rows: list[Json] = []
    for run in history.runs:
        for result in run.results:
            if key_of(result) not in cases:
                cases[key_of(result)] = len(cases)
                rows.append([*map(safe_line, (result.case, result.model, result.file, result.category)), result.line])
    runs = {anchor_of(run): _packed([*_rows(run.results, before, cases)]) for run, before in history.with_earlier()}
    return json.dumps({"cases": _packed(rows), "runs": runs}, separators=(",", ":")).replace("<", "\\u003c")


def _rows(results: Sequence[Result], before: Mapping[CaseKey, Status], cases: Mapping[CaseKey, int]) -> Iterator[Json]:
    """The fields in the order in which the script names them."""
    for result in results:
        key = key_of(result)
        kinds = [*dict.fromkeys(safe_line(kind) for kind, _ in result.reasons)][:_MOST_REASONS]
        yield [
            cases[key],
            result.status,
            before.get(key, ""),
            result.outcome.value if result.outcome else "",
            " ".join(kinds),
            None if result.seconds is None else float(f"{result.seconds:.4g}"),
            None if result.cost is None else float(f"{result.cost:.4g}"),
        ]


def _packed(rows: list[Json]) -> str:
    content = json.dumps(rows, separators=(",", ":")).encode()
    return base64.b64encode(zlib.compress(content, 6)).decode()
